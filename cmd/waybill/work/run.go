// Package work implements the commands that perform a workflow:
//
//   - start starts a run; run also performs its steps
//   - continue submits the output of a step and shows the next step
//   - checkpoint records intermediate results, approve the approval of a person
//   - fork starts a run from a node of another run, resume finds runs to continue
//
// Programs name a step by the tokens of the last answer, people name the run. Input files are
// read and checked before the store is opened, so that a rejected call does not create a
// store. The engine decides what a step requires and whether an attempt is accepted; a blocked
// attempt ends with exit status 3.
//
// Package runview is the terminal view of 'waybill run'.
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
const runLong = `Perform a workflow to its end: show each step, run its command or ask you for notes, and
record the result before the next step starts.

A run can be stopped at any time, by Ctrl-C, a crash or a power cut, and continued with
--run: acknowledged steps are not repeated. An interrupted command is started again, with
the same WAYBILL_ATTEMPT_ID in its environment.

Commands run only if this version of the workflow is trusted: by your answer at the
prompt, by 'waybill trust', or for one call by --trust. They run in the current
directory, without a shell and without a terminal.

If stdin or stdout is not a terminal, a step that needs a person ends the command with
exit status 3 and a message that shows how to continue. Trust, confirmations and approvals
are asked for only if stdin, stdout and stderr are the terminal. --notes answers every such step
that needs only notes, --yes every confirmation. Approvals cannot be automated: they
need a person at a terminal, here or with 'waybill approve'.`

// NewRun returns the command "run". It starts a run, or continues one with --run, and performs
// it until it is complete or needs a person who is not present. Commands need trust. A waiting
// run ends with exit status 3, a failed command with 1; in both cases the run can be continued.
func NewRun(a *cli.App) *cobra.Command {
	var in runInput
	cmd := &cobra.Command{
		Use:     "run FILE|ID",
		GroupID: cli.GroupRun,
		Short:   "Perform a workflow, or continue a run",
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

// runInput holds the flags of run.
type runInput struct {
	// ref is the run to continue, "" to start one.
	ref string
	// start holds context and preferences, and for a new run title and key.
	start startInput
	trust bool // allow the commands in this call, without recording trust
	yes   bool // answer confirmations with yes; does not approve
	quiet bool
	// notes answer each step that needs only notes.
	notes string
	// notesGiven distinguishes empty notes, which are an answer, from no --notes.
	notesGiven bool
}

// flags adds the flags of run to the command.
func (in *runInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.ref, "run", "", "continue the run `ID`: an id, a prefix of an id, or @last")
	f.BoolVar(&in.trust, "trust", false, "allow the workflow's commands in this call")
	f.BoolVar(&in.yes, "yes", false, "answer every confirmation with yes")
	f.StringVar(&in.notes, "notes", "", "use `TEXT` as the notes of every step that needs a person")
	f.BoolVar(&in.quiet, "quiet", false, "print only questions and errors")
	in.start.flags(cmd)
}

// check returns USAGE_ERROR for calls that name both a workflow and a run, or neither, and for
// flags of a start together with --run.
func (in *runInput) check(cmd *cobra.Command, args []string) error {
	switch {
	case in.ref == "" && len(args) == 0:
		return cli.UsageFault(cmd, "'%s' needs FILE or ID, or --run with a run to continue", cmd.CommandPath())
	case in.ref != "" && len(args) > 0:
		return cli.UsageFault(cmd, "--run continues a run and cannot be combined with the workflow %q", args[0])
	case in.ref != "" && (in.start.title != "" || in.start.key != ""):
		return cli.UsageFault(cmd, "--title and --key are for a new run and cannot be combined with --run")
	}
	return nil
}

// options returns the answers that the flags give in advance. With --run they include context
// and preferences for the first attempt; for a new run those are part of the start.
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

// runRun starts or finds a run and performs it to its end. Input is read before the store is
// opened, so that a rejected call does not create a store. Signals are caught once the store
// is open.
//
// An interruption stops the command of the step and leaves the step pending: the run can be
// continued, and acknowledged steps are not repeated.
func runRun(ctx context.Context, a *cli.App, in *runInput, args []string) error {
	opts, err := in.options(a)
	if err != nil {
		return err
	}
	// A new run needs its workflow; with --run the pinned one is used.
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
	s := newRunner(a, o, in)
	defer s.commands.Close()
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
	return s.perform(ctx, at, opts)
}

// begin starts the run after its commands were found to be trusted, so that a refusal records
// nothing. If a person is present, the performer requests trust here. Without trust the error
// is WORKFLOW_UNTRUSTED.
func (s *runner) begin(ctx context.Context, ref string, req engine.Start, opts perform.Options) (engine.Position,
	error) {
	var none engine.Position
	// Trust is checked before the start: a run that could not continue is not started.
	if err := s.performer.Allow(ctx, req.Workflow, opts); err != nil {
		return none, suggestTrust(s.app, ref, err)
	}
	seed, err := s.app.Seed()
	if err != nil {
		return none, err
	}
	answer, err := s.store.Start(ctx, s.app.Caller(), seed, req)
	return answer.Position(), err
}

// suggestTrust adds to WORKFLOW_UNTRUSTED the suggestion of 'waybill trust' with ref, a file,
// id or hash. Other errors are returned unchanged.
func suggestTrust(a *cli.App, ref string, err error) error {
	if !fault.Is(err, fault.WorkflowUntrusted) || ref == "" {
		return err
	}
	return fault.Of(err).Suggest("%s shows its commands and asks for trust; --trust allows them in one call.",
		a.StoreCommand("trust", ref))
}

// perform performs the run and prints its result: a summary for people, the document "run" with
// --json. The screen is cleared of the spinner before an error is returned. The suggestion for
// an untrusted workflow names it by its hash.
func (s *runner) perform(ctx context.Context, at engine.Position, opts perform.Options) error {
	report, err := s.performer.Perform(ctx, at.Session, at.Run, opts)
	if err != nil {
		s.view.Stopped()
		hash, _ := fault.Of(err).Details["workflowHash"].(string)
		return suggestTrust(s.app, hash, err)
	}
	// People have seen the steps; a program gets the state of the run as a document.
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

// notStarted returns INTERRUPTED for an interruption before the run was recorded, after which
// the same call can be repeated. Other errors are returned unchanged.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fault.New(fault.Interrupted, "interrupted before the run was started").
			Suggest("Repeat the same command.")
	}
	return err
}

// submitLine returns the command line that submits output for a run from another terminal.
func submitLine(a *cli.App, run id.Run, more ...string) fault.Command {
	return a.StoreCommand(append([]string{"continue", "--run", page.ShortRun(run)}, more...)...)
}

// continueLine returns the command line that continues a run.
func continueLine(a *cli.App, run id.Run, more ...string) fault.Command {
	return a.StoreCommand(append([]string{"run", "--run", page.ShortRun(run)}, more...)...)
}
