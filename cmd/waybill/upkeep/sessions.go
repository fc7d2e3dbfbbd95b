package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/manifest"
)

// sessionsLong is what 'waybill sessions --help' prints above the usage.
const sessionsLong = `A session is one log: mostly one run, sometimes several that began in it. It is what is
kept, deleted, exported and verified as one.`

// NewSessions makes the command "sessions" with its subcommands. Deleting moves
// a session to the trash; only emptying the trash, and gc after a time, remove
// anything.
func NewSessions(a *cli.App) *cobra.Command {
	return cli.NewGroup("sessions", cli.GroupStore, "List, keep, delete and restore sessions", sessionsLong,
		newSessionsList(a), newSessionsKeep(a), newSessionsDelete(a), newSessionsRestore(a))
}

// newSessionsList makes "sessions list". The document always has both lists,
// the sessions and the trash; --trash chooses what people see.
func newSessionsList(a *cli.App) *cobra.Command {
	var trash bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the store, or what lies in the trash",
		Long: `List the sessions of the store, the one that something happened to last first, with the
runs in each and whether it is kept. With --trash, list the deleted ones instead. The
JSON document always holds both.`,
		Example: "  waybill sessions list\n  waybill sessions list --trash",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "sessions",
				func(ctx context.Context, o *cli.Store) (engine.SessionList, error) { return o.SessionList(ctx) },
				func(p *page.Page, list engine.SessionList) {
					if trash {
						showTrash(a, list.Trash, p)
					} else {
						showSessions(a, list, p)
					}
				})
		},
	}
	cmd.Flags().BoolVar(&trash, "trash", false, "what was deleted and can be restored")
	return cmd
}

// showSessions prints a row for each session, the latest first, and how many
// are in the trash. The state is the health of a damaged session, else whether
// it is kept.
func showSessions(a *cli.App, list engine.SessionList, p *page.Page) {
	var rows [][]page.Cell
	for _, s := range list.Sessions {
		state := page.Cell{}
		switch {
		// Damage matters more than being kept.
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

// showTrash prints a row for each deleted session, with the reason that was
// given and when it was deleted. The command that restores one is below the
// table.
func showTrash(a *cli.App, list []engine.TrashedSession, p *page.Page) {
	if len(list) == 0 {
		p.Line("The trash is empty.")
		return
	}
	var rows [][]page.Cell
	for _, t := range list {
		// A note that cannot be read leaves no reason.
		reason := ""
		if t.Note != nil {
			reason = t.Note.Reason
		}
		rows = append(rows, []page.Cell{sessionName(a, t.SessionID.String(), t.Runs, p), {Text: titleOfRuns(t.Runs)},
			{Text: reason}, {Text: a.Ago(t.TrashedAtMs)}})
	}
	p.Table([]page.Column{{Title: "SESSION"}, {Title: "TITLE", Flex: true}, {Title: "REASON", Flex: true, Spare: true},
		{Title: "DELETED", Right: true}}, rows)
	p.Line("%s", p.Dim("Take one back: "+a.Command("sessions", "restore", "SESSION")))
}

// sessionName is how a table names a session: by the beginning of its first
// run's id, which all commands accept; by its whole id in a pipe, and where no
// run can be read.
func sessionName(a *cli.App, whole string, runs []engine.RunName, p *page.Page) page.Cell {
	if p.Width == 0 || len(runs) == 0 {
		return page.Cell{Text: whole, Paint: p.Bold}
	}
	return page.Cell{Text: page.ShortRun(runs[0].RunID), Paint: p.Bold}
}

// titleOfRuns is the title of a session's first run, and how many more there
// are.
func titleOfRuns(runs []engine.RunName) string {
	switch len(runs) {
	case 0:
		return "no run that can be read"
	case 1:
		return runs[0].Title
	}
	return runs[0].Title + ", and " + page.Plural(len(runs)-1, "more run")
}
