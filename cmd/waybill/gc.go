package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/retention"
)

const gcLong = `Show what nobody needs any more, and with --apply remove it: sessions without anything
new for long go to the trash (retentionDays of the configuration), what lay in the trash
long enough goes for good (trashDays), and so does every snapshot, workflow and artifact
that no log names, and what interrupted writes left behind.

Where anything of the store is damaged, or of a version that is not known, it may need
anything: then nothing is removed, and --apply ends with exit status 5.`

func newGCCommand(a *app) *cobra.Command {
	var req engine.GCRequest
	cmd := &cobra.Command{
		Use:     "gc",
		GroupID: groupStore,
		Short:   "Remove what nobody needs any more",
		Long:    gcLong,
		Example: "  waybill gc\n  waybill gc --apply\n  waybill gc --apply --empty-trash",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			r, err := o.GC(cmd.Context(), a.caller(), req)
			if err != nil {
				return err
			}
			if err := a.answer("gc", r, func(p *page) { a.tellGC(r, req, p) }); err != nil || !req.Apply ||
				!r.SafeMode {
				return err
			}
			return exitWith(fault.ExitIntegrity)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Apply, "apply", false, "remove it; else it is only shown")
	f.BoolVar(&req.EmptyTrash, "empty-trash", false, "count all that lies in the trash as old enough")
	return cmd
}

func (a *app) tellGC(r engine.GCReport, req engine.GCRequest, p *page) {
	if r.SafeMode {
		p.text(p.warn("! "), "Nothing is removed: what is damaged or not understood may need anything.")
		for _, u := range r.Unclear[:min(len(r.Unclear), gcRowsMax)] {
			p.line("  %s", clean(u.Path))
			p.text("      ", u.Message)
		}
		p.more(len(r.Unclear))
		p.line("Next: %s", a.command("verify"))
		return
	}
	a.tellGoing(r, p)
	for _, s := range r.Skipped {
		p.text(p.warn("! "), s.What+" stays for now: "+s.Message+".")
	}
	switch {
	case req.Apply && r.Nothing():
		p.line("%s Nothing to remove.", p.good("✓"))
	case req.Apply:
		p.line("%s %s freed.", p.good("✓"), size(r.FreedBytes))
	case r.Nothing():
		p.line("%s Everything in the store is needed.", p.good("✓"))
	default:
		p.line("It would free %s. Nothing was removed.", p.bold(size(r.FreedBytes)))
		words := []string{"gc", "--apply"}
		if req.EmptyTrash {
			words = append(words, "--empty-trash")
		}
		p.line("Next: %s", a.command(words...))
	}
}

// gcRowsMax is how many of a kind are shown one by one; the document has all.
const gcRowsMax = 10

func (p *page) more(n int) {
	if n > gcRowsMax {
		p.line("      %s", p.dim("and "+itoa(n-gcRowsMax)+" more; --json names all"))
	}
}

// whyGone says in words why something goes.
var whyGone = map[retention.Reason]string{
	retention.Expired:  "nothing new for longer than sessions are kept: to the trash",
	retention.Unborn:   "begun, and never anything in it",
	retention.TrashOld: "long enough in the trash",
	retention.Asked:    "in the trash",
	retention.Orphan:   "that no log names",
	retention.Erased:   "that were erased before",
	retention.Leftover: "left by interrupted writes",
}

func (a *app) tellGoing(r engine.GCReport, p *page) {
	for _, why := range retention.Reasons {
		var rows [][2]string
		bytes, count := int64(0), 0
		for _, s := range r.Sessions {
			if s.Reason == why {
				rows, bytes, count = append(rows, [2]string{s.SessionID.String(), a.ago(s.LastAtMs)}), bytes+s.Bytes,
					count+1
			}
		}
		for _, t := range r.Trash {
			if t.Reason == why {
				rows, bytes, count = append(rows, [2]string{t.SessionID.String(), a.ago(t.TrashedAtMs)}), bytes+t.Bytes,
					count+1
			}
		}
		if count > 0 {
			p.line("%s %s  %s", p.bold(plural(count, "session")), whyGone[why], p.dim(size(bytes)))
			for _, row := range rows[:min(len(rows), gcRowsMax)] {
				p.line("  %s  %s", row[0], p.dim(row[1]))
			}
			p.more(len(rows))
		}
	}
	for _, o := range r.Objects {
		p.line("%s %s  %s", p.bold(plural(int(o.Count), string(o.Kind))), whyGone[o.Reason], p.dim(size(o.Bytes)))
	}
	if n := len(r.Leftover); n > 0 {
		bytes := int64(0)
		for _, l := range r.Leftover {
			bytes += l.Bytes
		}
		p.line("%s %s  %s", p.bold(plural(n, "file")), whyGone[retention.Leftover], p.dim(size(bytes)))
	}
}
