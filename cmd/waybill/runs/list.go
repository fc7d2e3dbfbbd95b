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
			for _, word := range status {
				// People write what they see in lists, in one word.
				st := projections.Status(strings.ReplaceAll(word, "-", "_"))
				if !slices.Contains(engine.Statuses(), st) {
					return cli.UsageFault(cmd, "there is no status %q", word).Suggest("Use %s.", statusWords())
				}
				s.Status = append(s.Status, st)
			}
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

// statusWords lists the closed set for help and errors, from where it is defined.
func statusWords() string {
	var words []string
	for _, s := range engine.Statuses() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// showRuns shows the list, and below it what stands in none of its rows: that there
// is more, and sessions that cannot be read.
func showRuns(a *cli.App, list engine.RunPage, filtered bool, p *page.Page) {
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

// agoWidthMin is the width below which a list does without its last column.
const agoWidthMin = 50

// narrow drops the column that is missed least: which run is meant and how it
// stands must stay readable in a split window.
func narrow(p *page.Page, columns []page.Column, rows [][]page.Cell) ([]page.Column, [][]page.Cell) {
	if p.Width == 0 || p.Width >= agoWidthMin {
		return columns, rows
	}
	last := len(columns) - 1
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return columns[:last], rows
}

// withSaid puts in front of the last column what people said of the runs, where they said
// anything and there is room for it.
func withSaid(p *page.Page, runs []engine.RunSummary, columns []page.Column, rows [][]page.Cell) ([]page.Column,
	[][]page.Cell) {
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

// runRow is one line of the list. In a pipe ids are whole, so that they can be cut
// out and used whatever else the store holds.
func runRow(p *page.Page, a *cli.App, r engine.RunSummary) []page.Cell {
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
		// What is told of a damaged session is its valid beginning; its status would
		// be taken for how things are.
		status = page.Cell{Text: render.Health(r.Health), Paint: p.Bad}
	}
	return []page.Cell{{Text: name, Paint: p.Bold}, status, {Text: progressBar(p, r.Progress)}, {Text: r.Title},
		{Text: a.Ago(r.LastAtMs)}}
}

// barCells is the length of a progress bar.
const barCells = 8

// progressBar is a fraction, with a bar before it where there is a terminal to see it.
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
