package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// sessionsDeleteLong is what 'waybill sessions delete --help' prints above the
// usage.
const sessionsDeleteLong = `Move sessions to the trash, each with all of its runs. What lies there is in no list any
more; 'waybill sessions restore' takes it back, and 'waybill gc --apply' removes it for
good once it is old enough (trashDays of the configuration). A session that is kept, or
that somebody is at work with, is refused.

--empty-trash removes what lies in the trash now, for good.

At a terminal you are asked first; without one --yes has to say so.`

// deleteInput is what the flags of delete say. A reason goes with sessions
// only: what was deleted has one already.
type deleteInput struct {
	reason     string
	yes        bool
	emptyTrash bool
}

// newSessionsDelete makes "sessions delete". It takes sessions, or
// --empty-trash alone: the first can be undone with restore, the second cannot.
func newSessionsDelete(a *cli.App) *cobra.Command {
	var in deleteInput
	cmd := &cobra.Command{
		Use:     "delete (SESSION|RUN… | --empty-trash)",
		Short:   "Move sessions to the trash, or empty it",
		Long:    sessionsDeleteLong,
		Example: "  waybill sessions delete k3j2a7 --reason \"A trial\"\n  waybill sessions delete --empty-trash --yes",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.emptyTrash || in.emptyTrash && in.reason != "" {
				return cli.UsageFault(cmd, "'%s' wants sessions or runs, or --empty-trash alone", cmd.CommandPath())
			}
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			if in.emptyTrash {
				return emptyTrash(cmd.Context(), a, o, in.yes)
			}
			return deleteSessions(cmd.Context(), a, o, engine.DeleteRequest{Refs: args, Reason: in.reason}, in.yes)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.reason, "reason", "", "put `TEXT` on record")
	f.BoolVar(&in.yes, "yes", false, "do it without being asked")
	f.BoolVar(&in.emptyTrash, "empty-trash", false, "remove what lies in the trash, for good")
	return cmd
}

// deleteSessions moves sessions to the trash. A session that is kept is refused
// before the question, and then none of the others is deleted either. A run as
// argument means its whole session, which may have other runs; the question
// lists them.
func deleteSessions(ctx context.Context, a *cli.App, o *cli.Store, req engine.DeleteRequest, yes bool) error {
	// What cannot be deleted is refused before the question.
	// The question shows what would be moved.
	rows, err := o.Deletable(ctx, req)
	if err != nil {
		return err
	}
	err = a.Confirm(yes, "Move "+page.Plural(len(rows), "session")+" to the trash?",
		func(p *page.Page) { showSessions(a, engine.SessionList{Sessions: rows}, p) })
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
			p.Line("%s", p.Dim("Take it back: "+a.Command("sessions", "restore", done.Sessions[0].SessionID.String())))
		}
	})
}

// emptyTrash removes the sessions of the trash after a question, if there are
// any. Objects that only they referred to are removed by the next gc. An empty
// trash is an answer and no error.
func emptyTrash(ctx context.Context, a *cli.App, o *cli.Store, yes bool) error {
	list, err := o.Trashed(ctx)
	if err != nil {
		return err
	}
	// An empty trash needs no question.
	if len(list) > 0 {
		err := a.Confirm(yes, "Remove "+page.Plural(len(list), "session")+" for good?",
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
		p.Line("%s %s removed for good.", p.Good("✓"), page.Plural(len(done.Sessions), "session"))
		p.Line("%s", p.Dim("What nothing else needs of them goes with: "+a.Command("gc", "--apply")))
	})
}
