package main

import (
	"context"
	"errors"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/watch"
)

const runsWatchLong = `Print a line for each fact as it is recorded in a run, until the run is over or you
stop it with Ctrl-C. With --json each line is the event as it is stored; without, it is
told in words. --all begins with the facts that are there already.

Annotations are told while you watch, as {"v":1,"kind":"run.annotated","data":…} with
--json. They are no facts of the run: what was said before is not told, with --all neither;
'waybill annotations list' shows it. Most is said when a run is over: --stay goes on
watching then, until you stop it.

Without RUN, the latest run is watched. Nothing is written and nobody waits for it.`

func newRunsWatchCommand(a *app) *cobra.Command {
	var all, stay bool
	cmd := &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Print what happens in a run as it happens",
		Long:  runsWatchLong,
		Example: "  waybill runs watch\n  waybill runs watch k3j2a7 --all --json | jq -c .kind\n" +
			"  waybill runs watch @last --stay",
		Args: atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			o, err := a.open(ctx)
			if err != nil {
				return err
			}
			defer o.close()
			following, err := o.Follow(ctx, runArg(args), all)
			if err != nil {
				return err
			}
			err = a.watch(ctx, o, following, stay)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return nil // whoever stops watching has not failed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "begin with the facts that are there already")
	cmd.Flags().BoolVar(&stay, "stay", false, "go on watching when the run is over")
	return cmd
}

// watch prints what is new, then waits for more.
func (a *app) watch(ctx context.Context, o *opened, following *engine.Following, stay bool) error {
	folder := filepath.Join(o.dir, "sessions", following.Session.String())
	w := watch.Files(filepath.Join(folder, "manifest.jsonl"), filepath.Join(folder, "annotations", "manifest.jsonl"))
	defer w.Close()
	teller := teller{app: a}
	for first := true; ; first = false {
		facts, err := following.Next(ctx)
		if err != nil {
			return err
		}
		if err := teller.tell(facts); err != nil {
			return err
		}
		if err := teller.tellSaid(ctx, following); err != nil {
			return err
		}
		over, err := following.Over(ctx)
		if first && err == nil && len(facts) == 0 {
			a.watching(following.Run, over, stay)
		}
		if err != nil || over && !stay {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// watching says to a person why nothing is printed. It is no fact, and so it does not
// go where the facts go.
func (a *app) watching(run id.Run, over, stay bool) {
	if a.common.json {
		return
	}
	p := a.newPage(a.errOut)
	switch {
	case over && stay:
		p.text("", "Run "+shortRun(run)+" is over. Watching what is said of it. Ctrl-C stops.")
	case over:
		p.text("", "Nothing more happens in run "+shortRun(run)+". See what did with '"+
			a.command("runs", "timeline", shortRun(run))+"'.")
	default:
		p.text("", "Watching run "+shortRun(run)+" from here on. Ctrl-C stops.")
	}
	_, _ = a.errOut.Write(p.Bytes())
}

// teller prints each fact on a line, at once: whoever reads a pipe waits for it.
type teller struct {
	app  *app
	day  string // the one that the last line was under
	deaf bool   // the annotations cannot be read, and that was said
}

func (t *teller) tell(facts []engine.Fact) error {
	for _, f := range facts {
		if t.app.common.json {
			line, err := stored([]event.Event{f.Event})
			if err == nil {
				err = t.app.write(line)
			}
			if err != nil {
				return err
			}
			continue
		}
		p := t.app.newPage(t.app.out)
		t.day = p.moment(t.day, f.Moment)
		if err := t.app.write(p.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
