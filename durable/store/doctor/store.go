package doctor

import (
	"fmt"

	"github.com/waybill/waybill/durable/fault"
)

func binary(f Facts) (Check, bool) {
	b := f.Binary
	commit := ""
	if b.Commit != "" {
		commit = ", built from " + b.Commit[:min(len(b.Commit), 12)]
	}
	return ok(CheckBinary, "waybill %s for %s%s", b.Version, b.Platform, commit), true
}

// store says whether the folder that is meant is a store that can be used.
func store(f Facts) (Check, bool) {
	s := f.Store
	if s.Unnamed != nil {
		return fail(CheckStore, s.Unnamed.Suggestion, "no folder is named: %s", s.Unnamed.Message), true
	}
	at := fmt.Sprintf("%s (%s)", s.Dir, s.From)
	switch s.Kind {
	case Missing:
		return ok(CheckStore, "%s is not there yet; the first run makes it", at), true
	case File, Other:
		return fail(CheckStore, "Name a folder, or one that does not exist yet, with --store or $WAYBILL_HOME.",
			"%s is no folder", at), true
	case Hidden:
		return fail(CheckStore, "Look at who may enter the folders above it.", "%s cannot be looked at: %s", at, s.Why),
			true
	}
	if p := s.Problem; p != nil {
		c := fail(CheckStore, p.Suggestion, "%s cannot be opened: %s", at, p.Message)
		if c.damaged = p.Code == fault.StoreCorrupt; c.damaged {
			c.Fix = "Restore that file from a backup; without it nothing says what the folder is."
		}
		return c, true
	}
	if s.Foreign {
		return warn(CheckStore, "To write, name a store of Waybill's own with --store.",
			"%s was written by another program: it can be read, and nothing is written to it", at), true
	}
	if s.ID == "" {
		return ok(CheckStore, "%s is an empty folder; the first run makes a store of it", at), true
	}
	if s.InUse {
		holder := "another process"
		if s.Holder != 0 {
			holder = fmt.Sprintf("process %d", s.Holder)
		}
		return warn(CheckStore, "Wait for it; a lock ends with its process.",
			"%s is in use by %s, which keeps all others from writing", at, holder), true
	}
	return ok(CheckStore, "%s, format %d", at, s.Format), true
}

func owner(f Facts) (Check, bool) {
	s := f.Store
	if s.Kind != Folder {
		return Check{}, false
	}
	if !s.Mine {
		by := "somebody else"
		if s.Owner != "" {
			by = "user " + s.Owner
		}
		return warn(CheckOwner,
			"Use a store of your own with --store; what two users write to one, each may not be able to read of the "+
				"other.",
			"the store belongs to %s, not to you", by), true
	}
	return ok(CheckOwner, "the store is yours"), true
}

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
				"Restore keys/keyring.json from a backup; else the next answer makes a new one, and 'waybill "+
					"continue --run RUN' gives fresh tokens.",
				"it is gone: tokens that were handed out are worthless, runs are not"), true
		}
		return ok(CheckKeyring, "none yet; the first answer makes one"), true
	}
	c := fail(CheckKeyring, "Restore it from a backup or, where others may only have been able to read it, see what "+
		"'waybill keys rotate' says.", "it cannot be used: %s", k.Problem)
	c.damaged = true
	return c, true
}

func settings(f Facts) (Check, bool) {
	if len(f.Settings) == 0 {
		return Check{}, false
	}
	for _, s := range f.Settings {
		if s.Problem != "" {
			c := fail(CheckSettings, "See 'waybill repair': it sets the file aside, and the defaults hold.",
				"%s cannot be used: %s", s.File, s.Problem)
			c.damaged = true
			return c, true
		}
	}
	return ok(CheckSettings, "configuration and trust can be read"), true
}

func verified(f Facts) (Check, bool) {
	v := f.Verified
	if !v.Looked {
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
		return ok(CheckVerify, "there is no session yet"), true
	case v.Errors > 0:
		c := fail(CheckVerify, "See all of it with 'waybill verify', and what can be done with 'waybill repair'.",
			"%s checked, %s: %s", seen, plural(v.Errors, "error"), v.First)
		c.damaged = true
		return c, true
	case v.Warnings > 0:
		return warn(CheckVerify, "See them with 'waybill verify'.", "%s checked: no errors, %s", seen,
			plural(v.Warnings, "warning")), true
	}
	return ok(CheckVerify, "%s checked: everything is as it was written", seen), true
}

func leftovers(f Facts) (Check, bool) {
	l := f.Left
	if !l.Looked {
		return Check{}, false
	}
	least := ""
	if l.More {
		least = "at least "
	}
	text, fix := "", ""
	if l.Temporary > 0 {
		text, fix = fmt.Sprintf("%s%s of interrupted calls", least, plural(l.Temporary, "leftover file")),
			"'waybill gc' takes leftovers away."
	}
	if l.Trashed > 0 {
		text = join(text, fmt.Sprintf("%s in the trash (%s%s)", plural(l.Trashed, "session"), least,
			size(l.TrashBytes)))
		fix = "'waybill du' shows where the room goes, and 'waybill gc' what can be taken away."
	}
	if l.Quarantined > 0 {
		text = join(text, fmt.Sprintf("%s in the quarantine (%s%s)", plural(l.Quarantined, "entry"), least,
			size(l.QuarantineBytes)))
	}
	switch {
	case text == "":
		return ok(CheckLeftovers, "nothing lies around"), true
	case l.Temporary == 0 && l.TrashBytes < trashLarge:
		return ok(CheckLeftovers, "%s", text), true
	}
	return warn(CheckLeftovers, fix, "%s", text), true
}

// trashLarge is from where on what was deleted is worth a word: a gigabyte of plain text
// is years of runs.
const trashLarge = 1 << 30

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
