package runs

import (
	"context"

	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// newList makes "runs list". A status is one of a closed set; people may write
// it with dashes. Selecting and paging are the engine's.
//
// A session that cannot be read is part of the answer and does not fail the
// call, since the other runs can be used. The list is made from the store at
// the moment of the call; nothing is kept of it.
func newList(a *cli.App) *cobra.Command {
	var s engine.Selection
	var status []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs of the store, the latest first",
		Long: `List the runs of the store, the one that something happened to last first: where each
stands, how many of its steps are done, and how long ago it moved. A session that
cannot be read is named below the list.

With --limit the JSON document carries nextCursor where more runs follow; --cursor
continues there.`,
		Example: "  waybill runs list\n  waybill runs list --status in_progress --status blocked\n" +
			"  waybill runs list --json --limit 20",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Several statuses are alternatives.
			for _, word := range status {
				// People write what they see in lists, in one word.
				st := projections.Status(strings.ReplaceAll(word, "-", "_"))
				if !slices.Contains(engine.Statuses(), st) {
					return cli.UsageFault(cmd, "there is no status %q", word).Suggest("Use %s.", statusWords())
				}
				s.Status = append(s.Status, st)
			}
			// 0 is all, and less is a mistake.
			if s.Limit < 0 {
				return cli.UsageFault(cmd, "--limit %d is negative", s.Limit)
			}
			return cli.Show(a, cmd, "runs",
				func(ctx context.Context, o *cli.Store) (engine.RunPage, error) {
					list, err := o.Runs(ctx)
					if err != nil {
						return engine.RunPage{}, err
					}
					return list.Select(s)
				},
				func(p *page.Page, chosen engine.RunPage) { showRuns(a, chosen, len(status) > 0, p) })
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&status, "status", nil, "only runs that are `STATUS`: "+statusWords())
	f.IntVar(&s.Limit, "limit", 0, "at most `N` runs; 0 lists all")
	f.StringVar(&s.Cursor, "cursor", "", "go on behind the `CURSOR` of the page before")
	return cmd
}

// statusWords lists the statuses for help and errors, from where the closed set
// is defined.
func statusWords() string {
	var words []string
	for _, s := range engine.Statuses() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// showRuns prints the table of runs and below it what no row has: that the list
// continues, which sessions cannot be read and why, and what the mark of
// foreign facts means. filtered says that a status was asked for, so that an
// empty list does not mean an empty store.
func showRuns(a *cli.App, list engine.RunPage, filtered bool, p *page.Page) {
	// Rows are laid out for the page, so that ids are whole in a pipe.
	var rows [][]page.Cell
	for _, r := range list.Runs {
		rows = append(rows, runRow(p, a, r))
	}
	switch {
	case len(rows) > 0:
		columns := []page.Column{{Title: "RUN"}, {Title: "STATUS"}, {Title: "DONE"}, {Title: "TITLE", Flex: true},
			{Title: "LAST", Right: true}}
		columns, rows = withSaid(p, list.Runs, columns, rows)
		p.Table(narrow(p, columns, rows))
	case filtered:
		p.Line("No run is in that state.")
	case len(list.Unreadable) > 0:
		p.Line("No run here can be read.")
	default:
		p.Line("No runs yet. 'waybill workflows list' shows what can be run.")
	}
	// The cursor goes with the same flags as before.
	if list.NextCursor != "" {
		p.Line("%s", p.Dim("More: --cursor "+list.NextCursor))
	}
	for _, u := range list.Unreadable {
		// The log of one that cannot be read may be whole: what it refers to is damaged then.
		state := "cannot be shown"
		if u.Health != manifest.Healthy && u.Name == "" {
			state = "is " + render.Health(u.Health)
		}
		p.Text(p.Bad("✗ "), cmp.Or(u.Name, u.SessionID.String())+" "+state+": "+u.Message)
	}
	if slices.ContainsFunc(list.Runs, func(r engine.RunSummary) bool { return r.Health == manifest.UnknownVersion }) {
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	}
}

// agoWidthMin is the width below which the last column is left out.
const agoWidthMin = 50

// narrow leaves out the last column on a narrow terminal: which run it is and
// its status must stay readable in a split window. It works on the rows in
// place.
func narrow(p *page.Page, columns []page.Column, rows [][]page.Cell) ([]page.Column, [][]page.Cell) {
	// A pipe has room for every column.
	if p.Width == 0 || p.Width >= agoWidthMin {
		return columns, rows
	}
	last := len(columns) - 1
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return columns[:last], rows
}

// withSaid inserts a column with the feedback on the runs before the last one,
// where there is any feedback and room for it.
func withSaid(p *page.Page, runs []engine.RunSummary, columns []page.Column, rows [][]page.Cell) ([]page.Column,
	[][]page.Cell) {
	// A column that is empty in every row is left out.
	some := slices.ContainsFunc(runs,
		func(r engine.RunSummary) bool { return render.AnnotationSigns(p, r.Annotations) != "" })
	if !some || p.Width > 0 && p.Width < page.BarWidthMin {
		return columns, rows
	}
	last := len(columns) - 1
	for i, r := range runs {
		rows[i] = slices.Insert(rows[i], last, page.Cell{Text: render.AnnotationSigns(p, r.Annotations), Paint: p.Warn})
	}
	return slices.Insert(columns, last, page.Column{Title: "SAID"}), rows
}

// runRow is one row of the list. The status of a session that is damaged is
// replaced by its health: what is known of it is the valid beginning, and a
// status from there would be taken for the present.
func runRow(p *page.Page, a *cli.App, r engine.RunSummary) []page.Cell {
	// Whole in a pipe, short on a terminal.
	name := r.RunID.String()
	if p.Width > 0 {
		name = page.ShortRun(r.RunID)
	}
	status := page.Cell{Text: render.Status(r.Status), Paint: render.StatusPaint(p, r.Status)}
	switch r.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		status.Text += " " + render.ForeignMark
	default:
		// What is known of a damaged session is its valid beginning; its status would
		// be taken for how things are.
		status = page.Cell{Text: render.Health(r.Health), Paint: p.Bad}
	}
	return []page.Cell{{Text: name, Paint: p.Bold}, status, {Text: progressBar(p, r.Progress)}, {Text: r.Title},
		{Text: a.Ago(r.LastAtMs)}}
}

// barCells is the length of a progress bar in characters.
const barCells = 8

// progressBar is how many steps are done of how many, with a bar before it on a
// wide terminal.
func progressBar(p *page.Page, g engine.Progress) string {
	if g.Total == 0 {
		return page.Itoa(int(g.Completed))
	}
	text := page.Itoa(int(g.Completed)) + "/" + page.Itoa(int(g.Total))
	if p.Width < page.BarWidthMin {
		return text
	}
	full := int(g.Completed * barCells / g.Total)
	return strings.Repeat("▰", full) + strings.Repeat("▱", barCells-full) + " " + text
}
