// Package upkeep holds the commands that look after a store: verify and repair, the
// audit log, keys, configuration, disk usage, cleanup, sessions and artifacts, and the
// doctor. It decides nothing about what is damaged or removed; the engine does.
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

type verifyFlags struct {
	digests, watch, heads bool
	expect                string
}

func runVerify(a *cli.App, cmd *cobra.Command, args []string, f verifyFlags) error {
	o := engine.VerifyOptions{Digests: f.digests}
	// An empty one is a variable that is not set, and must not read as "all is well".
	if cmd.Flags().Changed("expect-head") {
		var err error
		if o.ExpectHead, err = canon.ParseDigest(f.expect); err != nil {
			return cli.UsageFault(cmd, "--expect-head %q: %s", f.expect, err)
		}
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

// headMismatch is the answer where a log is whole, and not the one that it was.
func headMismatch(s engine.SessionVerdict, expected canon.Digest) error {
	return fault.New(fault.HeadMismatch,
		"the log of %s does not hold the head %s: it lost its end since, or another log stands in its place",
		s.SessionID, expected).
		Suggest("Compare with the copy that the head is from. The head of the log is now %s.", s.Head.Digest).
		With("sessionId", s.SessionID.String()).With("expected", expected.String()).With("head", s.Head.Digest.String())
}

// showHeads names the heads of logs, for whoever wants to keep them.
func showHeads(p *page.Page, v engine.Verification) {
	for _, s := range v.Sessions {
		since := ""
		if s.Since == engine.HeadAhead {
			since = ", which holds the head that was expected and went on"
		}
		p.Line("%s has the head %s%s.", s.SessionID, s.Head.Digest, since)
	}
}
