package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
)

func newVerifyCommand(a *app) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:     "verify [SESSION|RUN]",
		GroupID: groupLook,
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
		Args: atMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verify(cmd, args, f) },
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

func (a *app) verify(cmd *cobra.Command, args []string, f verifyFlags) error {
	o := engine.VerifyOptions{Digests: f.digests}
	// An empty one is a variable that is not set, and must not read as "all is well".
	if cmd.Flags().Changed("expect-head") {
		var err error
		if o.ExpectHead, err = canon.ParseDigest(f.expect); err != nil {
			return usageFault(cmd, "--expect-head %q: %s", f.expect, err)
		}
		if len(args) == 0 {
			return usageFault(cmd, "--expect-head is about one log: name its session")
		}
	}
	defer thrifty()()
	store, err := a.open(cmd.Context())
	if fault.Is(err, fault.StoreCorrupt) {
		return fault.Of(err).Suggest(
			"Restore that file from a backup; without it nothing else of the store can be checked.")
	}
	if err != nil {
		return err
	}
	defer store.close()
	var bar *bar
	if f.watch && a.isTerminal(cmd.ErrOrStderr()) {
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
	err = a.answer("verification", v, func(p *page) {
		p.verification(v)
		if heads {
			p.heads(v)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return exitWith(fault.ExitIntegrity)
}

// headMismatch is the answer where a log is whole, and not the one that it was.
func headMismatch(s engine.SessionVerdict, expected canon.Digest) error {
	return fault.New(fault.HeadMismatch,
		"the log of %s does not hold the head %s: it lost its end since, or another log stands in its place",
		s.SessionID, expected).
		Suggest("Compare with the copy that the head is from. The head of the log is now %s.", s.Head.Digest).
		With("sessionId", s.SessionID.String()).With("expected", expected.String()).With("head", s.Head.Digest.String())
}

// verification names sessions only where something was found: in a store of a
// thousand, the good ones would bury the bad one.
func (p *page) verification(v engine.Verification) {
	var events int64
	errs, warns := 0, 0
	tell := func(findings []manifest.Finding) {
		for _, f := range findings {
			word := p.warn("warning")
			if f.Severity == manifest.SeverityError {
				word = p.bad("error")
				errs++
			} else {
				warns++
			}
			p.line("  %s  %s  %s", word, f.Code, clean(f.Path))
			p.text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
		}
	}
	for _, s := range v.Sessions {
		events += s.Events
		if len(s.Findings) > 0 || s.Health != manifest.Healthy {
			state := "is " + toldHealth(s.Health)
			switch s.Health {
			case manifest.Healthy:
				state = "has a log that is whole, and:" // else it would be called healthy above an error
			case manifest.UnknownVersion:
				state = "holds facts of another program or a newer version:"
			}
			p.line("%s %s", s.SessionID, state)
			tell(s.Findings)
		}
	}
	if len(v.Findings) > 0 {
		p.line("The store")
		tell(v.Findings)
	}
	sum := plural(len(v.Sessions), "session") + " and " + plural(int(events), "event") + " checked: "
	switch {
	case !v.OK:
		p.text(p.bad("✗ "), sum+tally(errs, warns)+".")
	case warns > 0:
		p.text(p.warn("! "), sum+"no errors, "+plural(warns, "warning")+".")
	default:
		p.text(p.good("✓ "), sum+"everything is as it was written.")
	}
}

// heads names the heads of logs, for whoever wants to keep them.
func (p *page) heads(v engine.Verification) {
	for _, s := range v.Sessions {
		since := ""
		if s.Since == engine.HeadAhead {
			since = ", which holds the head that was expected and went on"
		}
		p.line("%s has the head %s%s.", s.SessionID, s.Head.Digest, since)
	}
}
