package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

func newRunsListCommand(a *app) *cobra.Command {
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
		Args: none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, word := range status {
				// People write what they see in lists, in one word.
				st := projections.Status(strings.ReplaceAll(word, "-", "_"))
				if !slices.Contains(engine.Statuses(), st) {
					return usageFault(cmd, "there is no status %q", word).Suggest("Use %s.", statusWords())
				}
				s.Status = append(s.Status, st)
			}
			if s.Limit < 0 {
				return usageFault(cmd, "--limit %d is negative", s.Limit)
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.Runs(cmd.Context())
			if err != nil {
				return err
			}
			chosen, err := list.Select(s)
			if err != nil {
				return err
			}
			return a.answer("runs", chosen, func(p *page) { a.tellRuns(chosen, len(status) > 0, p) })
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

// tellRuns shows the list, and below it what stands in none of its rows: that there
// is more, and sessions that cannot be read.
func (a *app) tellRuns(list engine.RunPage, filtered bool, p *page) {
	var rows [][]cell
	for _, r := range list.Runs {
		rows = append(rows, p.runRow(a, r))
	}
	switch {
	case len(rows) > 0:
		p.table(p.narrow(p.withSaid(list.Runs, []column{{title: "RUN"}, {title: "STATUS"}, {title: "DONE"},
			{title: "TITLE", flex: true}, {title: "LAST", right: true}}, rows)))
	case filtered:
		p.line("No run is in that state.")
	case len(list.Unreadable) > 0:
		p.line("No run here can be read.")
	default:
		p.line("No runs yet. 'waybill workflows list' shows what can be run.")
	}
	if list.NextCursor != "" {
		p.line("%s", p.dim("More: --cursor "+list.NextCursor))
	}
	for _, u := range list.Unreadable {
		// The log of one that cannot be read may be whole: what it refers to is damaged then.
		state := "cannot be shown"
		if u.Health != manifest.Healthy && u.Name == "" {
			state = "is " + toldHealth(u.Health)
		}
		p.text(p.bad("✗ "), cmp.Or(u.Name, u.SessionID.String())+" "+state+": "+u.Message)
	}
	if slices.ContainsFunc(list.Runs, func(r engine.RunSummary) bool { return r.Health == manifest.UnknownVersion }) {
		p.text(p.warn(foreignMark+" "), foreignNote)
	}
}

// foreignMark stands beside what holds facts that this version did not write.
const foreignMark = "*"

// foreignNote says what the mark means, wherever one stands.
const foreignNote = "Holds facts of another program or a newer version. They are shown as far as they are known; " +
	"nothing can be added."

// barWidthMin is the width below which a list does without its bars.
const barWidthMin = 68

// agoWidthMin is the width below which a list does without its last column.
const agoWidthMin = 50

// narrow drops the column that is missed least: which run is meant and how it
// stands must stay readable in a split window.
func (p *page) narrow(columns []column, rows [][]cell) ([]column, [][]cell) {
	if p.width == 0 || p.width >= agoWidthMin {
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
func (p *page) withSaid(runs []engine.RunSummary, columns []column, rows [][]cell) ([]column, [][]cell) {
	some := slices.ContainsFunc(runs, func(r engine.RunSummary) bool { return p.saidBrief(r.Annotations) != "" })
	if !some || p.width > 0 && p.width < barWidthMin {
		return columns, rows
	}
	last := len(columns) - 1
	for i, r := range runs {
		rows[i] = slices.Insert(rows[i], last, cell{text: p.saidBrief(r.Annotations), paint: p.warn})
	}
	return slices.Insert(columns, last, column{title: "SAID"}), rows
}

// runRow is one line of the list. In a pipe ids are whole, so that they can be cut
// out and used whatever else the store holds.
func (p *page) runRow(a *app, r engine.RunSummary) []cell {
	name := r.RunID.String()
	if p.width > 0 {
		name = shortRun(r.RunID)
	}
	status := cell{text: told(r.Status), paint: p.statusPaint(r.Status)}
	switch r.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		status.text += " " + foreignMark
	default:
		// What is told of a damaged session is its valid beginning; its status would
		// be taken for how things are.
		status = cell{text: toldHealth(r.Health), paint: p.bad}
	}
	return []cell{{text: name, paint: p.bold}, status, {text: p.progress(r.Progress)}, {text: r.Title},
		{text: a.ago(r.LastAtMs)}}
}

// statusPaint colors what is over, and what waits for someone; what simply goes on
// needs no color.
func (p *page) statusPaint(s projections.Status) func(string) string {
	switch s {
	case projections.CompleteStatus:
		return p.good
	case projections.Failed, projections.Cancelled:
		return p.bad
	case projections.InProgress:
		return nil
	}
	return p.warn
}

// barCells is the length of a progress bar.
const barCells = 8

// progress is a fraction, with a bar before it where there is a terminal to see it.
func (p *page) progress(g engine.Progress) string {
	if g.Total == 0 {
		return itoa(int(g.Completed))
	}
	text := itoa(int(g.Completed)) + "/" + itoa(int(g.Total))
	if p.width < barWidthMin {
		return text
	}
	full := int(g.Completed * barCells / g.Total)
	return strings.Repeat("▰", full) + strings.Repeat("▱", barCells-full) + " " + text
}
