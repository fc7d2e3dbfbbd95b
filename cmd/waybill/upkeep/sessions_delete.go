package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/upkeep"
)

// sessionsDeleteLong is what 'waybill sessions delete --help' prints above the
// usage.
const sessionsDeleteLong = `Move sessions to the trash, each with all of its runs. Deleted sessions are only listed
by 'waybill sessions list --trash'. 'waybill sessions restore' undoes the deletion;
'waybill gc --apply' removes sessions permanently after trashDays of the configuration.
A session that is kept, or that another process writes to, is refused.

--empty-trash permanently removes the sessions that are in the trash now.

At a terminal the command asks for confirmation; elsewhere --yes is required.`

// deleteInput has the values of the flags of delete. reason is rejected together
// with emptyTrash, since deleted sessions have a reason already.
type deleteInput struct {
	reason     string
	yes        bool
	emptyTrash bool
}

// newSessionsDelete returns "sessions delete". It takes sessions, or --empty-trash
// alone: the first can be undone with restore, the second cannot.
func newSessionsDelete(a *cli.App) *cobra.Command {
	var in deleteInput
	return cli.WithOptions(&cobra.Command{
		Use:     "delete (SESSION|RUN… | --empty-trash)",
		Short:   "Move sessions to the trash, or empty the trash",
		Long:    sessionsDeleteLong,
		Example: "  waybill sessions delete k3j2a7 --reason \"A trial\"\n  waybill sessions delete --empty-trash --yes",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.emptyTrash || in.emptyTrash && in.reason != "" {
				return cli.UsageFault(cmd, "'%s' requires sessions or runs, or --empty-trash alone", cmd.CommandPath())
			}
			if in.emptyTrash {
				return emptyTrash(a, cmd, in.yes)
			}
			return deleteSessions(a, cmd, upkeep.DeleteRequest{Refs: args, Reason: in.reason}, in.yes)
		},
	},
		cli.Opt(&in.reason, "reason TEXT", "record TEXT as the reason"),
		cli.Opt(&in.yes, "yes", "confirm without being asked"),
		cli.Opt(&in.emptyTrash, "empty-trash", "permanently remove all sessions in the trash"))
}

// deleteSessions moves sessions to the trash. If one of them is kept, the call is
// refused before the question and none is deleted. A run as argument selects its
// whole session, which may have other runs; the question lists the sessions.
func deleteSessions(a *cli.App, cmd *cobra.Command, req upkeep.DeleteRequest, yes bool) error {
	return cli.Show(a, cmd, "deleted", func(ctx context.Context, o *cli.Store) (done upkeep.DeletedSessions,
		err error) {
		// The user is asked only if all sessions can be deleted.
		rows, err := o.Deletable(ctx, req)
		if err != nil {
			return done, err
		}
		if err := a.Confirm(yes, "Move "+page.Plural(len(rows), "session")+" to the trash?",
			func(p *page.Page) {
				showSessions(a, upkeep.SessionList{Sessions: rows}, p)
				if req.Reason != "" {
					p.Text("Reason: ", page.Name(req.Reason))
				}
			}); err != nil {
			return done, err
		}
		// The engine checks the sessions again: they may have changed while the user was asked.
		return o.DeleteSessions(ctx, o.Caller(), req)
	}, func(p *page.Page, done upkeep.DeletedSessions) {
		for _, s := range done.Sessions {
			p.Line("%s %s is in the trash.", p.Good("✓"), page.OneLine(titleOfRuns(s.Runs)))
		}
		render.Redactions(p, done.Redactions)
		if len(done.Sessions) > 0 {
			p.Line("%s", p.Dim("Restore it: "+a.Command("sessions", "restore", done.Sessions[0].SessionID.String())))
		}
	})
}

// emptyTrash asks and removes the sessions in the trash. Objects that only they
// referred to are removed by the next gc. An empty trash is no error.
func emptyTrash(a *cli.App, cmd *cobra.Command, yes bool) error {
	return cli.Show(a, cmd, "trash_emptied", func(ctx context.Context, o *cli.Store) (done upkeep.DeletedSessions,
		err error) {
		list, err := o.Trashed(ctx)
		// Emptying an empty trash requires no confirmation.
		if err == nil && len(list) > 0 {
			err = a.Confirm(yes, "Remove "+page.Plural(len(list), "session")+" permanently?",
				func(p *page.Page) { showTrash(a, list, p) })
		}
		if err != nil {
			return done, err
		}
		return o.EmptyTrash(ctx, o.Caller())
	}, func(p *page.Page, done upkeep.DeletedSessions) {
		if len(done.Sessions) == 0 {
			p.Line("The trash is empty already.")
			return
		}
		p.Line("%s %s removed permanently.", p.Good("✓"), page.Plural(len(done.Sessions), "session"))
		p.Line("%s", p.Dim("Remove objects that nothing refers to: "+a.Command("gc", "--apply")))
	})
}
