package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
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
	cmd := &cobra.Command{
		Use:     "delete (SESSION|RUN… | --empty-trash)",
		Short:   "Move sessions to the trash, or empty the trash",
		Long:    sessionsDeleteLong,
		Example: "  waybill sessions delete k3j2a7 --reason \"A trial\"\n  waybill sessions delete --empty-trash --yes",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.emptyTrash || in.emptyTrash && in.reason != "" {
				return cli.UsageFault(cmd, "'%s' requires sessions or runs, or --empty-trash alone", cmd.CommandPath())
			}
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			if in.emptyTrash {
				return emptyTrash(cmd.Context(), a, o, in.yes)
			}
			return deleteSessions(cmd.Context(), a, o, upkeep.DeleteRequest{Refs: args, Reason: in.reason}, in.yes)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.reason, "reason", "", "record `TEXT` as the reason")
	f.BoolVar(&in.yes, "yes", false, "confirm without being asked")
	f.BoolVar(&in.emptyTrash, "empty-trash", false, "permanently remove all sessions in the trash")
	return cmd
}

// deleteSessions moves sessions to the trash. If one of them is kept, the call is
// refused before the question and none is deleted. A run as argument selects its
// whole session, which may have other runs; the question lists the sessions.
func deleteSessions(ctx context.Context, a *cli.App, o *cli.Store, req upkeep.DeleteRequest, yes bool) error {
	// The user is asked only if all sessions can be deleted.
	rows, err := o.Deletable(ctx, req)
	if err != nil {
		return err
	}
	// The engine checks the sessions again below: they may have changed while the
	// user was asked.
	err = a.Confirm(yes, "Move "+page.Plural(len(rows), "session")+" to the trash?",
		func(p *page.Page) { showSessions(a, upkeep.SessionList{Sessions: rows}, p) })
	if err != nil {
		return err
	}
	done, err := o.DeleteSessions(ctx, a.Caller(), req)
	if err != nil {
		return err
	}
	return a.Answer("deleted", done, func(p *page.Page) {
		for _, s := range done.Sessions {
			p.Line("%s %s is in the trash.", p.Good("✓"), page.Clean(titleOfRuns(s.Runs)))
		}
		if len(done.Sessions) > 0 {
			p.Line("%s", p.Dim("Restore it: "+a.Command("sessions", "restore", done.Sessions[0].SessionID.String())))
		}
	})
}

// emptyTrash asks and removes the sessions in the trash. Objects that only they
// referred to are removed by the next gc. An empty trash is no error.
func emptyTrash(ctx context.Context, a *cli.App, o *cli.Store, yes bool) error {
	list, err := o.Trashed(ctx)
	if err != nil {
		return err
	}
	// Emptying an empty trash requires no confirmation.
	if len(list) > 0 {
		err := a.Confirm(yes, "Remove "+page.Plural(len(list), "session")+" permanently?",
			func(p *page.Page) { showTrash(a, list, p) })
		if err != nil {
			return err
		}
	}
	done, err := o.EmptyTrash(ctx, a.Caller())
	if err != nil {
		return err
	}
	return a.Answer("trash_emptied", done, func(p *page.Page) {
		if len(done.Sessions) == 0 {
			p.Line("The trash is empty already.")
			return
		}
		p.Line("%s %s removed permanently.", p.Good("✓"), page.Plural(len(done.Sessions), "session"))
		p.Line("%s", p.Dim("Remove objects that nothing refers to: "+a.Command("gc", "--apply")))
	})
}
