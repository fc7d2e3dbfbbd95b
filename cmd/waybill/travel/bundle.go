package travel

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/infra/discovery"
)

// bundleLong is what 'waybill bundle --help' prints above the usage.
const bundleLong = `Inspect an exported bundle without importing it. Nothing is written. No store is needed,
except when diff compares a bundle with a session of the store.`

// NewBundle returns the command "bundle" with its subcommands, which inspect a
// bundle and import nothing. Each of them reads a file or, for "-", stdin.
func NewBundle(a *cli.App) *cobra.Command {
	return cli.NewGroup("bundle", cli.GroupMaintain, "Inspect an exported session bundle", bundleLong,
		newBundleShow(a), newBundleVerify(a), newBundleDiff(a))
}

// newBundleShow returns "bundle show". It needs no store: the runs are projected
// from the log in the bundle. A bundle whose log is invalid is rejected, as its
// import would be.
func newBundleShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show the runs in a bundle",
		Long: `Show the runs of a bundle as 'waybill runs show' would show them, and the facts about
the bundle: its head, when it was exported, and whether it was salvaged or redacted.
Nothing is changed.`,
		Example: "  waybill bundle show build.bundle.json\n  waybill bundle show - < build.bundle.json",
		Args:    cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBundle(cmd.Context(), a, args[0], func(b *bundlefile.File) error {
				doc, err := travel.ShowBundle(cmd.Context(), b, discovery.IsBundled)
				if err != nil {
					return err
				}
				return a.Answer("bundle", doc, func(p *page.Page) { showBundle(a, doc, p) })
			})
		},
	}
}

// newBundleVerify returns "bundle verify". It makes every check that an import
// makes before it writes; the exit status is 5 if one fails. With --signers the
// bundle also has to be signed by one of the keys of that file.
//
// The document is "verification", as of 'verify' for one session. Nothing is
// written.
func newBundleVerify(a *cli.App) *cobra.Command {
	var signers, signature string
	return cli.WithOptions(&cobra.Command{
		Use:   "verify FILE",
		Short: "Check a bundle as import does, and who signed it",
		Long: `Make the checks that an import makes before it writes: digests, the log, and every
reference. Exit status 0 means that the bundle can be imported, 5 that it is damaged.

With --signers, also check that FILE.sig is a signature over the bundle by one of the keys
in ALLOWED_SIGNERS, a file in the form of ssh-keygen(1), whose times of validity are
compared with the present time. No store is believed. Exit status 5 without a signature,
or with one that does not count.`,
		Example: "  waybill bundle verify build.bundle.json\n" +
			"  waybill bundle verify build.bundle.json --signers allowed_signers\n" +
			"  waybill bundle verify - < build.bundle.json",
		Args: cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verifyBundle(cmd, a, args[0], signers, signature)
		},
	},
		cli.Opt(&signers, "signers ALLOWED_SIGNERS", "expect the signature of a key in the file ALLOWED_SIGNERS"),
		cli.Opt(&signature, "signature FILE", "with --signers: the signature (default FILE.sig)"))
}

// verifyBundle checks a bundle and, where signers names a file, its signature.
func verifyBundle(cmd *cobra.Command, a *cli.App, name, signers, signature string) error {
	var keys consent.Signers
	if wanted := cmd.Flags().Changed("signers"); wanted {
		var err error
		if err = checkSignatureFlag(cmd, name, signature, true); err != nil {
			return err
		}
		if keys.List, err = a.ReadSigners("--signers", signers); err != nil {
			return err
		}
	} else if signature != "" {
		return cli.UsageFault(cmd, "--signature is checked with --signers").
			Suggest("Name the keys that may sign with --signers.")
	}
	return withBundle(cmd.Context(), a, name, func(b *bundlefile.File) error {
		var doc document.BundleVerification
		var err error
		if doc.Verification, err = verify.Bundle(cmd.Context(), b, nil); err != nil {
			return err
		}
		if !keys.IsZero() {
			if err := checkSignature(cmd.Context(), a, b, keys, cmp.Or(signature, name+signatureSuffix), &doc); err != nil {
				return err
			}
		}
		return a.AnswerVerdict("verification", doc, func(p *page.Page) {
			render.BundleVerification(p, doc.Verification)
			if doc.Signer != nil {
				p.Text(p.Good("✓ "), "Signed by "+doc.Signer.Principal+" ("+doc.Signer.Fingerprint+").")
			}
		}, cli.IntegrityStatus(doc.OK))
	})
}

// newBundleDiff returns "bundle diff". The second argument is a bundle if it is
// spelled as a file, else a session or run of the store. The exit status is 0
// for different logs too.
func newBundleDiff(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "diff FILE OTHER",
		Short: "Compare two bundles, or a bundle with a session of the store",
		Long: `Compare the logs of two bundles: they are the same, one extends the other, or they
diverged after a common event. OTHER is a file, or a SESSION or RUN of the store.
Nothing is changed.`,
		Example: "  waybill bundle diff monday.bundle.json friday.bundle.json\n" +
			"  waybill bundle diff build.bundle.json @last",
		Args: cli.Exactly("FILE", "OTHER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBundle(cmd.Context(), a, args[0], func(b *bundlefile.File) error {
				doc, err := diffBundle(cmd.Context(), a, b, args[1])
				if err != nil {
					return err
				}
				return a.Answer("bundle_diff", doc, func(p *page.Page) { showDiff(doc, args[0], args[1], p) })
			})
		},
	}
}

// withBundle opens a bundle, calls use and closes the bundle. The memory of the process is limited
// meanwhile: a bundle is read through a window and may be larger than memory.
func withBundle(ctx context.Context, a *cli.App, name string, use func(*bundlefile.File) error) error {
	defer cli.LimitMemory()()
	b, err := openBundle(ctx, a, name)
	if err != nil {
		return err
	}
	defer b.Close()
	return use(b)
}

// diffBundle compares the log of a bundle with the log of another bundle, or of a
// session in the store.
func diffBundle(ctx context.Context, a *cli.App, b *bundlefile.File, other string) (travel.BundleDiff, error) {
	// The spelling decides, so that the meaning of the command does not depend on
	// which files exist.
	if cli.IsFile(other) {
		second, err := openBundle(ctx, a, other)
		if err != nil {
			return travel.BundleDiff{}, err
		}
		defer second.Close()
		return travel.DiffBundles(ctx, travel.Side{Logs: b, Session: b.Session()},
			travel.Side{Logs: second, Session: second.Session()})
	}
	return cli.Ask(ctx, a, func(ctx context.Context, o *cli.Store) (travel.BundleDiff, error) {
		s, err := o.ResolveSession(ctx, other)
		if err != nil {
			return travel.BundleDiff{}, err
		}
		return travel.DiffBundles(ctx, travel.Side{Logs: b, Session: b.Session()},
			travel.Side{Logs: o.Logs(), Session: s})
	})
}

// showBundle prints the facts about a bundle, warnings about salvage and
// redaction, and then each of its runs.
func showBundle(a *cli.App, doc travel.BundleInfo, p *page.Page) {
	p.Line("%s", p.Bold("Bundle "+page.OneLine(doc.BundleID)))
	p.Facts(doc.SessionID.String(), page.Plural(int(doc.Events), "event"), "exported "+page.OneLine(doc.ExportedAt),
		"by version "+
			page.OneLine(doc.AppVersion))
	p.Line("%s", p.Dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
		// A healthy log is salvaged if a file that it refers to is missing.
		damage := "the session was " + render.Health(doc.Salvage.Health)
		if doc.Salvage.Health == manifest.Healthy {
			damage = "a file that its log refers to was missing"
		}
		p.Text(p.Warn("! "), "Salvaged: "+damage+"; events after the damage are not included.")
	}
	if doc.Redacted != nil {
		p.Text(p.Warn("! "), "Redacted: texts differ from what was recorded.")
	}
	for _, run := range doc.Runs {
		p.Line("")
		showBundledRun(a, run, p)
	}
}

// showBundledRun prints a run with its steps. Unlike 'runs show' it suggests no
// commands, since those require the run to be in a store.
func showBundledRun(a *cli.App, r views.RunDetails, p *page.Page) {
	p.StyledText(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
	p.Facts(render.WorkflowID(r.Workflow.WorkflowID, r.Source), r.RunID.String(),
		page.CountOf(int(r.Progress.Completed), int(r.Progress.Total))+
			" done", "started "+page.ClockTime(r.StartedAtMs, "2 Jan 2006 15:04"))
	render.FeedbackFacts(p, r.RunSummary)
	for i, s := range r.Steps {
		render.StepRow(p, i+1, s, r.Status)
		for _, c := range s.Checkpoints {
			render.Checkpoint(p, "       ", c)
		}
	}
}

// showDiff prints the relation of two logs as a sentence, and below it the head
// of each with the first events that only it contains. one and other are the
// arguments of the command line.
func showDiff(doc travel.BundleDiff, one, other string, p *page.Page) {
	// A file name can contain control characters: the user may have completed it
	// from a directory that others write to.
	one, other = page.OneLine(one), page.OneLine(other)
	switch doc.Relation {
	case travel.Same:
		p.Line("The same: %s.", page.Plural(int(doc.Events[0]), "event"))
	case travel.Ahead:
		p.Text("", one+" is ahead: both share "+page.Plural(int(doc.Common), "event")+", and it has "+
			page.Itoa(int(doc.Events[0]-doc.Common))+" more.")
	case travel.Behind:
		p.Text("", other+" is ahead: both share "+page.Plural(int(doc.Common), "event")+", and it has "+
			page.Itoa(int(doc.Events[1]-doc.Common))+" more.")
	default:
		p.Text("", "Diverged: both share "+page.Plural(int(doc.Common), "event")+", then they differ.")
	}
	for i, name := range []string{one, other} {
		p.Line("  %s  %s", p.Dim(doc.Heads[i].String()), name)
		for _, e := range doc.After[i] {
			p.Line("    %d  %s", e.Index, e.Kind)
		}
	}
}
