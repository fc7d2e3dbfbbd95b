package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/manifest"
)

const sessionsLong = `A session is one log: mostly one run, sometimes several that began in it. It is what is
kept, deleted, exported and verified as one.`

func newSessionsCommand(a *app) *cobra.Command {
	return newGroup("sessions", groupStore, "List, keep, delete and restore sessions", sessionsLong,
		newSessionsListCommand(a), newSessionsKeepCommand(a), newSessionsDeleteCommand(a), newSessionsRestoreCommand(a))
}

func newSessionsListCommand(a *app) *cobra.Command {
	var trash bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the store, or what lies in the trash",
		Long: `List the sessions of the store, the one that something happened to last first, with the
runs in each and whether it is kept. With --trash, list the deleted ones instead. The
JSON document always holds both.`,
		Example: "  waybill sessions list\n  waybill sessions list --trash",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			list, err := o.SessionList(cmd.Context())
			if err != nil {
				return err
			}
			return a.answer("sessions", list, func(p *page) {
				if trash {
					a.tellTrash(list.Trash, p)
				} else {
					a.tellSessions(list, p)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&trash, "trash", false, "what was deleted and can be restored")
	return cmd
}

func (a *app) tellSessions(list engine.SessionList, p *page) {
	var rows [][]cell
	for _, s := range list.Sessions {
		state := cell{}
		switch {
		case s.Health != manifest.Healthy:
			state = cell{text: toldHealth(s.Health), paint: p.bad}
		case s.Kept:
			state = cell{text: "kept", paint: p.good}
		}
		rows = append(rows, []cell{a.sessionName(s.SessionID.String(), s.Runs, p), {text: titleOfRuns(s.Runs)}, state,
			{text: itoa(int(s.Events))}, {text: a.ago(s.LastAtMs)}})
	}
	if len(rows) == 0 {
		p.line("No sessions yet.")
	} else {
		p.table([]column{{title: "SESSION"}, {title: "TITLE", flex: true}, {title: "STATE"},
			{title: "EVENTS", right: true}, {title: "LAST", right: true, spare: true}}, rows)
	}
	if len(list.Trash) > 0 {
		p.line("%s", p.dim(plural(len(list.Trash), "session")+" in the trash: "+
			a.command("sessions", "list", "--trash")))
	}
}

func (a *app) tellTrash(list []engine.TrashedSession, p *page) {
	if len(list) == 0 {
		p.line("The trash is empty.")
		return
	}
	var rows [][]cell
	for _, t := range list {
		reason := ""
		if t.Note != nil {
			reason = t.Note.Reason
		}
		rows = append(rows, []cell{a.sessionName(t.SessionID.String(), t.Runs, p), {text: titleOfRuns(t.Runs)},
			{text: reason}, {text: a.ago(t.TrashedAtMs)}})
	}
	p.table([]column{{title: "SESSION"}, {title: "TITLE", flex: true}, {title: "REASON", flex: true, spare: true},
		{title: "DELETED", right: true}}, rows)
	p.line("%s", p.dim("Take one back: "+a.command("sessions", "restore", "SESSION")))
}

// sessionName is what people call a session by: its first run, whose short name all
// commands take. In a pipe it is the whole id, to be cut out and used.
func (a *app) sessionName(whole string, runs []engine.RunName, p *page) cell {
	if p.width == 0 || len(runs) == 0 {
		return cell{text: whole, paint: p.bold}
	}
	return cell{text: shortRun(runs[0].RunID), paint: p.bold}
}

func titleOfRuns(runs []engine.RunName) string {
	switch len(runs) {
	case 0:
		return "no run that can be read"
	case 1:
		return runs[0].Title
	}
	return runs[0].Title + ", and " + plural(len(runs)-1, "more run")
}
