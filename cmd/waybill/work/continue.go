package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
)

// continueLong is what 'waybill continue --help' prints above the usage.
const continueLong = `Show the pending step of a run, or hand in what was done about it and show the next.

Programs name the place with the tokens of the last answer. With --state alone
nothing is written and the pending step is shown again. With --state and --ack the
step is acknowledged, once: the same call again, at any time, gives the same answer
and changes nothing, so a call whose answer was lost can simply be repeated.

People name the run: --run takes its id, the beginning of it, or @last. Giving notes,
context or artifacts acknowledges the step; --done does so with nothing to add.

What was handed in is checked first. A step that is not accepted (exit status 3)
keeps what was sent; the answer says what is missing, and the step is tried again.`

// continueInput is what the flags of continue say. The place is run, or state;
// ack acknowledges with tokens, and done by run.
type continueInput struct {
	// The tokens of an answer, for programs.
	state string
	ack   string
	// The run, for people.
	run   string
	done  bool
	given givenInput
}

// NewContinue makes the command "continue". It shows the pending step, or hands
// in what was done and shows the next one. With tokens the call can be
// repeated: the same attempt gives the same answer. A step that is not accepted
// ends with exit status 3.
//
// People name the run instead, and need no tokens. Without anything to hand in,
// or with --state alone, nothing is written.
func NewContinue(a *cli.App) *cobra.Command {
	var in continueInput
	cmd := &cobra.Command{
		Use:     "continue (--run RUN | --state TOKEN [--ack TOKEN])",
		GroupID: cli.GroupWork,
		Short:   "Hand in the pending step of a run, or show it again",
		Long:    continueLong,
		Example: `  waybill continue --run @last
  waybill continue --run @last --notes "Searched twice as fast, see the numbers"
  waybill continue --run k3j2a7 --notes-file notes.md --artifact result.json --set risk=low
  waybill continue --state st.v1.… --ack ack.v1.… --notes "Done" --json`,
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := in.check(cmd); err != nil {
				return err
			}
			return in.send(cmd.Context(), a, in.advances(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.run, "run", "", "name the run: `RUN` is its id, the beginning of it, or @last")
	f.StringVar(&in.state, "state", "", "name the place with the state `TOKEN` of an answer")
	f.StringVar(&in.ack, "ack", "", "acknowledge the step with the ack `TOKEN` of the same answer")
	f.BoolVar(&in.done, "done", false, "with --run: acknowledge the step with nothing to add")
	in.given.flags(cmd)
	return cmd
}

// check refuses flags that do not go together, before anything is read or
// opened.
func (in *continueInput) check(cmd *cobra.Command) error {
	switch {
	case in.run == "" && in.state == "":
		return cli.UsageFault(cmd, "'%s' needs --run or --state to know which run is meant", cmd.CommandPath()).
			Suggest("For the latest run: %s --run @last", cmd.CommandPath())
	case in.run != "" && in.state+in.ack != "":
		return cli.UsageFault(cmd, "--run finds the place by itself; --state and --ack name one exactly").
			Suggest("Give --run, or the tokens.")
	case in.done && in.run == "":
		return cli.UsageFault(cmd, "--done goes with --run").Suggest("With tokens, --ack alone acknowledges the step.")
	case in.ack == "" && in.state != "" && in.gives(cmd):
		return cli.UsageFault(cmd, "notes, context, preferences or artifacts were given without --ack").
			Suggest("Send the ack token of the same answer along, or nothing but --state to see what is pending.")
	}
	return nil
}

// gives reports whether something is handed in. A flag with an empty value
// counts: it was meant to say something.
func (in *continueInput) gives(cmd *cobra.Command) bool {
	for _, name := range []string{"notes", "notes-file", "artifact", "set", "context", "autonomy", "risk", "preset"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// advances tells handing in from looking. With tokens the ack token decides
// that, so only --run asks.
func (in *continueInput) advances(cmd *cobra.Command) bool { return in.done || in.gives(cmd) }

// send reads what is given, calls the engine and prints the answer. By --run
// the attempt is the next one that the log has room for: of two people who hand
// in at once, both name it, so that one advances and the other gets the
// recorded answer, and the step is not acknowledged twice.
func (in *continueInput) send(ctx context.Context, a *cli.App, advances bool) error {
	// Everything is read before the store is opened: a file that is not there must
	// not leave a store behind.
	req, err := in.given.request(a)
	if err != nil {
		return err
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	var answer engine.Answer
	if in.state != "" {
		answer, err = o.Continue(ctx, a.Caller(), engine.Continue{StateToken: in.state, AckToken: in.ack, Request: req})
	} else {
		var at engine.Position
		if at, err = o.Locate(ctx, in.run); err != nil {
			return err
		}
		if answer, err = o.Rehydrate(ctx, at); err == nil && advances {
			// Nothing is handed in where it would be lost.
			if answer.Pending == nil {
				return nothingPending(a, answer)
			}
			answer, err = o.Advance(ctx, a.Caller(), at, answer.AttemptID, req)
		}
	}
	if err != nil {
		return err
	}
	return showAnswer(ctx, a, o, answer, in.state != "" && !a.Flags.JSON && behind(ctx, o, answer))
}

// behind reports that an answer is about another node than the one where its
// run is now. A run that cannot be located is not.
func behind(ctx context.Context, o *cli.Store, answer engine.Answer) bool {
	at, err := o.Locate(ctx, answer.Session.RunID.String())
	return err == nil && at.Node != answer.NodeID
}
