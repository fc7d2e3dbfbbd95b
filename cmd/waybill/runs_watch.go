package main

import (
	"context"
	"errors"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/watch"
	"github.com/waybill/waybill/projections"
)

const runsWatchLong = `Print a line for each fact as it is recorded in a run, until the run is over or you
stop it with Ctrl-C. With --json each line is the event as it is stored; without, it is
told in words. --all begins with the facts that are there already.

Without RUN, the latest run is watched. Nothing is written and nobody waits for it.`

func newRunsWatchCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "watch [RUN]",
		Short:   "Print what happens in a run as it happens",
		Long:    runsWatchLong,
		Example: "  waybill runs watch\n  waybill runs watch k3j2a7 --all --json | jq -c .kind",
		Args:    atMost("RUN"),
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
			err = a.watch(ctx, o, following)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return nil // whoever stops watching has not failed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "begin with the facts that are there already")
	return cmd
}

// watch prints what is new, then waits for more.
func (a *app) watch(ctx context.Context, o *opened, following *engine.Following) error {
	w := watch.File(filepath.Join(o.dir, "sessions", following.Session.String(), "manifest.jsonl"))
	defer w.Close()
	for {
		facts, err := following.Next(ctx)
		if err != nil {
			return err
		}
		if err := a.facts(facts); err != nil {
			return err
		}
		over, err := following.Over(ctx)
		if err != nil || over {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// facts prints each fact on a line, at once: whoever reads a pipe waits for it.
func (a *app) facts(facts []engine.Fact) error {
	for _, f := range facts {
		if a.common.json {
			line, err := stored([]event.Event{f.Event})
			if err == nil {
				err = a.write(line)
			}
			if err != nil {
				return err
			}
			continue
		}
		p := a.newPage(a.out)
		p.timeline(engine.History{Health: manifest.Healthy, Moments: []projections.Moment{f.Moment}})
		if err := a.write(p.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
