package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/store/retention"
)

// gcLong is what 'waybill gc --help' prints above the usage.
const gcLong = `Show what nobody needs any more, and with --apply remove it: sessions without anything
new for long go to the trash (retentionDays of the configuration), what lay in the trash
long enough goes for good (trashDays), and so does every snapshot, workflow and artifact
that no log names, and what interrupted writes left behind.

Where anything of the store is damaged, or of a version that is not known, it may need
anything: then nothing is removed, and --apply ends with exit status 5.`

// NewGC makes the command "gc". Without --apply it shows what would be removed;
// the engine computes both in the same way. Where the store has damage, nothing
// is removed, and with --apply that ends with exit status 5.
//
// Sessions are moved to the trash first and removed by a later call.
// --empty-trash counts all of the trash as old enough.
func NewGC(a *cli.App) *cobra.Command {
	var req engine.GCRequest
	cmd := &cobra.Command{
		Use:     "gc",
		GroupID: cli.GroupStore,
		Short:   "Remove what nobody needs any more",
		Long:    gcLong,
		Example: "  waybill gc\n  waybill gc --apply\n  waybill gc --apply --empty-trash",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.ShowVerdict(a, cmd, "gc",
				func(ctx context.Context, o *cli.Store) (engine.GCReport, error) { return o.GC(ctx, a.Caller(), req) },
				func(p *page.Page, r engine.GCReport) { showGC(a, r, req, p) },
				func(r engine.GCReport) int { return cli.IntegrityUnless(!req.Apply || !r.SafeMode) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Apply, "apply", false, "remove it; else it is only shown")
	f.BoolVar(&req.EmptyTrash, "empty-trash", false, "count all that lies in the trash as old enough")
	return cmd
}

// showGC prints what is removed, or would be, and how much that frees. In safe
// mode it prints the damage in place of that. Sessions that another process
// uses stay for now, and are named with the reason.
func showGC(a *cli.App, r engine.GCReport, req engine.GCRequest, p *page.Page) {
	// What is damaged may refer to anything, so nothing counts as
	// unreferenced.
	if r.SafeMode {
		p.Text(p.Warn("! "), "Nothing is removed: what is damaged or not understood may need anything.")
		for _, u := range r.Unclear[:min(len(r.Unclear), gcRowsMax)] {
			p.Line("  %s", page.Clean(u.Path))
			p.Text("      ", u.Message)
		}
		showMore(p, len(r.Unclear))
		p.Line("Next: %s", a.Command("verify"))
		return
	}
	showRemovals(a, r, p)
	for _, s := range r.Skipped {
		p.Text(p.Warn("! "), s.What+" stays for now: "+s.Message+".")
	}
	switch {
	case req.Apply && r.Nothing():
		p.Line("%s Nothing to remove.", p.Good("✓"))
	case req.Apply:
		p.Line("%s %s freed.", p.Good("✓"), page.Size(r.FreedBytes))
	case r.Nothing():
		p.Line("%s Everything in the store is needed.", p.Good("✓"))
	default:
		p.Line("It would free %s. Nothing was removed.", p.Bold(page.Size(r.FreedBytes)))
		// The suggested command has the same flags as this one.
		words := []string{"gc", "--apply"}
		if req.EmptyTrash {
			words = append(words, "--empty-trash")
		}
		p.Line("Next: %s", a.Command(words...))
	}
}

// gcRowsMax is how many rows of a kind are printed; the document has all of
// them.
const gcRowsMax = 10

// showMore prints how many rows were left out of n, and nothing where all are
// shown.
func showMore(p *page.Page, n int) {
	if n > gcRowsMax {
		p.Line("      %s", p.Dim("and "+page.Itoa(n-gcRowsMax)+" more; --json names all"))
	}
}

// whyGone are the reasons for a removal in words, as they follow the number of
// things.
var whyGone = map[retention.Reason]string{
	retention.Expired:  "nothing new for longer than sessions are kept: to the trash",
	retention.Unborn:   "begun, and never anything in it",
	retention.TrashOld: "long enough in the trash",
	retention.Asked:    "in the trash",
	retention.Orphan:   "that no log names",
	retention.Erased:   "that were erased before",
	retention.Leftover: "left by interrupted writes",
}

// showRemovals prints what goes by reason: first sessions that move to the
// trash and sessions that leave it, then unreferenced objects by kind, then
// files that interrupted writes left.
//
// Sessions are listed one by one up to a maximum, since a person decides about
// them; objects and files are only counted.
func showRemovals(a *cli.App, r engine.GCReport, p *page.Page) {
	// By reason, since that is what a person decides about.
	for _, why := range retention.Reasons {
		var rows [][2]string
		bytes, count := int64(0), 0
		for _, s := range r.Sessions {
			if s.Reason == why {
				rows, bytes, count = append(rows, [2]string{s.SessionID.String(), a.Ago(s.LastAtMs)}), bytes+s.Bytes,
					count+1
			}
		}
		for _, t := range r.Trash {
			if t.Reason == why {
				rows, bytes, count = append(rows, [2]string{t.SessionID.String(), a.Ago(t.TrashedAtMs)}), bytes+t.Bytes,
					count+1
			}
		}
		if count > 0 {
			p.Line("%s %s  %s", p.Bold(page.Plural(count, "session")), whyGone[why], p.Dim(page.Size(bytes)))
			for _, row := range rows[:min(len(rows), gcRowsMax)] {
				p.Line("  %s  %s", row[0], p.Dim(row[1]))
			}
			showMore(p, len(rows))
		}
	}
	for _, o := range r.Objects {
		p.Line("%s %s  %s", p.Bold(page.Plural(int(o.Count), string(o.Kind))), whyGone[o.Reason],
			p.Dim(page.Size(o.Bytes)))
	}
	if n := len(r.Leftover); n > 0 {
		bytes := int64(0)
		for _, l := range r.Leftover {
			bytes += l.Bytes
		}
		p.Line("%s %s  %s", p.Bold(page.Plural(n, "file")), whyGone[retention.Leftover], p.Dim(page.Size(bytes)))
	}
}
