package doctor

import (
	"cmp"
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
func write(f Facts) Check {
	g := f.Probes
	const fix = "Check the permissions of the directory, and whether the disk is full or mounted read-only; or " +
		"choose another directory with --store."
	return first([]rule{
		{g.Dir == "", unknown},
		{g.Why != "", fail(fix, "%s is not writable: %s", g.Dir, g.Why)},
		{g.Write != "", fail(fix, "writing failed: %s%s", g.Write, g.where())},
		{g.Read != "", fail("Check the disk: data that is written to it is not reliable.",
			"the data that was read back differs: %s%s", g.Read, g.where())},
		{g.Unremoved != "", warn("Remove it by hand.",
			"a file was written and cannot be removed: %s", g.Unremoved)},
		{true, ok("data is read back as written%s", g.where())},
	})
}

// tried reports whether a probe could write at all. Otherwise the other probes have no result.
func (g Probes) tried() bool { return g.Why == "" && g.Write == "" && g.Dir != "" }

// locks judges whether file locks exclude a second writer. Without that, two processes could
// append to one log (docs/design.md#network-filesystems).
func locks(f Facts) Check {
	g := f.Probes
	const fix = "Move the store to a local disk: two processes could write to it at once here."
	return first([]rule{
		{!g.tried(), unknown},
		{g.Lock != "", fail(fix, "file locks do not work: %s", g.Lock)},
		{!g.Excludes, fail(fix, "a held lock was acquired a second time")},
		{true, ok("a held lock excludes a second writer")},
	})
}

// rename judges whether a file can be renamed without replacing an existing one, on which commits
// rely.
func rename(f Facts) Check {
	g := f.Probes
	const fix = "Move the store to another filesystem: existing files could be replaced here."
	return first([]rule{
		{!g.tried(), unknown},
		{g.RenameError != "", fail(fix, "files cannot be renamed: %s", g.RenameError)},
		{!g.RenameKeepsExisting, fail(fix, "a rename replaced an existing file")},
		{true, ok("a rename does not replace an existing file")},
	})
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
func syncs(f Facts) Check {
	g := f.Probes
	// A directory has to be synced as well, else a new file may lose its name.
	why := cmp.Or(g.Sync, g.SyncDir)
	ms := median(g.SyncMs)
	text := fmt.Sprintf("%s to sync 4 KiB; recording a step takes about %s", millis(ms), millis(syncsOfStep*ms))
	c := first([]rule{
		{!g.tried(), unknown},
		{why != "", fail("Check the disk, or move the store: writes may not survive a power failure here.",
			"written data cannot be made durable: %s", why)},
		{len(g.SyncMs) == 0, unknown},
		{ms > syncSlowMs, warn("A store on a faster disk makes every step faster.", "%s", text)},
		// In memory, a sync takes no time; the check of the filesystem warns about it.
		{ms < syncDoubtfulMs && !g.Memory, warn(
			"Suitable for tests only: a disk that syncs this fast may lose acknowledged writes.", "%s", text)},
		{true, ok("%s", text)},
	})
	if c.Status != Fail {
		c.Ms = ms
	}
	return c
}

// median returns the median of a list, the upper one of two, and 0 for an empty list.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
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
func filesystem(f Facts) Check {
	g := f.Probes
	return first([]rule{
		{g.Filesystem == "", unknown},
		{g.Network && !g.Allowed, fail(
			"Move the store to a local disk, or pass --allow-network-fs if only one machine uses it.",
			"%s is a network filesystem, where file locks are not reliable", g.Filesystem)},
		{g.Network, warn("Make sure that only one machine uses this store.",
			"%s is a network filesystem, allowed by --allow-network-fs", g.Filesystem)},
		{g.Memory, warn("Keep important data on a disk: choose a directory there with --store or $WAYBILL_HOME.",
			"%s is in memory: its contents are lost when the machine stops", g.Filesystem)},
		{true, ok("%s, local", g.Filesystem)},
	})
}

// The bounds of free space, in bytes: less than a gigabyte is used up within days of heavy use,
// and with less than one large artifact the next step may fail.
const (
	spaceLow  = 1 << 30
	spaceNone = 64 << 20
)

// space judges the free space of the filesystem.
func space(f Facts) Check {
	g := f.Probes
	const fix = "Free some space; 'waybill du' shows the disk usage of the store."
	return first([]rule{
		{!g.SpaceKnown, unknown},
		{g.FreeBytes < spaceNone, fail(fix, "%s free", size(g.FreeBytes))},
		{g.FreeBytes < spaceLow, warn(fix, "%s free", size(g.FreeBytes))},
		{true, ok("%s free", size(g.FreeBytes))},
	})
}

// privacy judges whether other users can open the store's directory. Without a store, and on
// platforms without permission bits, it reports the umask.
func privacy(f Facts) Check {
	s, g := f.Store, f.Probes
	// Files are created with explicit modes; the umask is shown for information.
	umask := ""
	if g.UmaskKnown {
		umask = fmt.Sprintf(" (umask %03o)", g.Umask)
	}
	isStore := s.Kind == Directory && s.ID != ""
	return first([]rule{
		{isStore && s.Mode&0o077 != 0, warn("Make it private: 'chmod go-rwx' on the directory.",
			"other users can open the store's directory (mode %#o)", s.Mode)},
		{isStore && s.Mode != 0, ok("other users cannot open the store%s", umask)},
		{g.UmaskKnown, ok("the store's files are created private, independent of the umask%s", umask)},
	})
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
