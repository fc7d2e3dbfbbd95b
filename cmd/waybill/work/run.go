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
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// runLong is what 'waybill run --help' prints above the usage.
const runLong = `Perform a workflow to its end: show each step, run its command or ask you for notes, and
record the result before the next step starts.

A run can be stopped at any time, by Ctrl-C, a crash or a power cut, and continued with
--run: acknowledged steps are not repeated. An interrupted command is started again, with
the same WAYBILL_ATTEMPT_ID in its environment.

Commands run only if this version of the workflow is trusted: by your answer at the
prompt, by 'waybill trust', or for one call by --trust, which is for the version of FILE
or ID and for no other. To continue a run without a terminal, give FILE or ID as well:
--trust allows its commands if the run is pinned to that version. Commands run in the
current directory, without a shell and without a terminal. The checks of a step run under
the same trust when it is handed in, and have to pass before the next step is shown.

At a question b, alone on the line, goes back: it shows the steps before, and the one that
you choose is done again; a space before the b makes it text. --at does the same for a run
to continue. The run continues from there on a branch of its own, and nothing of what was
recorded before is changed.

With --key the same KEY performs the run that it started before. A key of an imported
session, or of a run of another workflow, is refused with exit status 2.

If stdin or stdout is not a terminal, a step that needs a person ends the command with
exit status 3 and a message that shows how to continue. Trust, confirmations and approvals
are asked for only if stdin, stdout and stderr are the terminal. --notes answers every such step
that needs only notes, --yes every confirmation. Approvals cannot be automated: they
need a person at a terminal, here or with 'waybill approve'; the answer e there changes the
notes first. Notes of up to 1 MiB are kept whole.`

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
  waybill run ./release.yaml --run @last --trust
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
	// ref is the run to continue, "" to start one. With trust, FILE or ID names what is trusted.
	ref string
	at  string // the node to continue from, "" for the current one
	// start holds context and preferences, and for a new run title and key.
	start startInput
	trust bool // allow the commands of FILE or ID in this call, without recording trust
	yes   bool // answer confirmations with yes; does not approve
	quiet bool
	// notes answer each step that needs only notes.
	notes string
	// notesGiven distinguishes empty notes, which are an answer, from no --notes.
	notesGiven bool
}

// flags adds the flags of run to the command.
func (in *runInput) flags(cmd *cobra.Command) {
	cli.WithOptions(cmd, cli.Opt(&in.ref, "run RUN", "continue RUN: its id, a prefix of the id, or @last"))
	atFlag(cmd, &in.at)
	cli.WithOptions(cmd,
		cli.Opt(&in.trust, "trust", "allow the commands of FILE or ID in this call"),
		cli.Opt(&in.yes, "yes", "answer every confirmation with yes"),
		cli.Opt(&in.notes, "notes TEXT", "use TEXT as the notes of every step that needs a person"),
		cli.Opt(&in.quiet, "quiet", "print only questions and errors"))
	in.start.flags(cmd)
}

// check returns USAGE_ERROR for calls that name both a workflow and a run, or neither, and for
// flags of a start together with --run.
func (in *runInput) check(cmd *cobra.Command, args []string) error {
	switch {
	case in.ref == "" && len(args) == 0:
		return cli.UsageFault(cmd, "'%s' needs FILE or ID, or --run with a run to continue", cmd.CommandPath())
	case in.at != "" && in.ref == "":
		return cli.UsageFault(cmd, "--at needs --run").Suggest("Name the run that has the node.")
	case in.ref != "" && len(args) > 0 && !in.trust:
		return cli.UsageFault(cmd, "--run continues a run and cannot be combined with the workflow %q", args[0])
	case in.ref != "" && len(args) == 0 && in.trust:
		return cli.UsageFault(cmd, "--trust allows the commands of FILE or ID, and --run alone names neither").
			Suggest("Name what the run was started from, as in %s, or record trust with %s at a terminal.",
				fault.Command{"run", "FILE", "--run", in.ref, "--trust"}, fault.Command{"trust", "FILE"})
	case in.ref != "" && (in.start.title != "" || in.start.key != "" || in.start.tags != ""):
		return cli.UsageFault(cmd, "--title, --tags and --key are for a new run and cannot be combined with --run")
	}
	return nil
}

// options returns the answers that the flags give in advance. With --run they include context
// and preferences for the first attempt; for a new run those are part of the start.
func (in *runInput) options(a *cli.App) (perform.Options, error) {
	o := perform.Options{Yes: in.yes, NoWait: a.Flags.JSON}
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
	// A new run needs its workflow; with --run the pinned one is used, and a workflow only names
	// what --trust is for.
	var begin engine.Start
	if in.ref == "" {
		begin, err = in.start.request(ctx, a, args[0])
	} else if in.trust {
		begin.Workflow, err = named(ctx, a, args[0])
	}
	if err != nil {
		return err
	}
	if in.trust {
		opts.Trust = begin.Workflow.Hash()
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	// What a key names is decided first: before trust is asked for, and before anything runs.
	recorded, flow, err := findRecorded(ctx, o, begin)
	if err != nil {
		return err
	}
	ref := ""
	if in.ref == "" && flow.Hash() == begin.Workflow.Hash() {
		ref = args[0]
	}
	s := newRunner(a, o, in, ref)
	defer s.commands.Close()
	ctx, stop := interruptible(ctx, s.view)
	defer stop()

	var at engine.Position
	if in.ref != "" {
		at, err = locate(ctx, o, in.ref, in.at)
		if in.at != "" {
			opts.At = at.Node
		}
	} else {
		log := a.Log()
		for _, w := range in.start.named {
			log.Warn().Msg(w.Message)
		}
		at, err = s.begin(ctx, begin, flow, recorded, opts)
	}
	if err != nil {
		s.view.Stopped()
		return notStarted(ctx, err)
	}
	if in.ref != "" || recorded != "" {
		s.warnDrift(ctx, at)
	}
	return s.perform(ctx, at, opts)
}

// named returns the workflow that FILE or ID names.
func named(ctx context.Context, a *cli.App, ref string) (compile.Compiled, error) {
	w, err := a.Workflow(ctx, ref)
	return w.Compiled, err
}

// findRecorded returns the run that the key of a start names, and the workflow that would be
// performed: the version that the recorded run is pinned to, else that of the start. Without a key
// there is no such run. Errors: START_KEY_TAKEN if the key names something else, USAGE_ERROR if it is
// reserved and names nothing.
func findRecorded(ctx context.Context, o *cli.Store, req engine.Start) (ref string, w compile.Compiled, err error) {
	w = req.Workflow
	found, ok, err := o.Starts().Find(ctx, req.Key, w.WorkflowID)
	if err == nil && !ok {
		err = startkey.CheckReserved(req.Key) // before trust is asked for
	}
	if err != nil || !ok {
		return "", w, err
	}
	if found.WorkflowHash != w.Hash() {
		w, err = o.Workflow(ctx, found.WorkflowHash)
	}
	return found.Run.String(), w, err
}

// begin starts the run after the commands of flow, the workflow that will be performed, were found
// to be trusted, so that a refusal records nothing. If a person is present, the performer requests
// trust here. Without trust the error is WORKFLOW_UNTRUSTED. recorded is the run that the start
// answers with, "" for a new one.
func (s *runner) begin(ctx context.Context, req engine.Start, flow compile.Compiled, recorded string,
	opts perform.Options) (engine.Position, error) {
	var none engine.Position
	if recorded != "" {
		// A run that is complete performs nothing, so it needs no trust.
		_, answer, err := currentStep(ctx, s.store, recorded)
		if err != nil {
			return none, err
		}
		if answer.IsComplete {
			flow = compile.Compiled{}
		}
	}
	// Trust is checked before the start: a run that could not continue is not started. The question
	// shows the values with which it would be.
	if recorded == "" {
		opts.Context = req.Context
	}
	if err := s.performer.Allow(ctx, flow, origin.SourceName(req.SourceKind, req.SourceRef), opts); err != nil {
		return none, s.suggestTrust(flow.Hash().String(), err)
	}
	seed, err := s.app.Seed()
	if err != nil {
		return none, err
	}
	answer, err := s.store.Start(ctx, s.store.Caller(), seed, req)
	log := s.app.Log()
	for _, w := range warning.MapCommands(answer.Warnings, s.app.OfStore) {
		if w.Code != warning.VariableAbsent { // the step shows it
			log.Warn().Msg(w.Message)
		}
		if w.Code == warning.SecretSuspected {
			s.suspected = append(s.suspected, perform.Suspected{Warning: w})
		}
	}
	for _, f := range answer.Redactions {
		log.Warn().Msg("redacted: " + f.Pointer + " (" + string(f.Rule) + ")")
	}
	s.redactions = answer.Redactions
	return answer.Position(), err
}

// warnDrift logs that the file from which a recorded run was started is another version now, and keeps the
// warning for the document.
func (s *runner) warnDrift(ctx context.Context, at engine.Position) {
	answer, err := s.store.Rehydrate(ctx, at)
	if err != nil || answer.Pending == nil {
		return // the run itself reports what is wrong
	}
	if s.drift = cli.Drift(ctx, s.app, cli.PinnedOf(answer)); s.drift != nil {
		log := s.app.Log()
		log.Warn().Msg(s.drift.Message)
	}
}

// suggestTrust adds to WORKFLOW_UNTRUSTED the suggestion of 'waybill trust': with the file or id of
// the command line if that is the version to perform, else with its hash. --trust is suggested only
// in the first case, since it is for what the command line names. Other errors are returned
// unchanged.
func (s *runner) suggestTrust(hash string, err error) error {
	switch {
	case !fault.Is(err, fault.WorkflowUntrusted) || hash == "":
		return err
	case s.ref != "":
		return fault.Of(err).Suggest("%s shows its commands and asks for trust; --trust allows them in one call.",
			s.app.StoreCommand("trust", s.ref))
	}
	return fault.Of(err).Suggest("%s shows its commands and asks for trust. --trust allows them in one call if the "+
		"command line names a file or id of this version.", s.app.StoreCommand("trust", hash))
}

// perform performs the run and prints its result: a summary for people, the document "run" with
// --json. The screen is cleared of the spinner before an error is returned. The suggestion for
// an untrusted workflow names it by its hash.
func (s *runner) perform(ctx context.Context, at engine.Position, opts perform.Options) error {
	report, err := s.performer.Perform(ctx, at.Session, at.Run, opts)
	if err != nil {
		s.view.Stopped()
		s.view.KeepWritten()
		hash, _ := fault.Of(err).Details["workflowHash"].(string)
		return s.suggestTrust(hash, err)
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
	for _, w := range slices.Concat(s.suspected, report.Suspected) {
		run.Warnings = append(run.Warnings, views.StepWarningOf(w.Warning, w.StepID))
	}
	if s.drift != nil {
		run.Warnings = append(run.Warnings, views.StepWarningOf(*s.drift, ""))
	}
	return cli.AnswerRedacted(s.app, "run", run, s.redactions, nil)
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
