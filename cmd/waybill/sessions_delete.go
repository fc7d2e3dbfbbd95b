package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
)

const sessionsDeleteLong = `Move sessions to the trash, each with all of its runs. What lies there is in no list any
more; 'waybill sessions restore' takes it back, and 'waybill gc --apply' removes it for
good once it is old enough (trashDays of the configuration). A session that is kept, or
that somebody is at work with, is refused.

--empty-trash removes what lies in the trash now, for good.

At a terminal you are asked first; without one --yes has to say so.`

// deleteInput is what the flags of delete say.
type deleteInput struct {
	reason     string
	yes        bool
	emptyTrash bool
}

func newSessionsDeleteCommand(a *app) *cobra.Command {
	var in deleteInput
	cmd := &cobra.Command{
		Use:     "delete (SESSION|RUN… | --empty-trash)",
		Short:   "Move sessions to the trash, or empty it",
		Long:    sessionsDeleteLong,
		Example: "  waybill sessions delete k3j2a7 --reason \"A trial\"\n  waybill sessions delete --empty-trash --yes",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) != in.emptyTrash || in.emptyTrash && in.reason != "" {
				return usageFault(cmd, "'%s' wants sessions or runs, or --empty-trash alone", cmd.CommandPath())
			}
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			if in.emptyTrash {
				return a.emptyTrash(cmd.Context(), o, in.yes)
			}
			return a.deleteSessions(cmd.Context(), o, engine.DeleteRequest{Refs: args, Reason: in.reason}, in.yes)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.reason, "reason", "", "put `TEXT` on record")
	f.BoolVar(&in.yes, "yes", false, "do it without being asked")
	f.BoolVar(&in.emptyTrash, "empty-trash", false, "remove what lies in the trash, for good")
	return cmd
}

func (a *app) deleteSessions(ctx context.Context, o *opened, req engine.DeleteRequest, yes bool) error {
	// What cannot go is said before anybody is asked.
	rows, err := o.Deletable(ctx, req)
	if err != nil {
		return err
	}
	err = a.sure(yes, "Move "+plural(len(rows), "session")+" to the trash?",
		func(p *page) { a.tellSessions(engine.SessionList{Sessions: rows}, p) })
	if err != nil {
		return err
	}
	done, err := o.DeleteSessions(ctx, a.caller(), req)
	if err != nil {
		return err
	}
	return a.answer("deleted", done, func(p *page) {
		for _, s := range done.Sessions {
			p.line("%s %s is in the trash.", p.good("✓"), clean(titleOfRuns(s.Runs)))
		}
		if len(done.Sessions) > 0 {
			p.line("%s", p.dim("Take it back: "+a.command("sessions", "restore", done.Sessions[0].SessionID.String())))
		}
	})
}

func (a *app) emptyTrash(ctx context.Context, o *opened, yes bool) error {
	list, err := o.Trashed(ctx)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		err := a.sure(yes, "Remove "+plural(len(list), "session")+" for good?", func(p *page) { a.tellTrash(list, p) })
		if err != nil {
			return err
		}
	}
	done, err := o.EmptyTrash(ctx, a.caller())
	if err != nil {
		return err
	}
	return a.answer("trash_emptied", done, func(p *page) {
		if len(done.Sessions) == 0 {
			p.line("The trash is empty already.")
			return
		}
		p.line("%s %s removed for good.", p.good("✓"), plural(len(done.Sessions), "session"))
		p.line("%s", p.dim("What nothing else needs of them goes with: "+a.command("gc", "--apply")))
	})
}
