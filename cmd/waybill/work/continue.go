package work

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// continueLong is what 'waybill continue --help' prints above the usage.
const continueLong = `Show the pending step of a run, or submit its output and show the next step.

Programs name the step by the tokens of the last answer. With --state alone nothing is
written and the pending step is shown again. With --state and --ack the step is
acknowledged. The call is idempotent: repeating it returns the same answer and changes
nothing, so a call whose answer was lost can be repeated at any time.

People name the run: --run takes its id, a prefix of the id, or @last. Notes, context,
preferences or artifacts acknowledge the step; --done acknowledges it without any.

With --at the call is about an earlier step of the run. Without input that step is shown;
with input it is done again, and the run continues from there on a branch of its own.
Nothing of what was recorded before is changed; 'waybill runs graph' shows all branches.

The output is checked first. If it is not accepted (exit status 3), the attempt is
recorded, the answer lists what is missing, and the step stays pending.

A step with checks is handed in by running them, which can take minutes. They run only
under trust that a person recorded with 'waybill trust'; without it the call ends with
exit status 3 (WORKFLOW_UNTRUSTED) and nothing runs or is recorded. A check that fails, or
whose pinned files changed (check_changed), is one of the reasons why the output is not
accepted: correct the work, not the tests, and hand the step in again.`

// continueInput holds the flags of continue. The step is named by run or by state. ack
// acknowledges with tokens, done with run.
type continueInput struct {
	// The tokens of an answer, for programs.
	state string
	ack   string
	// The run, for people.
	run   string
	at    string // the node to continue from, "" for the current one
	done  bool
	given outputInput
}

// NewContinue returns the command "continue". It shows the pending step, or submits its output
// and shows the next one. With tokens the call is idempotent: the same attempt returns the same
// answer. A blocked attempt ends with exit status 3.
//
// With --run no tokens are needed. Without output, or with --state alone, nothing is written.
func NewContinue(a *cli.App) *cobra.Command {
	var in continueInput
	cmd := &cobra.Command{
		Use:     "continue (--run RUN | --state TOKEN [--ack TOKEN])",
		GroupID: cli.GroupRun,
		Short:   "Submit the output of the pending step, or show the step",
		Long:    continueLong,
		Example: `  waybill continue --run @last
  waybill continue --run @last --notes "Searched twice as fast, see the numbers"
  waybill continue --run k3j2a7 --artifact result.json --set risk=low
  waybill continue --run @last --at plan --notes "Another way"
  waybill continue --state st.v1.… --ack ack.v1.… --notes "Done" --json`,
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := in.check(cmd); err != nil {
				return err
			}
			return in.send(cmd.Context(), a, in.done || in.hasOutput(cmd))
		},
	}
	cli.WithOptions(cmd, cli.Opt(&in.run, "run RUN", "continue RUN: its id, a prefix of the id, or @last"))
	atFlag(cmd, &in.at)
	cli.WithOptions(cmd,
		cli.Opt(&in.state, "state TOKEN", "state TOKEN of an answer, which names the step"),
		cli.Opt(&in.ack, "ack TOKEN", "acknowledge the step with the ack TOKEN of the same answer"),
		cli.Opt(&in.done, "done", "with --run: acknowledge the step without notes or artifacts"))
	in.given.flags(cmd)
	return cmd
}

// check returns USAGE_ERROR for flags that cannot be combined, before anything is read or
// opened.
func (in *continueInput) check(cmd *cobra.Command) error {
	switch {
	case in.run == "" && in.state == "":
		return cli.UsageFault(cmd, "'%s' needs --run or --state to select a run", cmd.CommandPath()).
			Suggest("For the latest run: %s --run @last", cmd.CommandPath())
	case in.run != "" && in.state+in.ack != "":
		return cli.UsageFault(cmd, "--run cannot be combined with --state and --ack").
			Suggest("Give --run, or the tokens.")
	case in.at == "" && cmd.Flags().Changed("at"):
		return emptyAt()
	case in.at != "" && in.run == "":
		return cli.UsageFault(cmd, "--at needs --run").
			Suggest("With tokens, the state token names the node: send the tokens of the answer about it.")
	case in.done && in.run == "":
		return cli.UsageFault(cmd, "--done needs --run").Suggest("With tokens, --ack alone acknowledges the step.")
	case in.ack == "" && in.state != "" && in.hasOutput(cmd):
		return cli.UsageFault(cmd, "notes, context, preferences or artifacts need --ack").
			Suggest("Add the ack token of the same answer, or send only --state to see the pending step.")
	}
	return nil
}

// hasOutput reports whether a flag with output of the step was given. A flag with an empty
// value counts, since the user intended to submit something.
func (in *continueInput) hasOutput(cmd *cobra.Command) bool {
	names := []string{"notes", "notes-file", "artifact", "set", "context", "autonomy", "risk", "preset"}
	return slices.ContainsFunc(names, cmd.Flags().Changed)
}

// send reads the input files, calls the engine and prints the answer. With --run it uses the
// next attempt id of the pending step. Two concurrent submissions use the same id, so that one
// advances the run, the other returns the recorded answer, and the step is not acknowledged
// twice. advances states whether a call with --run acknowledges the step; with tokens, the ack token
// decides.
func (in *continueInput) send(ctx context.Context, a *cli.App, advances bool) error {
	// All input is read before the store is opened: a missing file must not create a store.
	req, err := in.given.request(a)
	if err != nil {
		return err
	}
	return answerOf(ctx, a, func(o *cli.Store) (engine.Answer, error) {
		if in.state != "" {
			by := engine.Caller{}
			if in.ack != "" { // without it nothing is recorded
				by = o.Caller()
			}
			return o.Continue(ctx, by, engine.Continue{StateToken: in.state, AckToken: in.ack, Request: req})
		}
		answer, err := stepAt(ctx, o, in.run, in.at)
		if err != nil || !advances {
			return answer, err
		}
		if answer.Pending == nil {
			return answer, nothingPending(answer)
		}
		return o.Advance(ctx, o.Caller(), answer.Position(), answer.AttemptID, req)
	}, in.show)
}

// show shows the answer. The tokens of an earlier answer, and --at, may name a step that the run
// has left.
func (in *continueInput) show(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer) error {
	answer = cli.WithDrift(ctx, a, answer)
	return printAnswer(a, answer, func(p *page.Page) {
		showPending(ctx, a, o, answer, in.state+in.at != "" && isBehind(ctx, o, answer), p)
	})
}
