package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
)

// checkpointLong is what 'waybill checkpoint --help' prints above the usage.
const checkpointLong = `Keep what is done so far of the pending step, without leaving it: notes, results, or
both. Whoever takes the run up again, after a lost chat or on another day, is shown
them with the step.

Programs name the place with the state and the checkpoint token of the last answer.
The same call again gives the same answer and keeps nothing twice. People name the run.`

// checkpointInput is what the flags of checkpoint say. The place is run, or
// state and token.
type checkpointInput struct {
	state     string
	token     string
	run       string
	notes     string
	notesFile string
	artifacts []string
}

// NewCheckpoint makes the command "checkpoint". It keeps notes and artifacts
// beside the pending step, which stays pending. Tokens name the checkpoint
// exactly, so the same call again keeps nothing twice; --run takes the next
// free one.
func NewCheckpoint(a *cli.App) *cobra.Command {
	var in checkpointInput
	cmd := &cobra.Command{
		Use:     "checkpoint (--run RUN | --state TOKEN --token TOKEN) --notes TEXT",
		GroupID: cli.GroupWork,
		Short:   "Keep what is done so far of the pending step",
		Long:    checkpointLong,
		Example: `  waybill checkpoint --run @last --notes "Half of the files are read; next: the parser"
  waybill checkpoint --state st.v1.… --token chk.v1.… --notes-file progress.md --json`,
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (in.run == "") == (in.state == ""):
				return cli.UsageFault(cmd, "'%s' needs --run, or --state and --token", cmd.CommandPath())
			case (in.state == "") != (in.token == ""):
				return cli.UsageFault(cmd, "--state and --token go together").Suggest("Send both tokens of one answer.")
			}
			return in.keep(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.run, "run", "", "name the run: `RUN` is its id, the beginning of it, or @last")
	f.StringVar(&in.state, "state", "", "name the place with the state `TOKEN` of an answer")
	f.StringVar(&in.token, "token", "", "the checkpoint `TOKEN` of the same answer")
	f.StringVar(&in.notes, "notes", "", "say what is done so far: `TEXT`, as Markdown")
	f.StringVar(&in.notesFile, "notes-file", "", "take the notes from `FILE`; - is stdin")
	f.StringArrayVar(&in.artifacts, "artifact", nil, "attach `FILE` as a result; a .json file counts as its value")
	return cmd
}

// keep reads what is given, records the checkpoint and prints the answer. By
// --run the checkpoint is the next one that the log has room for, so that a
// call that is sent twice keeps two. Everything is read and checked before the
// store is opened.
func (in *checkpointInput) keep(ctx context.Context, a *cli.App) error {
	// The flags are those of handing in, without context and preferences.
	given := givenInput{notes: in.notes, notesFile: in.notesFile, artifacts: in.artifacts}
	req, err := given.request(a)
	if err != nil {
		return err
	}
	if err := advance.CheckCheckpoint(req); err != nil {
		return fault.Of(err).Suggest("Say what is done so far: --notes TEXT.")
	}
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	if in.state != "" {
		answer, err := o.Checkpoint(ctx, a.Caller(),
			engine.CheckpointCall{StateToken: in.state, CheckpointToken: in.token, Request: req})
		if err != nil {
			return err
		}
		return showKept(ctx, a, o, answer)
	}
	at, err := o.Locate(ctx, in.run)
	if err != nil {
		return err
	}
	// The pending step names the next checkpoint.
	answer, err := o.Rehydrate(ctx, at)
	if err != nil {
		return err
	}
	if answer.Pending == nil {
		return nothingPending(a, answer)
	}
	if answer, err = o.CheckpointAt(ctx, a.Caller(), answer.Position(), answer.CheckpointID, req); err != nil {
		return err
	}
	return showKept(ctx, a, o, answer)
}

// showKept prints that the checkpoint is recorded, and for programs the whole
// step, whose tokens have changed. People get the command that continues the
// run.
func showKept(ctx context.Context, a *cli.App, o *cli.Store, answer engine.Answer) error {
	if a.Flags.JSON {
		return showAnswer(ctx, a, o, answer, false)
	}
	return a.Answer(answer.Kind(), answer, func(p *page.Page) {
		p.Line("%s Kept with step %s.", p.Good("✓"), p.Bold(page.Clean(answer.Pending.Title)))
		showWarnings(a, answer, p)
		p.Line("Next: %s", a.Command("continue", "--run", page.ShortRun(answer.Session.RunID)))
	})
}
