package doctor

import (
	"fmt"
	"slices"
)

// where tells which folder was tried, where that is not the store itself.
func (g Ground) where() string {
	if g.InStore {
		return ""
	}
	return ", tried in " + g.Dir
}

func write(f Facts) (Check, bool) {
	g := f.Ground
	const fix = "Look at who may write to the folder, and whether the disk is full or mounted read-only; or name " +
		"another one with --store."
	switch {
	case g.Why != "":
		return fail(CheckWrite, fix, "nothing can be written to %s: %s", g.Dir, g.Why), true
	case g.Write != "":
		return fail(CheckWrite, fix, "writing failed: %s%s", g.Write, g.where()), true
	case g.Read != "":
		return fail(CheckWrite, "Look after the disk: nothing that is written there can be relied on.",
			"what was written did not come back: %s%s", g.Read, g.where()), true
	case g.Left != "":
		return warn(CheckWrite, "Remove it by hand.", "a file can be written and not be removed: %s", g.Left), true
	}
	return ok(CheckWrite, "what is written comes back%s", g.where()), true
}

// tried says that a probe could write at all: without that the rest tells nothing.
func (g Ground) tried() bool { return g.Why == "" && g.Write == "" && g.Dir != "" }

func locks(f Facts) (Check, bool) {
	g := f.Ground
	const fix = "Move the store to a local disk: two writers could mix their entries here."
	switch {
	case !g.tried():
		return Check{}, false
	case g.Lock != "":
		return fail(CheckLocks, fix, "locks cannot be taken: %s", g.Lock), true
	case !g.Excludes:
		return fail(CheckLocks, fix, "a lock that is held was given out once more"), true
	}
	return ok(CheckLocks, "a lock keeps a second writer out"), true
}

func rename(f Facts) (Check, bool) {
	g := f.Ground
	const fix = "Move the store to another filesystem: what is there could be replaced here."
	switch {
	case !g.tried():
		return Check{}, false
	case g.Place != "":
		return fail(CheckRename, fix, "files cannot be given their names: %s", g.Place), true
	case !g.Keeps:
		return fail(CheckRename, fix, "a name that was taken was given away once more"), true
	}
	return ok(CheckRename, "a name that is taken stays taken"), true
}

// syncsOfStep is what one step waits for: the segment and its snapshot together, their
// folders together, the manifest (R6).
const syncsOfStep = 3

// The bounds of what is usual: a disk with a cache of its own needs well under a
// millisecond, a spinning one ten.
const (
	syncSlowMs     = 30
	syncDoubtfulMs = 0.005
)

func syncs(f Facts) (Check, bool) {
	g := f.Ground
	if !g.tried() {
		return Check{}, false
	}
	for _, why := range []string{g.Sync, g.SyncDir} {
		if why != "" {
			return fail(CheckSync,
				"Look after the disk, or move the store: nothing can be promised to survive a power cut here.",
				"what is written cannot be made durable: %s", why), true
		}
	}
	if len(g.SyncMs) == 0 {
		return Check{}, false
	}
	ms := median(g.SyncMs)
	text := fmt.Sprintf("%s for 4 KiB to be safe, so that recording a step takes about %s", millis(ms),
		millis(syncsOfStep*ms))
	c := ok(CheckSync, "%s", text)
	if ms > syncSlowMs {
		c = warn(CheckSync, "A store on a faster disk makes every step faster.", "%s", text)
	} else if ms < syncDoubtfulMs && !g.Memory {
		c = warn(CheckSync, "Fine for trying things out; a disk that answers so fast may not keep what it says it has.",
			"%s", text)
	}
	c.Ms = ms
	return c, true
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func millis(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

func filesystem(f Facts) (Check, bool) {
	g := f.Ground
	switch {
	case g.Filesystem == "":
		return Check{}, false
	case g.Network && !g.Allowed:
		return fail(CheckFilesystem,
			"Move the store to a local disk, or pass --allow-network-fs if one machine alone uses it.",
			"%s is a network filesystem, where locks are not safe", g.Filesystem), true
	case g.Network:
		return warn(CheckFilesystem, "Make sure that one machine alone uses this store.",
			"%s is a network filesystem, accepted by --allow-network-fs", g.Filesystem), true
	case g.Memory:
		return warn(CheckFilesystem, "Keep what matters on a disk: name a folder there with --store or $WAYBILL_HOME.",
			"%s lies in memory: all of it is gone when the machine stops", g.Filesystem), true
	}
	return ok(CheckFilesystem, "%s, local", g.Filesystem), true
}

// The bounds of room: less than a gigabyte fills up within days of heavy use, and less
// than a large artifact may end the next step.
const (
	spaceLow  = 1 << 30
	spaceNone = 64 << 20
)

func space(f Facts) (Check, bool) {
	g := f.Ground
	const fix = "Free some room; 'waybill du' shows what the store takes."
	switch {
	case !g.SpaceKnown:
		return Check{}, false
	case g.FreeBytes < spaceNone:
		return fail(CheckSpace, fix, "%s are free", size(g.FreeBytes)), true
	case g.FreeBytes < spaceLow:
		return warn(CheckSpace, fix, "%s are free", size(g.FreeBytes)), true
	}
	return ok(CheckSpace, "%s are free", size(g.FreeBytes)), true
}

func privacy(f Facts) (Check, bool) {
	s, g := f.Store, f.Ground
	umask := ""
	if g.UmaskKnown {
		umask = fmt.Sprintf(" (umask %03o)", g.Umask)
	}
	switch {
	case s.Kind == Folder && s.ID != "" && s.Mode&0o077 != 0:
		return warn(CheckPrivacy, "Make it private: 'chmod go-rwx' on the folder.",
			"others can open the store's folder (mode %#o)", s.Mode), true
	case s.Kind == Folder && s.ID != "" && s.Mode != 0:
		return ok(CheckPrivacy, "nobody else can open the store%s", umask), true
	case g.UmaskKnown:
		return ok(CheckPrivacy, "the store's files are private, whatever the umask says%s", umask), true
	}
	return Check{}, false
}

// size is a number of bytes as people say it.
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
