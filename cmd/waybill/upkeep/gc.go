package upkeep

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/retention"
)

// gcLong is what 'waybill gc --help' prints above the usage.
const gcLong = `List what can be removed from the store, and remove it with --apply. Sessions without
new events for retentionDays are moved to the trash. Removed permanently are sessions
that have been in the trash for trashDays, objects (snapshots, workflows, artifacts)
that no log refers to, files of interrupted writes, and the log of answers to requests of
programs once all of them are older than a day. Both periods are keys of the
configuration.

If a part of the store is damaged, has an unknown version, or is a link, a pipe or a file
in place of a directory, its references are unknown: nothing is removed, and --apply ends
with exit status 5; where a link, a pipe or a file is in the place of a directory, the
list does so as well. Links are never followed: move back what they lead to.`

// NewGC returns the command "gc". Without --apply it shows what would be removed;
// the engine computes the same plan for both. In a damaged store nothing is
// removed, and the exit status with --apply is 5; with entries that are not what
// their names say it is 5 without it, too.
//
// A session is moved to the trash first and removed by a later call.
// --empty-trash treats all sessions in the trash as expired.
func NewGC(a *cli.App) *cobra.Command {
	var req upkeep.GCRequest
	return cli.WithOptions(&cobra.Command{
		Use:     "gc",
		GroupID: cli.GroupMaintain,
		Short:   "Remove expired sessions and unreferenced objects",
		Long:    gcLong,
		Example: "  waybill gc\n  waybill gc --apply\n  waybill gc --apply --empty-trash",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer cli.LimitMemory()()
			return cli.ShowVerdict(a, cmd, "gc",
				func(ctx context.Context, o *cli.Store) (upkeep.GCReport, error) { return collect(ctx, a, o, req) },
				func(p *page.Page, r upkeep.GCReport) { showGC(a, r, req, p) },
				func(r upkeep.GCReport) int { return cli.IntegrityStatus(!r.Unread && (!req.Apply || !r.SafeMode)) })
		},
	},
		cli.Opt(&req.Apply, "apply", "remove it (default: only show what would be removed)"),
		cli.Opt(&req.EmptyTrash, "empty-trash", "treat all sessions in the trash as expired"))
}

// gcParts has what is counted in each part of a cleanup.
var gcParts = map[upkeep.GCPart]string{upkeep.GCReadsLogs: "(%d of %d logs read)",
	upkeep.GCRemovesSessions: "(%d of %d sessions removed)", upkeep.GCRemovesObjects: "(%d of %d objects removed)"}

// collect cleans up. Ctrl-C ends it between two removals.
func collect(ctx context.Context, a *cli.App, o *cli.Store, req upkeep.GCRequest) (upkeep.GCReport, error) {
	w := progress.Start(ctx, a, "Cleaning up", false)
	if w.Shown {
		req.Progress = func(part upkeep.GCPart, done, all int64) { w.Say(fmt.Sprintf(gcParts[part], done, all)) }
	}
	r, err := o.GC(w, o.Caller(), req)
	done, next := "nothing was removed", fault.Command{"gc"}
	if req.Apply {
		next = append(next, "--apply")
		done = page.Plural(len(r.Sessions)+len(r.Trash), "session") + " left the store or went to the trash, and " +
			page.Size(r.FreedBytes) + " were freed"
	}
	if req.EmptyTrash {
		next = append(next, "--empty-trash")
	}
	return r, w.End(err, done, next)
}

// showGC prints what was removed, or would be, and the number of bytes that this
// frees. In safe mode it prints the damage instead. Sessions that another process
// uses are skipped and listed with the reason.
func showGC(a *cli.App, r upkeep.GCReport, req upkeep.GCRequest, p *page.Page) {
	// Damaged data may refer to any object, so none is known to be unreferenced.
	if r.SafeMode {
		p.Text(p.Warn("! "), "Nothing is removed: references of damaged or unknown data cannot be determined.")
		for _, u := range r.Unclear[:min(len(r.Unclear), gcRowsMax)] {
			p.Line("  %s", page.OneLine(u.Path))
			p.Text("      ", u.Message)
		}
		showMore(p, len(r.Unclear))
		p.Line("Next: %s", a.Command("verify"))
		return
	}
	showRemovals(a, r, p)
	for _, s := range r.Skipped {
		p.Text(p.Warn("! "), s.What+" was skipped: "+s.Message+".")
	}
	switch {
	case req.Apply && r.IsEmpty():
		p.Line("%s Nothing to remove.", p.Good("✓"))
	case req.Apply:
		p.Line("%s %s freed.", p.Good("✓"), page.Size(r.FreedBytes))
	case r.IsEmpty():
		p.Line("%s Nothing can be removed.", p.Good("✓"))
	default:
		p.Line("It would free %s. Nothing was removed.", p.Bold(page.Size(r.FreedBytes)))
		// The suggested command must remove what is shown, so it has the same flags.
		words := []string{"gc", "--apply"}
		if req.EmptyTrash {
			words = append(words, "--empty-trash")
		}
		p.Line("Next: %s", a.Command(words...))
	}
}

// gcRowsMax is how many rows are printed for each reason; the JSON document has
// all of them.
const gcRowsMax = 10

// showMore prints how many of n rows were omitted, or nothing if none were.
func showMore(p *page.Page, n int) {
	if n > gcRowsMax {
		p.Line("      %s", p.Dim("and "+page.Itoa(n-gcRowsMax)+" more; --json lists all"))
	}
}

// removalTexts has a phrase for each reason of a removal. It is printed after the
// number of sessions, objects or files, such as "2 sessions".
var removalTexts = map[retention.Reason]string{
	retention.Expired:  "without new events for retentionDays: to the trash",
	retention.Unborn:   "without any event",
	retention.TrashOld: "in the trash for trashDays",
	retention.Asked:    "in the trash",
	retention.Orphan:   "that no log refers to",
	retention.Erased:   "that were erased before",
	retention.Leftover: "of interrupted writes",
}

// showRemovals prints the removals grouped by reason: sessions that are moved to
// the trash or removed from it, then objects by kind, logs, then files of
// interrupted writes.
//
// Sessions are listed one by one, up to gcRowsMax, so that the user can keep one;
// objects and files are only counted.
func showRemovals(a *cli.App, r upkeep.GCReport, p *page.Page) {
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
			p.Line("%s %s  %s", p.Bold(page.Plural(count, "session")), removalTexts[why], p.Dim(page.Size(bytes)))
			for _, row := range rows[:min(len(rows), gcRowsMax)] {
				p.Line("  %s  %s", row[0], p.Dim(row[1]))
			}
			showMore(p, len(rows))
		}
	}
	// One row per kind and reason; the engine has added them up.
	for _, o := range r.Objects {
		p.Line("%s %s  %s", p.Bold(page.Plural(int(o.Count), objectNoun(o.Kind))), removalTexts[o.Reason],
			p.Dim(page.Size(o.Bytes)))
	}
	for _, l := range r.Logs {
		p.Line("%s to requests of programs, all older than a day  %s", p.Bold(page.Plural(int(l.Events), "answer")),
			p.Dim(page.Size(l.Bytes)))
	}
	if n := len(r.Leftover); n > 0 {
		bytes := int64(0)
		for _, l := range r.Leftover {
			bytes += l.Bytes
		}
		p.Line("%s %s  %s", p.Bold(page.Plural(n, "file")), removalTexts[retention.Leftover], p.Dim(page.Size(bytes)))
	}
}
