// Package upkeep implements the commands that check and maintain a store:
//
//   - verify, audit and doctor report problems and change nothing
//   - repair moves damaged files to the quarantine
//   - sessions, gc and artifacts remove sessions, unreferenced objects and secrets
//   - keys, config and du show or change the store itself
//
// The package has no rules about what is damaged, referenced or expired; package
// engine decides that. Before a change that cannot be undone, a command shows
// what it will do and asks. Without a terminal --yes is required instead: a
// command never waits for an answer that cannot come.
//
// The exit status is 5 if stored data is damaged. This is the result of a check
// and not a failure of the command, so the document is printed as well.
package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
)

// NewVerify returns the command "verify". Without an argument it checks the whole
// store, else one session. It only reads. The exit status is 5 if an error was
// found, and 0 for warnings alone.
func NewVerify(a *cli.App) *cobra.Command {
	var f verifyFlags
	return cli.WithOptions(&cobra.Command{
		Use:     "verify [SESSION|RUN]",
		GroupID: cli.GroupInspect,
		Short:   "Verify the integrity of the store or a session",
		Long: `Read the whole store and check every digest, the hash chain of every log, every
reference between events, and every file that an event refers to. Nothing is changed or
repaired. With SESSION or RUN only that session is checked, and the head of its log is
shown.

--digests hashes every file without decoding it: faster, and sufficient to detect
changed bytes.

A log that was cut at its end cannot be detected without an older head. Keep heads
outside of the store and pass one with --expect-head; the log may have grown since.

Every stored signature is checked. Who may sign is what the store itself states; with
--signers it is what a file outside of the store states, and decisions, installations and
settings without a signature of these keys are errors, but for those that the audit log
recorded before the store had signers.

Exit status: 0 without errors, 5 when data was lost or changed. Warnings, such as the
remains of an interrupted write, do not change the exit status.`,
		Example: "  waybill verify\n  waybill verify @last --expect-head sha256:d5bd4727…\n" +
			"  waybill verify --json | jq .data.ok",
		Args: cli.AtMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(a, cmd, args, f) },
	},
		cli.Opt(&f.digests, "digests", "hash every file, decode nothing"),
		cli.Opt(&f.watch, "watch-progress", "show progress at once if standard error is a terminal, not after a second"),
		cli.Opt(&f.heads, "head", "show the head of every session"),
		cli.Opt(&f.expect, "expect-head DIGEST", "fail unless the log of SESSION contains the head DIGEST"),
		cli.Opt(&f.signers, "signers FILE",
			"expect the signatures of the keys in FILE, in the form of allowed_signers"))
}

// verifyFlags has the values of the flags of verify. expect is the head that the
// log must contain, as typed; "" without the flag.
type verifyFlags struct {
	// digests skips decoding; watch draws progress; heads prints the head of
	// every session, which a single session has without the flag.
	digests, watch, heads bool
	expect, signers       string
}

// runVerify checks the store or a session and answers with the document
// "verification". Progress is drawn on a terminal only. A valid log that does
// not contain the expected head is the error HEAD_MISMATCH, and then no document
// is printed.
//
// Memory is limited during the call: a store is read through buffers and may be
// larger than memory. A store with a damaged store.json cannot be checked, since
// that file identifies the directory as a store.
func runVerify(a *cli.App, cmd *cobra.Command, args []string, f verifyFlags) error {
	o := verify.VerifyOptions{Digests: f.digests}
	if f.expect != "" {
		var err error
		if o.ExpectHead, err = canon.ParseDigest(f.expect); err != nil {
			return cli.UsageFault(cmd, "--expect-head %q: %s", f.expect, err)
		}
		if len(args) == 0 {
			return cli.UsageFault(cmd, "--expect-head is compared with one log: name its session")
		}
	}
	if f.signers != "" {
		if f.digests {
			return cli.UsageFault(cmd, "--digests decodes nothing, so that no signature can be checked with it")
		}
		all, err := a.ReadSigners("--signers", f.signers)
		if err != nil {
			return err
		}
		o.Signers = all
	}
	defer cli.LimitMemory()()
	store, err := openOrAdvise(cmd.Context(), a,
		"Restore that file from a backup; without it the rest of the store cannot be checked.")
	if err != nil {
		return err
	}
	defer store.Close()
	w := progress.Start(cmd.Context(), a, "Verifying", f.watch)
	if w.Shown { // it costs a look at the sizes of all logs
		o.Progress = func(p verify.VerifyProgress) { w.Say(progressLine(p)) }
	}
	var v verify.Verification
	if len(args) == 0 {
		v, err = store.VerifyWith(w, o)
	} else {
		v, err = store.VerifySessionWith(w, args[0], o)
	}
	if err = w.End(err, "nothing was changed, and the rest was not checked", append(fault.Command{"verify"}, args...)); err != nil {
		return err
	}
	if v.OK && len(v.Sessions) == 1 && v.Sessions[0].Since == verify.HeadOther {
		return headMismatch(v.Sessions[0], o.ExpectHead)
	}
	// The head of a single session is always printed, for --expect-head later.
	heads := f.heads || len(args) > 0
	return a.AnswerVerdict("verification", v, func(p *page.Page) {
		render.Verification(p, v)
		if heads {
			showHeads(p, v)
		}
	}, cli.IntegrityStatus(v.OK))
}

// openOrAdvise opens the store. advice is the suggestion for one with a damaged store.json.
func openOrAdvise(ctx context.Context, a *cli.App, advice string) (*cli.Store, error) {
	o, err := a.Open(ctx)
	if fault.Is(err, fault.StoreCorrupt) {
		err = fault.Of(err).Suggest("%s", advice)
	}
	return o, err
}

// headMismatch returns HEAD_MISMATCH for a valid log that does not contain the
// expected head: it was truncated, or replaced by another log.
func headMismatch(s verify.SessionVerdict, expected canon.Digest) error {
	return fault.New(fault.HeadMismatch,
		"the log of %s does not contain the head %s: it was truncated, or replaced by another log",
		s.SessionID, expected).
		Suggest("Compare with a backup that contains the expected head. The head of the log is now %s.", s.Head.Digest).
		With("sessionId", s.SessionID.String()).With("expected", expected.String()).With("head", s.Head.Digest.String())
}

// showHeads prints the heads of the logs. A user can keep them outside of the
// store and pass them to --expect-head later.
func showHeads(p *page.Page, v verify.Verification) {
	for _, s := range v.Sessions {
		since := ""
		if s.Since == verify.HeadAhead {
			since = ", which contains the expected head and later events"
		}
		p.Line("%s has the head %s%s.", s.SessionID, s.Head.Digest, since)
	}
}
