package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
)

// binary reports the version of the program. It never fails.
func binary(f Facts) Check {
	b := f.Binary
	if b == (Binary{}) {
		return unknown
	}
	commit := ""
	if b.Commit != "" {
		commit = ", built from " + b.Commit[:min(len(b.Commit), 12)]
	}
	return ok("waybill %s for %s%s", b.Version, b.Platform, commit)
}

// store judges whether the selected directory is a store that can be used. The rules are in the
// order in which opening a store would meet them.
func store(f Facts) Check {
	s := f.Store
	if f.Database.Address != "" && s.Problem == nil {
		return unknown
	}
	if s.NotSelected != nil {
		return fail(s.NotSelected.Suggestion.String(), "no directory is given: %s", s.NotSelected.Message)
	}
	at := fmt.Sprintf("%s (%s)", s.Dir, s.From)
	problem := cmp.Or(s.Problem, &fault.Fault{})
	holder := "another process"
	if s.Holder != 0 {
		holder = fmt.Sprintf("process %d", s.Holder)
	}
	return first([]rule{
		// A directory without a store is not an error: the first run creates it.
		{s.Kind == Missing, ok("%s does not exist yet; the first run creates it", at)},
		{s.Kind == File || s.Kind == Other, fail(
			"Choose a directory, or a path that does not exist yet, with --store or $WAYBILL_HOME.",
			"%s is not a directory", at)},
		{s.Kind == Hidden, fail("Check the permissions of the directories above it.",
			"%s cannot be read: %s", at, s.Why)},
		// Only a damaged store.json counts as damage; a newer format, for example, does not.
		{problem.Code == fault.StoreCorrupt, damage(
			"Restore that file from a backup; it identifies the directory as a store.",
			"%s cannot be opened: %s", at, problem.Message)},
		{s.Problem != nil, fail(problem.Suggestion.String(), "%s cannot be opened: %s", at, problem.Message)},
		{s.Foreign, warn("To write, choose a store that Waybill created with --store.",
			"%s was written by another program: it can be read, but not written", at)},
		{s.ID == "", ok("%s is an empty directory; the first run creates a store in it", at)},
		{s.InUse, warn("Wait for that process; its lock ends with it.",
			"%s is locked by %s; other processes cannot write to it", at, holder)},
		{true, ok("%s, format %d", at, s.Format)},
	})
}

// owner judges whether the store belongs to the user.
func owner(f Facts) Check {
	s := f.Store
	by := "another user"
	if s.Owner != "" {
		by = "user " + s.Owner
	}
	return first([]rule{
		{s.Kind != Directory, unknown},
		{!s.OwnedByUser, warn(
			"Use your own store with --store; in a shared one, a user may be unable to read files of the other.",
			"the store belongs to %s, not to you", by)},
		{true, ok("the store belongs to you")},
	})
}

// keyring judges the keys that sign tokens. A missing keyring is a warning only where sessions
// exist: before the first run there is none.
func keyring(f Facts) Check {
	k := f.Keys
	text := "current key " + k.Current
	if k.Previous != "" {
		text += ", previous " + k.Previous
	}
	return first([]rule{
		{k.State == "", unknown},
		{k.State == "ready", ok("%s", text)},
		{k.State == "missing" && f.Verified.Of > 0, warn(
			"Restore keys/keyring.json from a backup; else the next answer creates a new one, and 'waybill "+
				"continue --run RUN' returns fresh tokens.",
			"it is missing: issued tokens are invalid, runs are not affected")},
		{k.State == "missing", ok("none yet; the first answer creates one")},
		{true, damage("Restore it from a backup; if other users could only read it, see 'waybill keys rotate'.",
			"it cannot be used: %s", k.Problem)},
	})
}

// settings judges the control files of configuration and trust. It reports the first one that
// cannot be used.
func settings(f Facts) Check {
	var rules []rule
	for _, s := range f.Settings {
		rules = append(rules, rule{s.Problem != "", damage(
			"See 'waybill repair': it moves the file to the quarantine, and the defaults apply.",
			"%s cannot be used: %s", s.File, s.Problem)})
	}
	return first(append(rules, rule{len(rules) > 0, ok("configuration and trust are readable")}))
}

// verified judges the result of verifying the sessions, of which a quick check reads the newest
// only.
func verified(f Facts) Check {
	v := f.Verified
	seen := plural(v.Sessions, "session")
	if v.Sessions < v.Of {
		seen = fmt.Sprintf("the newest %d of %d sessions", v.Sessions, v.Of)
	}
	return first([]rule{
		{!v.Checked, unknown},
		{v.Why != "", fail("See 'waybill verify'.", "the sessions cannot be read: %s", v.Why)},
		{v.Of == 0, ok("no sessions yet")},
		{v.Errors > 0, damage(
			"See all errors with 'waybill verify', and possible repairs with 'waybill repair'.",
			"%s checked, %s: %s", seen, plural(v.Errors, "error"), v.First)},
		{v.Warnings > 0, warn("See them with 'waybill verify'.",
			"%s checked: no errors, %s", seen, plural(v.Warnings, "warning"))},
		{true, ok("%s checked: no errors", seen)},
	})
}

// leftovers judges files that a cleanup would remove: those of interrupted calls, and a large
// trash. A small trash and quarantined files are normal.
func leftovers(f Facts) Check {
	l := f.Leftovers
	least := "" // the counts are lower bounds
	if l.More {
		least = "at least "
	}
	var parts []string
	fix := "Remove them with 'waybill gc'."
	if l.Temporary > 0 {
		parts = append(parts, fmt.Sprintf("%s%s of interrupted calls", least, plural(l.Temporary, "leftover file")))
	}
	if l.Trashed > 0 {
		parts = append(parts, fmt.Sprintf("%s in the trash (%s%s)", plural(l.Trashed, "session"), least,
			size(l.TrashBytes)))
		fix = "'waybill du' shows the disk usage, and 'waybill gc' what can be removed."
	}
	if l.Quarantined > 0 {
		parts = append(parts, fmt.Sprintf("%s in the quarantine (%s%s)", plural(l.Quarantined, "item"), least,
			size(l.QuarantineBytes)))
	}
	text := strings.Join(parts, "; ")
	return first([]rule{
		{!l.Checked, unknown},
		{text == "", ok("no leftover files")},
		{l.Temporary == 0 && l.TrashBytes < trashLarge, ok("%s", text)},
		{true, warn(fix, "%s", text)},
	})
}

// trashLarge is the size in bytes from which the trash is a warning: a gigabyte of text is years of
// runs.
const trashLarge = 1 << 30
