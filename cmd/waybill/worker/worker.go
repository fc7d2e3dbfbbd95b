// Package worker implements the command "work", which performs what needs no person of all runs of a store.
//
// Start reading at New; loop.go has what a worker does, report.go what it prints.
package worker

import (
	"context"
	"math/rand/v2"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/unattended"
	"github.com/waybill/waybill/durable/engine/working"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// workLong is what 'waybill work --help' prints above the usage.
const workLong = `Perform the command steps of all runs of the store that are ready, and those that become
ready, until Ctrl-C or SIGTERM. Any number of workers share a store: each run has one
performer at a time, and a worker that ends in any way leaves its runs to the others.

A worker performs a run as far as it goes without a person, as 'waybill run' does without
a terminal: commands that were not tried yet, and waits that are over. A command that
failed is left to a person. Commands run in the current directory, and only of workflows
that a person has trusted there (waybill trust); trust is looked up before each step.
Imported runs that no person has continued in this store are left alone. What is left is
printed once, with the command that helps.

With --tags the worker takes runs that were started with one of the tags. With --once it
performs what is ready, ends when nothing is, and does not wait for runs that other
workers perform.

On a signal the worker takes no further run and stops its commands; the steps stay
pending, and a command may run a second time with the same WAYBILL_ATTEMPT_ID. A second
signal ends it at once. The exit status is 0 after a signal. With --once it is 1 if a run
failed or if a signal came first.

--jsonl prints a line for each step, for each run that the worker leaves, and for what it
leaves alone. --json prints the same as one document at the end, and needs --once.`

// The number of runs that a worker performs at once.
const (
	maxLeast = 1
	maxMost  = 64
)

// input holds the flags of work.
type input struct {
	tags string
	max  int
	once bool
}

// New returns the command "work".
func New(a *cli.App) *cobra.Command {
	var in input
	cmd := &cobra.Command{
		Use:     "work",
		GroupID: cli.GroupRun,
		Short:   "Perform the ready command steps of all runs",
		Long:    workLong,
		Example: "  waybill work --once\n  waybill work --tags build,linux --max 4 --jsonl",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("max") {
				in.max = min(max(runtime.NumCPU(), maxLeast), maxMost)
			}
			switch {
			case in.max < maxLeast || in.max > maxMost:
				return cli.UsageFault(cmd, "--max %d is not between %d and %d", in.max, maxLeast, maxMost)
			case a.Flags.JSON && !a.PrintsLines() && !in.once:
				return cli.UsageFault(cmd, "--json prints one document at the end and needs --once").
					Suggest("Use --jsonl, which prints a line for each step and each run.")
			}
			tags, err := advance.ParseTags(in.tags)
			if err != nil {
				return err
			}
			return work(cmd.Context(), a, in, tags)
		},
	}
	return cli.WithOptions(cmd,
		cli.Opt(&in.tags, "tags TAGS", "take only runs that have one of the tags, separated by commas (default: all runs)"),
		cli.Opt(&in.max, "max N", "perform at most N runs at once, 1 to 64 (default: the number of processors)"),
		cli.Opt(&in.once, "once", "perform what is ready and end when nothing is"),
		cli.Lines(a, "items"))
}

// changesOf returns what waits for changes of a store.
func changesOf(w *ports.Waiter) func(context.Context, pause) error {
	return func(ctx context.Context, p pause) error {
		if err := unattended.Pause(ctx, p.soon.Milliseconds()); err != nil || p.late <= p.soon {
			return err
		}
		within, stop := context.WithTimeout(ctx, p.late-p.soon)
		defer stop()
		_ = w.Wait(within) // without a change it is the time to look
		return ctx.Err()
	}
}

// work performs the runs of the store.
func work(ctx context.Context, a *cli.App, in input, tags []string) error {
	root, err := a.TrustRoot()
	if err != nil {
		return err
	}
	a.SyncStderr() // runs are performed concurrently
	o, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	pool := unattended.NewPool(a, o, root, "", in.max)
	defer pool.Close()
	out := newReport(a)
	changes := ports.SessionsWaiter(o.Ports)
	defer changes.Close()
	w := worker{explain: pool.Explain, imported: pool.Imported, work: working.New(o.Lists, o.Finder, o.Performers(), rand.Uint64()), trusts: o.TrustedHere,
		nowMs: a.NowMs, tags: tags, most: in.max, once: in.once, out: out, changed: changesOf(changes)}.begun()
	w.perform = func(ctx context.Context, c ports.Claim) (perform.Report, error) {
		performers, release := ports.Claimed(c)
		defer release()
		return pool.Perform(ctx, c.Session, c.Run, perform.Options{}, func(p *perform.Performer) error {
			p.Performers, p.Display = performers, &display{out: out, claim: c}
			return nil
		})
	}
	within, stop := unattended.UntilSignal(ctx, nil, out.stopping)
	defer stop()
	out.begin()
	err = w.run(within)
	out.end()
	switch {
	case out.failed() != nil:
		return out.failed()
	case err == nil && in.once:
		return out.finish()
	case err == nil || within.Err() == nil:
		return err
	case in.once:
		return fault.New(fault.Interrupted, "interrupted before everything that is ready was performed").
			Suggest("Continue with %s.", fault.Command{"work", "--once"})
	}
	return nil // a signal is how a worker ends
}
