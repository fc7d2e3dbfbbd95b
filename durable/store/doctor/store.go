package doctor

import (
	"fmt"

	"github.com/waybill/waybill/durable/fault"
)

// binary reports the version of the program. It never fails.
func binary(f Facts) (Check, bool) {
	b := f.Binary
	commit := ""
	if b.Commit != "" {
		commit = ", built from " + b.Commit[:min(len(b.Commit), 12)]
	}
	return ok(CheckBinary, "waybill %s for %s%s", b.Version, b.Platform, commit), true
}

// store judges whether the selected directory is a store that can be used. The cases are in the
// order in which opening a store would meet them.
func store(f Facts) (Check, bool) {
	s := f.Store
	if s.NotSelected != nil {
		return fail(CheckStore, s.NotSelected.Suggestion, "no directory is given: %s", s.NotSelected.Message), true
	}
	at := fmt.Sprintf("%s (%s)", s.Dir, s.From)
	switch s.Kind {
	case Missing: // a directory without a store is not an error: the first run creates it
		return ok(CheckStore, "%s does not exist yet; the first run creates it", at), true
	case File, Other:
		return fail(CheckStore, "Choose a directory, or a path that does not exist yet, with --store or $WAYBILL_HOME.",
			"%s is not a directory", at), true
	case Hidden:
		return fail(CheckStore, "Check the permissions of the directories above it.", "%s cannot be read: %s", at,
			s.Why), true
	}
	if p := s.Problem; p != nil {
		// Only a damaged store.json counts as damage; a newer format, for example, does not.
		c := fail(CheckStore, p.Suggestion, "%s cannot be opened: %s", at, p.Message)
		if c.damaged = p.Code == fault.StoreCorrupt; c.damaged {
			c.Fix = "Restore that file from a backup; it identifies the directory as a store."
		}
		return c, true
	}
	if s.Foreign {
		return warn(CheckStore, "To write, choose a store that Waybill created with --store.",
			"%s was written by another program: it can be read, but not written", at), true
	}
	if s.ID == "" {
		return ok(CheckStore, "%s is an empty directory; the first run creates a store in it", at), true
	}
	if s.InUse {
		holder := "another process"
		if s.Holder != 0 {
			holder = fmt.Sprintf("process %d", s.Holder)
		}
		return warn(CheckStore, "Wait for that process; its lock ends with it.",
			"%s is locked by %s; other processes cannot write to it", at, holder), true
	}
	return ok(CheckStore, "%s, format %d", at, s.Format), true
}

// owner judges whether the store belongs to the user.
func owner(f Facts) (Check, bool) {
	s := f.Store
	if s.Kind != Directory {
		return Check{}, false
	}
	if !s.OwnedByUser {
		by := "another user"
		if s.Owner != "" {
			by = "user " + s.Owner
		}
		return warn(CheckOwner,
			"Use your own store with --store; in a shared one, a user may be unable to read files of the other.",
			"the store belongs to %s, not to you", by), true
	}
	return ok(CheckOwner, "the store belongs to you"), true
}

// keyring judges the keys that sign tokens. A missing keyring is a warning only where sessions
// exist: before the first run there is none.
func keyring(f Facts) (Check, bool) {
	k := f.Keys
	switch k.State {
	case "":
		return Check{}, false
	case "ready":
		text := "current key " + k.Current
		if k.Previous != "" {
			text += ", previous " + k.Previous
		}
		return ok(CheckKeyring, "%s", text), true
	case "missing":
		if f.Verified.Of > 0 {
			return warn(CheckKeyring,
				"Restore keys/keyring.json from a backup; else the next answer creates a new one, and 'waybill "+
					"continue --run RUN' returns fresh tokens.",
				"it is missing: issued tokens are invalid, runs are not affected"), true
		}
		return ok(CheckKeyring, "none yet; the first answer creates one"), true
	}
	c := fail(CheckKeyring, "Restore it from a backup; if other users could only read it, see 'waybill keys rotate'.",
		"it cannot be used: %s", k.Problem)
	c.damaged = true
	return c, true
}

// settings judges the control files of configuration and trust. It reports the first one that
// cannot be used.
func settings(f Facts) (Check, bool) {
	if len(f.Settings) == 0 {
		return Check{}, false
	}
	for _, s := range f.Settings {
		if s.Problem != "" {
			c := fail(CheckSettings,
				"See 'waybill repair': it moves the file to the quarantine, and the defaults apply.",
				"%s cannot be used: %s", s.File, s.Problem)
			c.damaged = true
			return c, true
		}
	}
	return ok(CheckSettings, "configuration and trust are readable"), true
}

// verified judges the result of verifying the sessions, of which a quick check reads the newest
// only.
func verified(f Facts) (Check, bool) {
	v := f.Verified
	if !v.Checked {
		return Check{}, false
	}
	seen := plural(v.Sessions, "session")
	if v.Sessions < v.Of {
		seen = fmt.Sprintf("the newest %d of %d sessions", v.Sessions, v.Of)
	}
	switch {
	case v.Why != "":
		return fail(CheckVerify, "See 'waybill verify'.", "the sessions cannot be read: %s", v.Why), true
	case v.Of == 0:
		return ok(CheckVerify, "no sessions yet"), true
	case v.Errors > 0:
		c := fail(CheckVerify, "See all errors with 'waybill verify', and possible repairs with 'waybill repair'.",
			"%s checked, %s: %s", seen, plural(v.Errors, "error"), v.First)
		c.damaged = true
		return c, true
	case v.Warnings > 0:
		return warn(CheckVerify, "See them with 'waybill verify'.", "%s checked: no errors, %s", seen,
			plural(v.Warnings, "warning")), true
	}
	return ok(CheckVerify, "%s checked: no errors", seen), true
}

// leftovers judges files that a cleanup would remove: those of interrupted calls, and a large
// trash.
func leftovers(f Facts) (Check, bool) {
	l := f.Leftovers
	if !l.Checked {
		return Check{}, false
	}
	least := "" // the counts are lower bounds
	if l.More {
		least = "at least "
	}
	text, fix := "", ""
	if l.Temporary > 0 {
		text, fix = fmt.Sprintf("%s%s of interrupted calls", least, plural(l.Temporary, "leftover file")),
			"Remove them with 'waybill gc'."
	}
	if l.Trashed > 0 {
		text = join(text, fmt.Sprintf("%s in the trash (%s%s)", plural(l.Trashed, "session"), least,
			size(l.TrashBytes)))
		fix = "'waybill du' shows the disk usage, and 'waybill gc' what can be removed."
	}
	if l.Quarantined > 0 {
		text = join(text, fmt.Sprintf("%s in the quarantine (%s%s)", plural(l.Quarantined, "item"), least,
			size(l.QuarantineBytes)))
	}
	// A small trash and quarantined files are normal.
	switch {
	case text == "":
		return ok(CheckLeftovers, "no leftover files"), true
	case l.Temporary == 0 && l.TrashBytes < trashLarge:
		return ok(CheckLeftovers, "%s", text), true
	}
	return warn(CheckLeftovers, fix, "%s", text), true
}

// trashLarge is the size in bytes from which the trash is a warning: a gigabyte of text is years of
// runs.
const trashLarge = 1 << 30

// join joins two parts of a message, of which the first may be empty.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
