package runs

import (
	"context"
	"errors"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/watch"
)

// watchLong is what 'waybill runs watch --help' prints above the usage.
const watchLong = `Print a line for each fact as it is recorded in a run, until the run is over or you
stop it with Ctrl-C. With --json each line is the event as it is stored; without, it is
told in words. --all begins with the facts that are there already.

Annotations are told while you watch, as {"v":1,"kind":"run.annotated","data":…} with
--json. They are no facts of the run: what was said before is not told, with --all neither;
'waybill annotations list' shows it. Most is said when a run is over: --stay goes on
watching then, until you stop it.

Without RUN, the latest run is watched. Nothing is written and nobody waits for it.`

// newWatch makes "runs watch". It prints each fact as it is recorded, until the
// run is over or a signal comes; both end with status 0.
//
// It is the one command whose output is no single document: with --json each
// line is an event as it is stored, or a message around an annotation. --all
// begins with the facts that are there already.
func newWatch(a *cli.App) *cobra.Command {
	var all, stay bool
	cmd := &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Print what happens in a run as it happens",
		Long:  watchLong,
		Example: "  waybill runs watch\n  waybill runs watch k3j2a7 --all --json | jq -c .kind\n" +
			"  waybill runs watch @last --stay",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			o, err := a.Open(ctx)
			if err != nil {
				return err
			}
			defer o.Close()
			// From here on nothing is missed: what comes later is found by
			// the next look.
			following, err := o.Follow(ctx, cli.RunArg(args), all)
			if err != nil {
				return err
			}
			err = runWatch(ctx, a, o, following, stay)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return nil // to stop watching is no failure
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "begin with the facts that are there already")
	cmd.Flags().BoolVar(&stay, "stay", false, "go on watching when the run is over")
	return cmd
}

// runWatch prints what is new, then waits until a file of the session grows.
// Files are watched before the first look, so that a fact that is recorded in
// between is not missed.
func runWatch(ctx context.Context, a *cli.App, o *cli.Store, following *engine.Following, stay bool) error {
	// Both files are watched: events and annotations are two logs.
	w := watch.Files(o.LogFiles(following.Session))
	defer w.Close()
	printer := eventPrinter{app: a}
	for first := true; ; first = false {
		facts, err := following.Next(ctx)
		if err != nil {
			return err
		}
		if err := printer.printFacts(facts); err != nil {
			return err
		}
		if err := printer.printAnnotations(ctx, following); err != nil {
			return err
		}
		over, err := following.Over(ctx)
		// A person who sees nothing wants to know why; later lines explain
		// themselves.
		if first && err == nil && len(facts) == 0 {
			watching(a, following.Run, over, stay)
		}
		if err != nil || over && !stay {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// watching explains on stderr why nothing is printed yet: the run is over, or
// nothing happens in it. It is no fact, so it does not go to stdout, and a
// program does not get it.
func watching(a *cli.App, run id.Run, over, stay bool) {
	if a.Flags.JSON {
		return
	}
	p := a.NewPage(a.Err)
	switch {
	case over && stay:
		p.Text("", "Run "+page.ShortRun(run)+" is over. Watching what is said of it. Ctrl-C stops.")
	case over:
		p.Text("", "Nothing more happens in run "+page.ShortRun(run)+". See what did with '"+
			a.Command("runs", "timeline", page.ShortRun(run))+"'.")
	default:
		p.Text("", "Watching run "+page.ShortRun(run)+" from here on. Ctrl-C stops.")
	}
	_, _ = a.Err.Write(p.Bytes())
}

// eventPrinter prints each fact at once, on a line of its own, since a reader
// at the other end of a pipe waits for it.
type eventPrinter struct {
	app             *cli.App
	day             string // the one that the last line was under
	annotationsLost bool   // the annotations cannot be read, and that was logged
}

// printFacts prints events: as stored with --json, else as lines of a timeline.
func (t *eventPrinter) printFacts(facts []engine.Fact) error {
	for _, f := range facts {
		// The stored bytes, as 'runs events' prints them.
		if t.app.Flags.JSON {
			line, err := stored([]event.Event{f.Event})
			if err == nil {
				err = t.app.Write(line)
			}
			if err != nil {
				return err
			}
			continue
		}
		p := t.app.NewPage(t.app.Out)
		t.day = render.Moment(p, t.day, f.Moment)
		if err := t.app.Write(p.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
