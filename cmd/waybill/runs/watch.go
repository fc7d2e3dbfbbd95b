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
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// watchLong is what 'waybill runs watch --help' prints above the usage.
const watchLong = `Print one line per fact as it is recorded in a run, until the run ends or you press
Ctrl-C. With --json each line is the event as it is stored; otherwise it is in words.
--all starts with the facts recorded so far. With --format openwop each line is a run
event, as clients of the OpenWOP protocol get it.

New annotations of the run and new proposals are printed too: proposals that were made
from the run or from none, when they are created and when they are applied. With --json
and with --format openwop such a line is {"v":1,"kind":"run.annotated","data":…}, or has
the kind proposal.created or proposal.activated. They are not facts of the run: earlier
ones are not printed, even with --all. With --stay the command continues after the end of
the run, when most of them are made.

With --until STATUS the command ends as soon as the run has the status: complete, with open gaps or
without, or blocked, which a person has to look at. The exit status is 0 then, also if the run has
it already, and 1 if the run ends in another way or the command is stopped before.

Without RUN, watch the latest run. The command only reads and does not delay writers.`

// newWatch returns "runs watch". It prints each fact as it is recorded, until the run ends or a
// signal is received; both end with exit status 0.
//
// It is the only command whose output is not a single document: with --json each line is an
// event as it is stored, or a document with a notification. --all starts with the facts
// recorded so far.
func newWatch(a *cli.App) *cobra.Command {
	var w watched
	return cli.WithOptions(&cobra.Command{
		Use:   "watch [RUN]",
		Short: "Print the facts of a run as they are recorded",
		Long:  watchLong,
		Example: "  waybill runs watch\n  waybill runs watch k3j2a7 --all --json | jq -c .kind\n" +
			"  waybill runs watch @last --stay\n" +
			"  waybill runs watch --until blocked && waybill runs show\n  waybill runs watch --all --format openwop",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.until != "" && w.stay {
				return cli.UsageFault(cmd, "--until ends the watch and cannot be combined with --stay")
			}
			// A signal ends the watch with exit status 0; see below.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			defer cli.LimitHeap()()
			err := a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
				return runWatch(ctx, a, o, cli.RunArg(args), w)
			})
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				if w.until != "" { // a script must not take it for reached
					return fault.New(fault.Interrupted, "stopped before the run was %s", w.until).
						Suggest("Watch it again with %s.", append(fault.Command{"runs", "watch", cli.RunArg(args)}, "--until", string(w.until)))
				}
				return nil // stopping the watch is not a failure
			}
			return err
		},
	},
		cli.Opt(&w.all, "all", "start with the facts recorded so far"),
		cli.OneOf(&w.until, "until STATUS", untilStatuses, "end when the run has STATUS: "+page.JoinWords(untilStatuses)),
		cli.Opt(&w.stay, "stay", "continue after the end of the run"),
		formatOption(&w.format, "print the facts in FORMAT: openwop"))
}

// watched has the values of the flags of watch.
type watched struct {
	all, stay bool
	format    string
	until     runs.Status // "": the end of the run
}

// untilStatuses is the closed set of statuses that a watch can end at.
var untilStatuses = []runs.Status{runs.Blocked, runs.CompleteStatus}

// newsOf prints what is recorded in a run.
type newsOf interface {
	// printNew prints what was recorded since the last call. It reports whether that was anything, and
	// whether nothing will follow.
	printNew(ctx context.Context) (some, over bool, err error)
}

// runWatch prints new facts and notifications, then waits until a log changes. The logs are
// watched before the first read, so that a fact recorded in between is not missed.
func runWatch(ctx context.Context, a *cli.App, o *cli.Store, ref string, flags watched) error {
	// The position in the log is fixed here; every later fact is returned by Next.
	openwop := flags.format == openWOP
	following, err := o.Follow(ctx, ref, flags.all || openwop)
	if err != nil {
		return err
	}
	printer := eventPrinter{app: a, json: a.Flags.JSON || openwop, following: following}
	var news newsOf = &printer
	if openwop {
		if printer.wire, err = followRunEvents(ctx, a, o, following.Run.String(), flags.all); err != nil {
			return err
		}
		news = printer.wire
	}
	// Events, annotations and proposals are in separate logs.
	w := ports.WaiterOf(o.Ports, append(session.LogsOf(following.Session), proposal.LogOf(id.Store{}))...)
	defer w.Close()
	printer.followProposals(ctx, o)
	for first := true; ; first = false {
		some, over, err := news.printNew(ctx)
		if err != nil {
			return err
		}
		if err := printer.printNotifications(ctx); err != nil {
			return err
		}
		reached, err := isReached(ctx, following, flags)
		if err != nil {
			return err
		}
		// Without any output, explain what the command waits for.
		if first && !some {
			explainWaiting(a, following.Run, over, reached, flags)
		}
		if reached {
			return nil
		}
		// With --stay only a signal or an error ends the loop.
		if over && !flags.stay {
			return nil
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// isReached reports that the run that is followed has the status of --until.
func isReached(ctx context.Context, f *views.Follower, flags watched) (bool, error) {
	if flags.until == "" {
		return false, nil
	}
	if flags.format == openWOP { // whose facts are read apart
		if _, err := f.Next(ctx, func([]views.Fact) error { return nil }); err != nil {
			return false, err
		}
	}
	return f.Reached(ctx, flags.until)
}

// explainWaiting prints on stderr why there is no output yet: the run has ended, has the status that is waited for, or no
// fact was recorded since the start. It is not printed on stdout, which contains only facts, nor with
// --json.
func explainWaiting(a *cli.App, run id.Run, over, reached bool, flags watched) {
	if a.Flags.JSON {
		return
	}
	text := "Watching run " + page.ShortRun(run) + " for new facts. Ctrl-C stops."
	switch {
	case reached:
		text = "Run " + page.ShortRun(run) + " is " + string(flags.until) + " already."
	case over && flags.stay:
		text = "Run " + page.ShortRun(run) + " has ended. Watching for annotations. Ctrl-C stops."
	case over:
		text = "Run " + page.ShortRun(run) + " has ended. Show its history with '" +
			a.Command("runs", "timeline", page.ShortRun(run)) + "'."
	}
	a.Note(func(p *page.Page) { p.Text("", text) })
}

// eventPrinter prints each fact immediately on its own line, since the reader of a pipe may
// wait for it.
type eventPrinter struct {
	app       *cli.App
	json      bool // notifications are documents
	following *views.Follower
	wire      runEvents // with --format openwop, the zero value otherwise
	lines     render.Timeline

	proposals *learning.ProposalFollower
	// annotationsLost and proposalsLost: they cannot be read; this was logged.
	annotationsLost, proposalsLost bool
}

// printNew implements newsOf for facts as they are stored, or in words.
func (t *eventPrinter) printNew(ctx context.Context) (some, over bool, err error) {
	count, err := t.following.Next(ctx, t.printFacts)
	if err == nil {
		over, err = t.following.Ended(ctx)
	}
	return count > 0, over, err
}

// printFacts prints events: as stored lines with --json, else as lines of a timeline.
func (t *eventPrinter) printFacts(facts []views.Fact) error {
	for _, f := range facts {
		// The stored bytes, as 'runs events --json' prints them.
		if t.app.Flags.JSON {
			line, err := storedLine(f.Event)
			if err == nil {
				err = t.app.WriteJSON(line)
			}
			if err != nil {
				return err
			}
			continue
		}
		p := t.app.NewPage(t.app.Out)
		t.lines.Line(p, f.Moment)
		if err := t.app.Write(p.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
