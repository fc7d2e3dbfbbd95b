// Package work holds the commands that carry out a workflow:
//
//   - start and run begin a run; run also performs it
//   - continue hands in what was done, and shows the next step
//   - checkpoint keeps what is done so far, approve is a person's consent
//   - fork begins another run from a node, resume finds the one that was left
//
// Programs name a place by the tokens of the last answer, people by the run.
// Files are read and checked before the store is opened, so that a call that is
// refused leaves no store behind. What a step demands, and whether an attempt
// meets it, is decided by the engine; a blocked attempt ends with exit status 3.
//
// Package runview below it is the terminal view of 'waybill run'.
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

// runLong is what 'waybill run --help' prints above the usage.
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

// NewRun makes the command "run". It starts a run, or takes up one with --run,
// and performs it until it is complete or needs a person who is not there.
// Commands need trust. A run that waits ends with exit status 3; a failed
// command ends with 1, and the run can be taken up again.
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

// runInput is what the flags of run say. ref is the run to take up, "" where
// one is started.
type runInput struct {
	// ref is the run to take up.
	ref   string
	start startInput
	trust bool
	yes   bool
	quiet bool
	notes string
	// notesGiven tells empty notes from none: both are answers.
	notesGiven bool
}

// flags adds the flags of run to the command.
func (in *runInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.ref, "run", "", "go on with the run `ID`: an id, the beginning of one, or @last")
	f.BoolVar(&in.trust, "trust", false, "let this call run the workflow's commands")
	f.BoolVar(&in.yes, "yes", false, "give every confirmation that is asked for")
	f.StringVar(&in.notes, "notes", "", "answer every step that needs a person with `TEXT`")
	f.BoolVar(&in.quiet, "quiet", false, "show only questions and what went wrong")
	in.start.flags(cmd)
}

// check refuses calls that name both a workflow and a run, or neither, and
// flags of a start with --run.
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

// options are the answers that the flags give in advance. Context and
// preferences go with the start of a new run, and with the first attempt of one
// that is taken up.
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

// runRun starts or finds a run and performs it to its end. What is given is
// read before the store is opened, so that a refused call leaves no store
// behind. Signals are caught only once the store is open.
//
// An interruption stops the command of the step and leaves the step pending:
// the run can be taken up again, and what was acknowledged is not done again.
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
	// The stage lives as long as the call, also where the run cannot be
	// started.
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

// begin starts the run once it is clear that its commands may run: a refusal
// leaves nothing behind. The person is asked for trust here where that is
// possible.
func (s *stage) begin(ctx context.Context, ref string, req engine.Start, opts perform.Options) (engine.Position,
	error) {
	var none engine.Position
	// Trust comes before the start: a run that may not go on is not started.
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

// trustWith is err, but for WORKFLOW_UNTRUSTED with a suggestion that names
// ref, a file, id or hash: the command that shows what would run and asks.
func trustWith(a *cli.App, ref string, err error) error {
	if !fault.Is(err, fault.WorkflowUntrusted) || ref == "" {
		return err
	}
	return fault.Of(err).Suggest("'%s' shows its commands and asks; --trust allows this one call.",
		a.Command("trust", ref))
}

// carry performs the run and prints its end: the summary for people, and the
// document "run" with --json. Errors come after what is on the screen. A
// workflow that is not trusted gets a suggestion that names it by its hash.
func (s *stage) carry(ctx context.Context, at engine.Position, opts perform.Options) error {
	report, err := s.performer.Perform(ctx, at.Session, at.Run, opts)
	if err != nil {
		s.view.Stopped()
		hash, _ := fault.Of(err).Details["workflowHash"].(string)
		return trustWith(s.app, hash, err)
	}
	// People have seen the run; a program gets its state as a document.
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

// notStarted is the error for an interruption before a run was recorded: the
// same call can be sent again. Other errors are returned as they are.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fault.New(fault.Interrupted, "interrupted; no run was begun").Suggest("Send the same command again.")
	}
	return err
}

// handIn is the command line that hands something in for a run from another
// terminal.
func handIn(a *cli.App, run id.Run, more ...string) string {
	return a.Command(append([]string{"continue", "--run", page.ShortRun(run)}, more...)...)
}

// goOn is the command line that takes up a run.
func goOn(a *cli.App, run id.Run, more ...string) string {
	return a.Command(append([]string{"run", "--run", page.ShortRun(run)}, more...)...)
}
