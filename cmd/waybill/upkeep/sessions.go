package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/log/manifest"
)

// sessionsLong is what 'waybill sessions --help' prints above the usage.
const sessionsLong = `A session is one log with one run, or several that were started in it. Sessions are the
unit that is kept, deleted, exported and verified.`

// NewSessions returns the command "sessions" with its subcommands. delete moves a
// session to the trash; only --empty-trash, and gc after trashDays, remove data
// (docs/design.md#retention).
func NewSessions(a *cli.App) *cobra.Command {
	return cli.NewGroup("sessions", cli.GroupMaintain, "List, keep, delete and restore sessions", sessionsLong,
		newSessionsList(a), newSessionsKeep(a), newSessionsDelete(a), newSessionsRestore(a))
}

// newSessionsList returns "sessions list". The document always has both lists, the
// sessions and the trash; --trash selects which one the text output has.
func newSessionsList(a *cli.App) *cobra.Command {
	var trash bool
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List sessions, or those in the trash",
		Long: `List the sessions of the store, last changed first, with the title of the first run and
whether the session is kept. With --trash, list the deleted sessions instead. The JSON
document always has both lists.`,
		Example: "  waybill sessions list\n  waybill sessions list --trash",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if trash {
				cli.LinesOf(a, "trash")
			}
			return cli.Show(a, cmd, "sessions",
				progress.Listing(a, cmd,
					func(ctx context.Context, o *cli.Store) (upkeep.SessionList, error) { return o.SessionList(ctx) }),
				func(p *page.Page, list upkeep.SessionList) {
					if trash {
						showTrash(a, list.Trash, p)
					} else {
						showSessions(a, list, p)
					}
				})
		},
	},
		cli.Opt(&trash, "trash", "list deleted sessions, which can be restored"), cli.Lines(a, "sessions"))
}

// showSessions prints a row for each session in the order of the list, and the
// number of sessions in the trash. The STATE column is the health of a damaged
// session, else whether the session is kept.
func showSessions(a *cli.App, list upkeep.SessionList, p *page.Page) {
	var rows [][]page.Cell
	for _, s := range list.Sessions {
		state := page.Cell{}
		switch {
		// The column has one value; damage is more important than being kept.
		case s.Health != manifest.Healthy:
			state = page.Cell{Text: render.Health(s.Health), Paint: p.Bad}
		case s.Kept:
			state = page.Cell{Text: "kept", Paint: p.Good}
		}
		rows = append(rows, []page.Cell{sessionName(a, s.SessionID.String(), s.Runs, p), {Text: titleOfRuns(s.Runs)},
			state,
			{Text: page.Itoa(int(s.Events))}, {Text: a.Ago(s.LastAtMs)}})
	}
	if len(rows) == 0 {
		p.Line("No sessions yet.")
	} else {
		p.Table([]page.Column{{Title: "SESSION"}, {Title: "TITLE", Flex: true}, {Title: "STATE"},
			{Title: "EVENTS", Right: true}, {Title: "LAST", Right: true, Spare: true}}, rows)
	}
	if len(list.Trash) > 0 {
		p.Line("%s", p.Dim(page.Plural(len(list.Trash), "session")+" in the trash: "+
			a.Command("sessions", "list", "--trash")))
	}
}

// showTrash prints a row for each deleted session, with the reason and the time of
// the deletion, and below the table the command that restores a session.
func showTrash(a *cli.App, list []upkeep.TrashedSession, p *page.Page) {
	if len(list) == 0 {
		p.Line("The trash is empty.")
		return
	}
	var rows [][]page.Cell
	for _, t := range list {
		// Note is nil if the note of the deletion cannot be read.
		reason := ""
		if t.Note != nil {
			reason = t.Note.Reason
		}
		rows = append(rows, []page.Cell{sessionName(a, t.SessionID.String(), t.Runs, p), {Text: titleOfRuns(t.Runs)},
			{Text: reason}, {Text: a.Ago(t.TrashedAtMs)}})
	}
	p.Table([]page.Column{{Title: "SESSION"}, {Title: "TITLE", Flex: true}, {Title: "REASON", Flex: true, Spare: true},
		{Title: "DELETED", Right: true}}, rows)
	p.Line("%s", p.Dim("Restore one: "+a.Command("sessions", "restore", "SESSION")))
}

// sessionName returns the name of a session in a table: on a terminal the short id
// of its first run, which all commands accept; the complete session id in a pipe,
// and if no run can be read.
func sessionName(a *cli.App, complete string, runs []upkeep.RunName, p *page.Page) page.Cell {
	if p.Width == 0 || len(runs) == 0 {
		return page.Cell{Text: complete, Paint: p.Bold}
	}
	return page.Cell{Text: page.ShortRun(runs[0].RunID), Paint: p.Bold}
}

// titleOfRuns returns the title of the first run of a session and the number of
// further runs.
func titleOfRuns(runs []upkeep.RunName) string {
	switch len(runs) {
	case 0:
		return "no readable run"
	case 1:
		return runs[0].Title
	}
	return runs[0].Title + ", and " + page.Plural(len(runs)-1, "more run")
}
