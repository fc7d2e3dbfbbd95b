// Package work holds the commands that carry out a workflow: start and run, continue,
// checkpoint, approve, fork and resume. It reads what the caller hands in and shows the
// pending step; package runview below it is the terminal view of 'waybill run'.
package work

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
)

const runLong = `Carry a workflow through to its end: show each step, run its command or ask you for
notes, and put on record what came of it before the next one begins.

A run can be stopped at any moment, by Ctrl-C, a crash or a power cut, and taken up
again with --run: what was acknowledged is not done again. A command that was cut off
starts over, with the same WAYBILL_ATTEMPT_ID in its environment.

Commands run only when you have trusted this version of the workflow: at the prompt,
with 'waybill trust', or for this call with --trust. They run in the folder that you
are in, without a shell and without a terminal.

Without a terminal, to type on and to be shown the steps on, a step that needs a
person ends the command with exit status 3 and says how to go on; --notes answers
every such step that wants nothing else, --yes every confirmation. Neither approves: that is
for a person at a terminal, here or with 'waybill approve'.`

func NewRun(a *cli.App) *cobra.Command {
	var in runInput
	cmd := &cobra.Command{
		Use:     "run FILE|ID",
		GroupID: cli.GroupWork,
		Short:   "Carry out a workflow, or go on with a run",
		Long:    runLong,
		Example: `  waybill run ./release.yaml
  waybill run ./release.yaml --set version=2.4 --title "Release 2.4"
  waybill run --run @last
  waybill run ./nightly.yaml --trust --yes --notes "unattended" --json`,
		Args: cli.AtMost("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.notesGiven = cmd.Flags().Changed("notes")
			if err := in.check(cmd, args); err != nil {
				return err
			}
			return runRun(cmd.Context(), a, &in, args)
		},
	}
	in.flags(cmd)
	return cmd
}

// runInput is what a caller of run says.
type runInput struct {
	ref        string
	start      startInput
	trust      bool
	yes        bool
	quiet      bool
	notes      string
	notesGiven bool
}

func (in *runInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.ref, "run", "", "go on with the run `ID`: an id, the beginning of one, or @last")
	f.BoolVar(&in.trust, "trust", false, "let this call run the workflow's commands")
	f.BoolVar(&in.yes, "yes", false, "give every confirmation that is asked for")
	f.StringVar(&in.notes, "notes", "", "answer every step that needs a person with `TEXT`")
	f.BoolVar(&in.quiet, "quiet", false, "show only questions and what went wrong")
	in.start.flags(cmd)
}

func (in *runInput) check(cmd *cobra.Command, args []string) error {
	switch {
	case in.ref == "" && len(args) == 0:
		return cli.UsageFault(cmd, "'%s' needs FILE or ID, or --run with a run to go on with", cmd.CommandPath())
	case in.ref != "" && len(args) > 0:
		return cli.UsageFault(cmd, "--run goes on with a run; %q would begin another one", args[0])
	case in.ref != "" && (in.start.title != "" || in.start.key != ""):
		return cli.UsageFault(cmd, "--title and --key are for a run that begins; --run goes on with one")
	}
	return nil
}

// options are what the flags answer beforehand. Context and preferences go with the
// start of a run that begins, and else with the first attempt.
func (in *runInput) options(a *cli.App) (perform.Options, error) {
	o := perform.Options{Trust: in.trust, Yes: in.yes}
	if in.notesGiven {
		o.Notes = &in.notes
	}
	if in.ref == "" {
		return o, nil
	}
	var err error
	if o.Preferences, err = in.start.prefs.changes(); err != nil {
		return o, err
	}
	o.Context, err = in.start.context.read(a)
	return o, err
}

// runRun begins or finds a run and carries it to its end.
func runRun(ctx context.Context, a *cli.App, in *runInput, args []string) error {
	opts, err := in.options(a)
	if err != nil {
		return err
	}
	var begin engine.Start
	if in.ref == "" {
		if begin, err = in.start.request(ctx, a, args[0]); err != nil {
			return err
		}
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	s := newStage(a, o, in, args)
	defer s.close()
	ctx, stop := interruptible(ctx, s.view)
	defer stop()

	var at engine.Position
	if in.ref != "" {
		at, err = o.Locate(ctx, in.ref)
	} else {
		at, err = s.begin(ctx, args[0], begin, opts)
	}
	if err != nil {
		s.view.Stopped()
		return notStarted(ctx, err)
	}
	return s.carry(ctx, at, opts)
}

// begin starts the run, once it is clear that its commands may run: a refusal
// leaves nothing behind.
func (s *stage) begin(ctx context.Context, ref string, req engine.Start, opts perform.Options) (engine.Position,
	error) {
	var none engine.Position
	if err := s.performer.Allow(ctx, req.Workflow, opts); err != nil {
		return none, trustWith(s.app, ref, err)
	}
	seed, err := s.app.Seed()
	if err != nil {
		return none, err
	}
	answer, err := s.store.Start(ctx, s.app.Caller(), seed, req)
	return answer.Position(), err
}

// trustWith is err; where it says that nobody trusts the workflow, with the command
// that shows what would run and asks, ready to copy.
func trustWith(a *cli.App, ref string, err error) error {
	if !fault.Is(err, fault.WorkflowUntrusted) || ref == "" {
		return err
	}
	return fault.Of(err).Suggest("'%s' shows its commands and asks; --trust allows this one call.",
		a.Command("trust", ref))
}

// carry performs the run and shows its end.
func (s *stage) carry(ctx context.Context, at engine.Position, opts perform.Options) error {
	report, err := s.performer.Perform(ctx, at.Session, at.Run, opts)
	if err != nil {
		s.view.Stopped()
		hash, _ := fault.Of(err).Details["workflowHash"].(string)
		return trustWith(s.app, hash, err)
	}
	if !s.app.Flags.JSON {
		s.view.Summary(report, s.app.Command("runs", "show", page.ShortRun(at.Run)))
		return nil
	}
	run, err := s.store.Run(ctx, at.Run.String())
	if err != nil {
		return err
	}
	return s.app.Answer("run", run, nil)
}

// notStarted says that an interruption came before anything was there to go on with.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fault.New(fault.Interrupted, "interrupted; no run was begun").Suggest("Send the same command again.")
	}
	return err
}

// handIn is the command line that hands something in from elsewhere.
func handIn(a *cli.App, run id.Run, more ...string) string {
	return a.Command(append([]string{"continue", "--run", page.ShortRun(run)}, more...)...)
}

// goOn is the command line that takes a run up again.
func goOn(a *cli.App, run id.Run, more ...string) string {
	return a.Command(append([]string{"run", "--run", page.ShortRun(run)}, more...)...)
}
