package doctor

import (
	"fmt"
	"slices"
)

// where returns the probed directory for a message, "" where it is the store itself.
func (g Probes) where() string {
	if g.InStore {
		return ""
	}
	return ", tried in " + g.Dir
}

// write judges whether a file can be written, read back and removed.
func write(f Facts) (Check, bool) {
	g := f.Probes
	const fix = "Check the permissions of the directory, and whether the disk is full or mounted read-only; or " +
		"choose another directory with --store."
	switch {
	case g.Why != "":
		return fail(CheckWrite, fix, "%s is not writable: %s", g.Dir, g.Why), true
	case g.Write != "":
		return fail(CheckWrite, fix, "writing failed: %s%s", g.Write, g.where()), true
	case g.Read != "":
		return fail(CheckWrite, "Check the disk: data that is written to it is not reliable.",
			"the data that was read back differs: %s%s", g.Read, g.where()), true
	case g.Unremoved != "":
		return warn(CheckWrite, "Remove it by hand.", "a file was written and cannot be removed: %s", g.Unremoved), true
	}
	return ok(CheckWrite, "data is read back as written%s", g.where()), true
}

// tried reports whether a probe could write at all. Otherwise the other probes have no result.
func (g Probes) tried() bool { return g.Why == "" && g.Write == "" && g.Dir != "" }

// locks judges whether file locks exclude a second writer. Without that, two processes could
// append to one log (docs/design.md#network-filesystems).
func locks(f Facts) (Check, bool) {
	g := f.Probes
	const fix = "Move the store to a local disk: two processes could write to it at once here."
	switch {
	case !g.tried():
		return Check{}, false
	case g.Lock != "":
		return fail(CheckLocks, fix, "file locks do not work: %s", g.Lock), true
	case !g.Excludes:
		return fail(CheckLocks, fix, "a held lock was acquired a second time"), true
	}
	return ok(CheckLocks, "a held lock excludes a second writer"), true
}

// rename judges whether a file can be renamed without replacing an existing one, on which commits
// rely.
func rename(f Facts) (Check, bool) {
	g := f.Probes
	const fix = "Move the store to another filesystem: existing files could be replaced here."
	switch {
	case !g.tried():
		return Check{}, false
	case g.RenameError != "":
		return fail(CheckRename, fix, "files cannot be renamed: %s", g.RenameError), true
	case !g.RenameKeepsExisting:
		return fail(CheckRename, fix, "a rename replaced an existing file"), true
	}
	return ok(CheckRename, "a rename does not replace an existing file"), true
}

// syncsOfStep is the number of consecutive syncs of one step: the segment and its snapshot
// together, their directories together, and the manifest (docs/design.md#commit-protocol).
const syncsOfStep = 3

// The bounds of usual sync times, in milliseconds: a disk with a protected cache needs well under
// one, a spinning disk about ten.
const (
	syncSlowMs     = 30
	syncDoubtfulMs = 0.005
)

// syncs judges whether written data can be made durable, and how long that takes. It reports the
// median time of a sync.
func syncs(f Facts) (Check, bool) {
	g := f.Probes
	if !g.tried() {
		return Check{}, false
	}
	// A directory has to be synced as well, else a new file may lose its name.
	for _, why := range []string{g.Sync, g.SyncDir} {
		if why != "" {
			return fail(CheckSync,
				"Check the disk, or move the store: writes may not survive a power failure here.",
				"written data cannot be made durable: %s", why), true
		}
	}
	if len(g.SyncMs) == 0 {
		return Check{}, false
	}
	ms := median(g.SyncMs)
	text := fmt.Sprintf("%s to sync 4 KiB; recording a step takes about %s", millis(ms),
		millis(syncsOfStep*ms))
	c := ok(CheckSync, "%s", text)
	// In memory, a sync takes no time; the check of the filesystem warns about it.
	if ms > syncSlowMs {
		c = warn(CheckSync, "A store on a faster disk makes every step faster.", "%s", text)
	} else if ms < syncDoubtfulMs && !g.Memory {
		c = warn(CheckSync, "Suitable for tests only: a disk that syncs this fast may lose acknowledged writes.",
			"%s", text)
	}
	c.Ms = ms
	return c, true
}

// median returns the median of a non-empty list, the upper one of two.
func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// millis formats milliseconds with two significant digits or more.
func millis(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// filesystem judges the kind of filesystem: network filesystems are refused by default
// (docs/design.md#network-filesystems), and memory does not survive a restart.
func filesystem(f Facts) (Check, bool) {
	g := f.Probes
	switch {
	case g.Filesystem == "":
		return Check{}, false
	case g.Network && !g.Allowed:
		return fail(CheckFilesystem,
			"Move the store to a local disk, or pass --allow-network-fs if only one machine uses it.",
			"%s is a network filesystem, where file locks are not reliable", g.Filesystem), true
	case g.Network:
		return warn(CheckFilesystem, "Make sure that only one machine uses this store.",
			"%s is a network filesystem, allowed by --allow-network-fs", g.Filesystem), true
	case g.Memory:
		return warn(CheckFilesystem,
			"Keep important data on a disk: choose a directory there with --store or $WAYBILL_HOME.",
			"%s is in memory: its contents are lost when the machine stops", g.Filesystem), true
	}
	return ok(CheckFilesystem, "%s, local", g.Filesystem), true
}

// The bounds of free space, in bytes: less than a gigabyte is used up within days of heavy use,
// and with less than one large artifact the next step may fail.
const (
	spaceLow  = 1 << 30
	spaceNone = 64 << 20
)

// space judges the free space of the filesystem.
func space(f Facts) (Check, bool) {
	g := f.Probes
	const fix = "Free some space; 'waybill du' shows the disk usage of the store."
	switch {
	case !g.SpaceKnown:
		return Check{}, false
	case g.FreeBytes < spaceNone:
		return fail(CheckSpace, fix, "%s free", size(g.FreeBytes)), true
	case g.FreeBytes < spaceLow:
		return warn(CheckSpace, fix, "%s free", size(g.FreeBytes)), true
	}
	return ok(CheckSpace, "%s free", size(g.FreeBytes)), true
}

// privacy judges whether other users can open the store's directory. Without a store, and on
// platforms without permission bits, it reports the umask.
func privacy(f Facts) (Check, bool) {
	s, g := f.Store, f.Probes
	// Files are created with explicit modes; the umask is shown for information.
	umask := ""
	if g.UmaskKnown {
		umask = fmt.Sprintf(" (umask %03o)", g.Umask)
	}
	switch {
	case s.Kind == Directory && s.ID != "" && s.Mode&0o077 != 0:
		return warn(CheckPrivacy, "Make it private: 'chmod go-rwx' on the directory.",
			"other users can open the store's directory (mode %#o)", s.Mode), true
	case s.Kind == Directory && s.ID != "" && s.Mode != 0:
		return ok(CheckPrivacy, "other users cannot open the store%s", umask), true
	case g.UmaskKnown:
		return ok(CheckPrivacy, "the store's files are created private, independent of the umask%s", umask), true
	}
	return Check{}, false
}

// size formats a number of bytes with a binary unit.
func size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	f, unit := float64(n), 0
	for f >= 1024 && unit < len(units)-1 {
		f, unit = f/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[unit])
}
