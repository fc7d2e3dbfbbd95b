package runs

import (
	"context"

	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
)

// newList returns "runs list". A status is a member of a closed set
// (docs/design.md#run-status) and may be written with dashes. The engine selects and pages.
//
// A session that cannot be read is listed in the answer and is not an error, since the other
// runs are usable. The list is computed from the store in each call and not cached.
func newList(a *cli.App) *cobra.Command {
	var s lists.Selection
	var since string
	var watch bool
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List the runs of the store, the latest first",
		Long: `List the runs of the store with status, number of completed steps, title and time of the
last event; the run with the latest event is first. Sessions that cannot be read are
listed below. Nothing is changed.

Filters can be combined; a run has to meet each. --status failed includes open runs whose
pending command failed. --title and --text find a part in any case, --text in the title,
the goal, the workflow's id and the latest notes. --since takes a date (2006-01-02), a
time or a duration before now (36h, 2d, 2w). If no run is left, the filter that excludes
most is named.

--sort orders them: latest, the default; started, the run that was started last first; title and
workflow, alphabetical; or status. With --watch the list is drawn again at a terminal when it
changes, until Ctrl-C; runs that do not fit the window are left out.

If more runs follow, because of --limit or because the page would exceed 1 MiB, the JSON
document contains nextCursor; --cursor continues from there.`,
		Example: "  waybill runs list\n  waybill runs list --status in_progress --status blocked\n" +
			"  waybill runs list --status failed --since 2d --branch main\n  waybill runs list --sort status --watch\n" +
			"  waybill runs list --json --limit 20",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", s.Limit)
			}
			var err error
			if s.SinceMs, err = cli.SinceMs(a, cmd, since); err != nil {
				return err
			}
			if watch {
				return watchRuns(a, cmd, s)
			}
			// An invalid cursor is rejected by SelectRuns.
			defer cli.LimitHeap()()
			return cli.Show(a, cmd, "runs",
				progress.Listing(a, cmd, func(ctx context.Context, o *cli.Store) (lists.RunPage, error) {
					return lists.SelectRuns(ctx, o.Lists, s)
				}),
				func(p *page.Page, chosen lists.RunPage) { showRuns(a, chosen, p) })
		},
	},
		// Several statuses are alternatives.
		cli.ManyOf(&s.Status, "status STATUS", lists.Statuses(),
			"list only runs with STATUS, may be repeated: "+page.JoinWords(lists.Statuses())),
		cli.Opt(&s.Workflow, "workflow ID", "list only runs of the workflow ID"),
		cli.Opt(&s.Title, "title TEXT", "list only runs with TEXT in their title"),
		cli.Opt(&s.Branch, "branch NAME", "list only runs that were recorded on the git branch NAME"),
		cli.Opt(&s.Label, "label LABEL", "list only runs with an annotation that has the label LABEL"),
		cli.Opt(&s.Text, "text TEXT", "list only runs with TEXT in title, goal, workflow or latest notes"),
		cli.Opt(&since, "since TIME",
			"list only runs with an event since TIME: a date, a time, or a duration before now"),
		cli.OneOf(&s.Sort, "sort ORDER", lists.Sorts(), "list the runs in ORDER: "+page.JoinWords(lists.Sorts())),
		cli.Opt(&watch, "watch", "draw the list again when it changes, at a terminal, until Ctrl-C"),
		cli.Opt(&s.Limit, "limit N", "list at most N runs; 0 lists as many as a page holds"),
		cli.Opt(&s.Cursor, "cursor CURSOR", "continue after the CURSOR of the previous page"),
		cli.Lines(a, "runs"))
}

// showRuns prints the table of runs and, below it, the cursor of the next page, the sessions
// that cannot be read with the reason, and an explanation of the mark for foreign facts.
func showRuns(a *cli.App, list lists.RunPage, p *page.Page) {
	// Rows depend on the page: ids are complete in a pipe.
	var rows [][]page.Cell
	for _, r := range list.Runs {
		rows = append(rows, runRow(p, a, r))
	}
	// An empty list is explained, since its meaning depends on the flags and the store.
	switch {
	case len(rows) > 0:
		columns := []page.Column{{Title: "RUN"}, {Title: "STATUS", Flex: p.Width < statusWidthMin},
			{Title: "DONE", Spare: true}, {Title: "TITLE", Flex: true, Spare: true}, {Title: "LAST", Right: true}}
		columns, rows = withFeedback(p, list.Runs, columns, rows)
		p.Table(narrow(p, columns, rows))
	case len(list.Excluded) > 0:
		p.Text("", noneSelected(list.Excluded))
	case len(list.Unreadable) > 0:
		p.Line("No readable runs.")
	default:
		p.Text("", "No runs yet. Run 'waybill workflows list' to list the workflows.")
	}
	// The next page needs the same other flags.
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	for _, u := range list.Unreadable {
		// The log may be healthy although the session cannot be read: then a file that it
		// refers to is damaged.
		state := "cannot be shown"
		if u.Health != manifest.Healthy && u.Name == "" {
			state = "is " + render.Health(u.Health)
		}
		p.Text(p.Bad("✗ "), cmp.Or(u.Name, u.SessionID.String())+" "+state+": "+u.Message)
	}
	if slices.ContainsFunc(list.Runs, func(r views.RunSummary) bool { return r.Partial }) {
		p.Text(p.Bad("! "), "Of a damaged session the list has what its valid beginning says; 'waybill verify' names the damage.")
	}
	if slices.ContainsFunc(list.Runs, func(r views.RunSummary) bool { return r.Health == manifest.UnknownVersion }) {
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	}
}

// noneSelected says that the filters exclude all runs, and which one excludes most.
func noneSelected(by []lists.Excluded) string {
	text := "No runs are selected: --" + string(by[0].Filter) + " excludes "
	if len(by) > 1 {
		text += "most, "
	}
	return text + page.Plural(by[0].Runs, "run") + "."
}

// statusWidthMin is the width in columns below which the status is cut before columns are omitted.
const statusWidthMin = 40

// agoWidthMin is the width in columns below which the last column is omitted.
const agoWidthMin = 50

// narrow removes the last column on a narrow terminal, so that id and status remain readable
// in a split window. It modifies the rows in place.
func narrow(p *page.Page, columns []page.Column, rows [][]page.Cell) ([]page.Column, [][]page.Cell) {
	// A pipe has no width limit.
	if p.Width == 0 || p.Width >= agoWidthMin {
		return columns, rows
	}
	// The last column is the age of the latest event.
	last := len(columns) - 1
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return columns[:last], rows
}

// withFeedback inserts a column with the feedback on the runs before the last column, if any
// run has feedback and the page is wide enough.
func withFeedback(p *page.Page, runs []views.RunSummary, columns []page.Column, rows [][]page.Cell) ([]page.Column,
	[][]page.Cell) {
	// A column that is empty in every row is omitted.
	some := slices.ContainsFunc(runs,
		func(r views.RunSummary) bool { return render.FeedbackSummary(p, r.Annotations) != "" })
	if !some || p.Width > 0 && p.Width < page.BarWidthMin {
		return columns, rows
	}
	// Before the age, which stays at the right edge.
	last := len(columns) - 1
	for i, r := range runs {
		rows[i] = slices.Insert(rows[i], last, page.Cell{Text: render.FeedbackSummary(p, r.Annotations), Paint: p.Warn})
	}
	return slices.Insert(columns, last, page.Column{Title: "FEEDBACK"}), rows
}

// runRow returns one row of the list. For a damaged session the row contains its health
// instead of the run's status.
func runRow(p *page.Page, a *cli.App, r views.RunSummary) []page.Cell {
	name := p.Name(page.ShortRun(r.RunID), r.RunID.String())
	// The health of the session may replace or mark the status.
	sign := render.SignOrWord(p, render.Sign(r.Status)+" ", "")
	status := page.Cell{Text: sign + render.Status(r.Status), Paint: render.StatusStyle(p, r.Status)}
	switch r.Health {
	case manifest.Healthy:
		if r.WaitUntilMs != 0 {
			status = page.Cell{Text: sign + "waits until " + page.ClockTime(r.WaitUntilMs, "2 Jan 15:04"), Paint: p.Dim}
		}
	case manifest.UnknownVersion:
		status.Text += " " + render.ForeignMark
	default:
		// Only the valid prefix of a damaged log is known; a status computed from it would
		// be mistaken for the current one.
		status = page.Cell{Text: render.SignOrWord(p, render.DamagedSign+" ", "") + render.Health(r.Health), Paint: p.Bad}
	}
	return []page.Cell{{Text: name, Paint: p.Bold}, status, {Text: progressBar(p, r.Progress)}, {Text: r.Title},
		{Text: a.Ago(r.LastAtMs)}}
}

// barCells is the length of a progress bar, in characters.
const barCells = 8

// progressBar returns the numbers of completed and all steps, such as "2/5", after a bar on a
// wide terminal. The total is 0 for a workflow that cannot be read.
func progressBar(p *page.Page, g views.Progress) string {
	if g.Total == 0 {
		return page.Itoa(int(g.Completed))
	}
	text := page.Itoa(int(g.Completed)) + "/" + page.Itoa(int(g.Total))
	if p.Width < page.BarWidthMin {
		return text
	}
	// Integer division: the bar is full only for a complete run.
	full := int(g.Completed * barCells / g.Total)
	return strings.Repeat("▰", full) + strings.Repeat("▱", barCells-full) + " " + text
}
