package runs

import (
	"context"
	"errors"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// logsLong is what 'waybill runs logs --help' prints above the usage.
const logsLong = `Print what the command steps and the checks of a run wrote to stdout, or with --stderr to
stderr: of each performance the last try, in the order in which they were recorded, also
those that were repeated later. Without RUN, print those of the latest run.

The beginning and the end of each output are stored; a line between them says how many
bytes were left out. To a pipe the output is written as it is stored, and the headings to
stderr. At a terminal, control and invisible characters are shown as symbols. Older
versions recorded stdout and stderr together.

--step takes a step id, for all iterations of a loop, the id of a loop, or a step instance
key as in 'waybill runs show --json'. --follow prints what is recorded next, until the run
ends or you press Ctrl-C; with --json it prints a document for each performance.`

// newLogs returns "runs logs". It prints what commands wrote, by step, and follows a run.
func newLogs(a *cli.App) *cobra.Command {
	var q views.LogQuery
	var stderr, follow bool
	return cli.WithOptions(&cobra.Command{
		Use:   "logs [RUN]",
		Short: "Print what the commands of a run wrote",
		Long:  logsLong,
		Example: "  waybill runs logs\n  waybill runs logs k3j2a7 --step deploy --stderr\n" +
			"  waybill runs logs @last --follow",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.LimitMemory()()
			if follow && q.Cursor != "" {
				return cli.UsageFault(cmd, "--follow and --cursor cannot be combined: --follow prints all pages")
			}
			if q.Run, q.Stream = cli.RunArg(args), views.Stdout; stderr {
				q.Stream = views.Stderr
			}
			if follow {
				return followLogs(cmd.Context(), a, q)
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				return printLogs(ctx, a, o, q)
			})
		},
	},
		cli.Opt(&q.Step, "step ID", "print only those of the step or loop ID, or of a step instance key"),
		cli.Opt(&stderr, "stderr", "print what was written to stderr"),
		cli.Opt(&follow, "follow,f", "print also what is recorded next, until the run ends"),
		cli.Opt(&q.Cursor, "cursor CURSOR", "with --json, continue after the CURSOR of the previous page"))
}

// printLogs prints one page as a document, or all pages as text.
func printLogs(ctx context.Context, a *cli.App, o *cli.Store, q views.LogQuery) error {
	printed := false
	for {
		logs, err := o.CommandLogs(ctx, q)
		if err != nil {
			return err
		}
		if a.Flags.JSON {
			return a.Answer("logs", logs, nil)
		}
		for _, e := range logs.Entries {
			if err := printEntry(a, e); err != nil {
				return err
			}
		}
		printed = printed || len(logs.Entries) > 0
		if q.Cursor = logs.NextCursor; q.Cursor == "" {
			break
		}
	}
	if !printed {
		a.Note(noEntries(q))
	}
	return nil
}

// noEntries says that no performance is recorded.
func noEntries(q views.LogQuery) func(*page.Page) {
	return func(p *page.Page) {
		if q.Step != "" {
			p.Text("", "No command of "+page.Name(q.Step)+" is recorded in this run.")
			return
		}
		p.Line("No command is recorded in this run.")
	}
}

// followLogs prints all entries so far, and then each as it is recorded. A signal ends it with exit
// status 0.
func followLogs(ctx context.Context, a *cli.App, q views.LogQuery) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		following, err := o.Follow(ctx, q.Run, true)
		if err != nil {
			return err
		}
		// The log is watched before the first read, so that nothing is missed.
		w := ports.WaiterOf(o.Ports, manifest.SessionEvents(following.Session))
		defer w.Close()
		if err := following.HasStep(ctx, q.Step); err != nil {
			return err
		}
		printed := false
		for {
			_, err := following.Next(ctx, func(facts []views.Fact) error {
				for _, e := range following.Logs(ctx, facts, q) {
					printed = true
					if err := printFollowed(a, following, e); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			if over, err := following.Ended(ctx); err != nil || over {
				if err == nil && !printed && !a.Flags.JSON {
					a.Note(noEntries(q))
				}
				return err
			}
			if err := w.Wait(ctx); err != nil {
				return err
			}
		}
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil // stopping is not a failure
	}
	return err
}

// printFollowed prints one entry: with --json a document of its own.
func printFollowed(a *cli.App, f *views.Follower, e views.LogEntry) error {
	if !a.Flags.JSON {
		return printEntry(a, e)
	}
	return a.Answer("logs", views.Logs{RunID: f.Run, SessionID: f.Session, Entries: []views.LogEntry{e}}, nil)
}

// printEntry prints what one performance wrote: exactly to a pipe, with the heading on stderr, and
// cleaned to a terminal. The remark on what is left out is in the output itself: without it the two
// parts would read as one.
func printEntry(a *cli.App, e views.LogEntry) error {
	heading := func(p *page.Page) { showEntryHeading(p, e) }
	omitted := "… " + page.Plural(int(e.OmittedBytes), "byte") + " left out …"
	if a.IsTerminal(a.Out) {
		p := a.NewPage(a.Out)
		heading(p)
		p.QuoteExactly("", e.Head, page.Plain)
		if e.OmittedBytes > 0 {
			p.Line("%s", p.Warn(omitted))
		}
		if e.Tail != "" {
			p.QuoteExactly("", e.Tail, page.Plain)
		}
		return a.Write(p.Bytes())
	}
	a.Note(heading)
	between := ""
	if e.OmittedBytes > 0 {
		between = omitted + "\n"
		if !strings.HasSuffix(e.Head, "\n") {
			between = "\n" + between
		}
	}
	return a.Write([]byte(e.Head + between + e.Tail))
}

// showEntryHeading prints which step an entry is of, and how its command ended.
func showEntryHeading(p *page.Page, e views.LogEntry) {
	heading := page.OneLine(e.Title) + " (" + page.OneLine(render.Key(e.StepInstanceKey)) + ")"
	if e.CheckID != "" {
		heading += ", check " + page.OneLine(e.CheckID)
	}
	p.StyledText("== ", heading, p.Bold)
	if e.Unreadable != "" {
		p.Text("   ", "cannot be shown: "+e.Unreadable)
		return
	}
	p.Facts("   "+page.ClockTime(e.AtMs, "2 Jan 2006 15:04:05"), page.OneLine(e.Outcome),
		page.Duration(time.Duration(e.DurationMs)*time.Millisecond), page.Plural(int(e.Tries), "try"),
		string(e.Stream)+", "+page.Size(e.Bytes))
	if e.ResultNote != "" {
		p.Text("   ", e.ResultNote)
	}
	if e.Stream == views.BothStreams {
		p.Text("   ", "recorded by an older version: stdout and stderr together")
	}
}
