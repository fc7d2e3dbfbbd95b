// Package upkeep holds the commands that look after a store:
//
//   - verify, audit and doctor find out what is wrong, and change nothing
//   - repair moves what is damaged to the quarantine
//   - sessions, gc and artifacts remove what is not needed, or must go
//   - keys, config and du show or change the store itself
//
// It decides nothing about what is damaged, referred to or expired; the engine
// does. Before something is done that cannot be undone, the commands show what
// it is and ask. Without a terminal the call itself must agree, with --yes:
// a command never waits for an answer that cannot come.
//
// The exit status is 5 where something that was written is damaged, which is
// the answer of a check and no failure of the command.
package upkeep

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
)

// NewVerify makes the command "verify". Without an argument it checks the whole
// store, else the session of one run. It only reads, and ends with exit status
// 5 where an error was found. Warnings alone end with 0.
func NewVerify(a *cli.App) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:     "verify [SESSION|RUN]",
		GroupID: cli.GroupLook,
		Short:   "Check that every stored fact is still what was written",
		Long: `Read everything and check it: every digest, the chain of every log, every reference
between events, every file that one refers to. Nothing is changed or repaired. With
SESSION or RUN only that session is checked, and the head of its log is shown.

With --digests everything is read and hashed and nothing decoded: faster, and enough to
see that no byte is another than was written.

A head that you keep elsewhere shows that a log did not lose its end: give it with
--expect-head. The log may have gone on since.

Errors, which say that something was lost or changed, end with exit status 5. Warnings,
such as the remains of an interrupted write, do not.`,
		Example: "  waybill verify\n  waybill verify @last --expect-head sha256:d5bd4727…\n" +
			"  waybill verify --json | jq .data.ok",
		Args: cli.AtMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(a, cmd, args, f) },
	}
	cmd.Flags().BoolVar(&f.digests, "digests", false, "hash everything, decode nothing")
	cmd.Flags().BoolVar(&f.watch, "watch-progress", false, "show how far it is, where standard error is a terminal")
	cmd.Flags().BoolVar(&f.heads, "head", false, "show the head of every session")
	cmd.Flags().StringVar(&f.expect, "expect-head", "", "fail unless the log of SESSION holds the head `DIGEST`")
	return cmd
}

// verifyFlags are the flags of verify. expect is the head that a log is
// compared with.
type verifyFlags struct {
	digests, watch, heads bool
	expect                string
}

// runVerify checks and prints the document "verification". Progress is drawn on
// a terminal only. A log that is whole but does not hold the expected head is
// an error of its own, and then no document is printed.
//
// Memory is limited for the call: a store is read through buffers and may be
// larger than memory. A store whose store.json is damaged cannot be checked at
// all, since that file says what the folder is.
func runVerify(a *cli.App, cmd *cobra.Command, args []string, f verifyFlags) error {
	o := engine.VerifyOptions{Digests: f.digests}
	// An empty one is a variable that is not set, and must not read as "all is well".
	if cmd.Flags().Changed("expect-head") {
		var err error
		if o.ExpectHead, err = canon.ParseDigest(f.expect); err != nil {
			return cli.UsageFault(cmd, "--expect-head %q: %s", f.expect, err)
		}
		// A head is that of one log.
		if len(args) == 0 {
			return cli.UsageFault(cmd, "--expect-head is about one log: name its session")
		}
	}
	defer cli.LimitMemory()()
	store, err := a.Open(cmd.Context())
	if fault.Is(err, fault.StoreCorrupt) {
		return fault.Of(err).Suggest(
			"Restore that file from a backup; without it nothing else of the store can be checked.")
	}
	if err != nil {
		return err
	}
	defer store.Close()
	var bar *bar
	if f.watch && a.IsTerminal(cmd.ErrOrStderr()) {
		bar = newBar(cmd.ErrOrStderr())
		o.Progress = bar.verified
	}
	var v engine.Verification
	if len(args) == 0 {
		v, err = store.VerifyWith(cmd.Context(), o)
	} else {
		v, err = store.VerifySessionWith(cmd.Context(), args[0], o)
	}
	bar.end()
	if err != nil {
		return err
	}
	if v.OK && len(v.Sessions) == 1 && v.Sessions[0].Since == engine.HeadOther {
		return headMismatch(v.Sessions[0], o.ExpectHead)
	}
	// For one session the head is always of interest.
	heads := f.heads || len(args) > 0
	err = a.Answer("verification", v, func(p *page.Page) {
		render.Verification(p, v)
		if heads {
			showHeads(p, v)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return cli.ExitWith(fault.ExitIntegrity)
}

// headMismatch is the error for a log that is whole, and is not the one whose
// head was expected: it was cut, or replaced by another.
func headMismatch(s engine.SessionVerdict, expected canon.Digest) error {
	return fault.New(fault.HeadMismatch,
		"the log of %s does not hold the head %s: it lost its end since, or another log stands in its place",
		s.SessionID, expected).
		Suggest("Compare with the copy that the head is from. The head of the log is now %s.", s.Head.Digest).
		With("sessionId", s.SessionID.String()).With("expected", expected.String()).With("head", s.Head.Digest.String())
}

// showHeads prints the heads of the logs, which a person can note and compare
// with later.
func showHeads(p *page.Page, v engine.Verification) {
	for _, s := range v.Sessions {
		since := ""
		if s.Since == engine.HeadAhead {
			since = ", which holds the head that was expected and went on"
		}
		p.Line("%s has the head %s%s.", s.SessionID, s.Head.Digest, since)
	}
}
