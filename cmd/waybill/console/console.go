// Package console provides the command 'waybill console'. It connects the server of infra/consoleserver with the use
// cases of an open store; package pages makes the pages.
package console

import (
	"context"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/infra/consoleserver"
	"github.com/waybill/waybill/infra/loopback"
	"github.com/waybill/waybill/projections/markup"
)

// consoleLong is what 'waybill console --help' prints above the usage.
const consoleLong = `Show the store in a browser on this machine: runs that grow as they happen, the inbox,
proposals with their difference, feedback and the checks of 'waybill doctor'. The console
changes nothing; where a person can act, a page has the command to copy.

It runs until Ctrl-C, or for the time of --for. It prints a file that opens the console
once, which only your account can read, and opens it at a terminal unless --no-open is
given. Reload the page as often as you like; another window needs another start.

The server listens on a loopback address only, and refuses requests of other sites.`

// input holds the flags of console.
type input struct {
	addr   string
	during time.Duration
	noOpen bool
}

// New returns the command "console".
func New(a *cli.App) *cobra.Command {
	in := input{addr: "127.0.0.1:0"}
	return cli.WithOptions(&cobra.Command{
		Use:     "console",
		GroupID: cli.GroupInspect,
		Short:   "Show the store in a browser on this machine",
		Long:    consoleLong,
		Example: "  waybill console\n  waybill console --addr 127.0.0.1:8080 --for 2h --no-open",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.during < 0 {
				return cli.UsageFault(cmd, "--for %s is negative", in.during)
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error { return serve(ctx, a, o, in) })
		},
	},
		cli.Opt(&in.addr, "addr HOST:PORT", "listen on HOST:PORT, a loopback address; port 0 is any free one"),
		cli.Opt(&in.during, "for DURATION", "end after DURATION, such as 30m; 0 runs until Ctrl-C"),
		cli.Opt(&in.noOpen, "no-open", "open no browser"))
}

// serve serves the console of a store until a signal or the end of its time.
func serve(ctx context.Context, a *cli.App, o *cli.Store, in input) error {
	defer cli.LimitHeap()()
	a.SyncStderr() // requests are answered concurrently
	l, err := loopback.Listen(in.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	token, err := consoleserver.NewToken()
	if err != nil {
		return err
	}
	start, err := consoleserver.Start(pages.Start(markup.Place("console.js"), markup.Place("console.css")))
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the first page cannot be made")
	}
	ctx, stop := signal.NotifyContext(ctx, cli.StopSignals()...)
	defer stop()
	url := "http://" + l.Addr().String()
	entrance, err := consoleserver.NewEntrance(a.Getenv("XDG_RUNTIME_DIR"), url, token)
	if err != nil {
		return err
	}
	defer entrance.Remove()
	if err := announce(a, document.Console{URL: url, Token: token, File: entrance.Path}, in, entrance); err != nil {
		return err
	}
	if in.during > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, in.during)
		defer cancel()
	}
	var running sync.WaitGroup
	defer running.Wait()
	s := &site{app: a, store: o, pages: pages.Console{Command: a.Flags.StoreCommand, Store: o.Ports.Name()}}
	s.polls = newPolls(s.digest)
	running.Go(func() { s.polls.run(ctx) })
	err = consoleserver.Server{Site: s, Token: token, Exchanged: entrance.Remove, Log: requestLog(a),
		Assets: consoleserver.Assets{Start: start, Script: pages.ConsoleScript(), Style: pages.ConsoleStyle()}}.Serve(ctx, l)
	stop()
	return err
}

// announce prints the file that opens the console, and opens it for a person at a terminal.
func announce(a *cli.App, doc document.Console, in input, entrance *consoleserver.Entrance) error {
	opened := false
	if !in.noOpen && !a.Flags.JSON && a.AtTerminal() {
		opened = entrance.Open() == nil
	}
	return a.Answer("console", doc, func(p *page.Page) {
		until := "until Ctrl-C"
		if in.during > 0 {
			until = "for " + page.Duration(in.during) + ", or until Ctrl-C"
		}
		p.Text(p.Good("✓ "), "The console listens on "+doc.URL+" "+until+".")
		what := "Open this file in a browser; it can be used once:"
		if opened {
			what = "A browser opens this file, which can be used once:"
		}
		p.Text("  ", what)
		p.Line("  %s", page.OneLine(doc.File))
	})
}

// requestLog writes a record for each request: a warning for one that was refused.
func requestLog(a *cli.App) func(consoleserver.Entry) {
	log := a.Log()
	return func(e consoleserver.Entry) {
		record := log.Info()
		if e.Refused != "" {
			record = log.Warn().Str("refused", e.Refused)
		}
		if e.Err != nil {
			record.Str("code", string(fault.CodeOf(e.Err)))
		}
		record.Str("method", e.Method).Str("path", e.Path).Int("status", e.Status).
			Int64("durationMs", e.Duration.Milliseconds()).Msg("request")
	}
}
