package travel

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/bundlefile"
)

// bundleLong is what 'waybill bundle --help' prints above the usage.
const bundleLong = `Look into a bundle without importing it. No store is needed, but where diff compares
with a session of one.`

// NewBundle makes the command "bundle" with its subcommands, which look into a
// bundle and import nothing. Each of them reads a file or, for "-", stdin.
func NewBundle(a *cli.App) *cobra.Command {
	return cli.NewGroup("bundle", cli.GroupStore, "Look into an exported file", bundleLong,
		newBundleShow(a), newBundleVerify(a), newBundleDiff(a))
}

// newBundleShow makes "bundle show". It needs no store: the runs are folded
// from the bundle's own log. A bundle whose log does not hold together is
// refused, as its import would be.
func newBundleShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show what a bundle holds",
		Long: `Show the runs of a bundle as 'waybill runs show' would show them, and what the bundle
says about itself.`,
		Example: "  waybill bundle show build.bundle.json\n  waybill bundle show - < build.bundle.json",
		Args:    cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := readBundle(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			defer done()
			doc, err := engine.ShowBundle(cmd.Context(), b)
			if err != nil {
				return err
			}
			return a.Answer("bundle", doc, func(p *page.Page) { showBundle(a, doc, p) })
		},
	}
}

// newBundleVerify makes "bundle verify". It makes every check that an import
// makes before it writes, and ends with exit status 5 where one fails.
//
// The document is the one of 'verify', about one session. The bundle is read
// once and nothing is written.
func newBundleVerify(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a bundle as import would",
		Long: `Check everything about a bundle that an import checks: its digests, its log, every
reference. Exit status 0 says that it can be imported.`,
		Example: "  waybill bundle verify build.bundle.json\n  waybill bundle verify - < build.bundle.json",
		Args:    cli.Exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := readBundle(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			defer done()
			v, err := engine.VerifyBundle(cmd.Context(), b)
			if err != nil {
				return err
			}
			if err := a.Answer("verification", v, func(p *page.Page) { render.Verification(p, v) }); err != nil ||
				v.OK {
				return err
			}
			return cli.ExitWith(fault.ExitIntegrity)
		},
	}
}

// newBundleDiff makes "bundle diff". The second argument is a bundle where it
// is spelled as a file, else a session or run of the store. Logs that differ
// are an answer, and the exit status is 0.
func newBundleDiff(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "diff FILE OTHER",
		Short: "Compare two bundles, or a bundle with a session of the store",
		Long: `Say how the logs of two bundles stand to each other: the same, one ahead of the other,
or diverged, and from which event on. OTHER may be a SESSION or RUN of the store.`,
		Example: "  waybill bundle diff monday.bundle.json friday.bundle.json\n" +
			"  waybill bundle diff build.bundle.json @last",
		Args: cli.Exactly("FILE", "OTHER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := readBundle(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			defer done()
			doc, err := diffBundle(cmd.Context(), a, b, args[1])
			if err != nil {
				return err
			}
			return a.Answer("bundle_diff", doc, func(p *page.Page) { showDiff(doc, args[0], args[1], p) })
		},
	}
}

// readBundle opens a bundle and keeps memory small until done is called: a
// bundle is read through a window and may be larger than memory. done closes
// it.
func readBundle(ctx context.Context, a *cli.App, name string) (b *bundlefile.File, done func(), err error) {
	// Until done is called, memory stays small.
	back := cli.LimitMemory()
	if b, err = openBundle(ctx, a, name); err != nil {
		back()
		return nil, nil, err
	}
	return b, func() { _ = b.Close(); back() }, nil
}

// diffBundle compares the log of a bundle with that of another bundle, or with
// that of a session in the store.
func diffBundle(ctx context.Context, a *cli.App, b *bundlefile.File, other string) (engine.BundleDiff, error) {
	// The spelling decides, and not which files exist.
	if cli.IsFile(other) {
		second, err := openBundle(ctx, a, other)
		if err != nil {
			return engine.BundleDiff{}, err
		}
		defer second.Close()
		return engine.DiffBundles(ctx, engine.ReadOnly(b), b.Session(), engine.ReadOnly(second), second.Session())
	}
	o, err := a.Open(ctx)
	if err != nil {
		return engine.BundleDiff{}, err
	}
	defer o.Close()
	s, err := o.SessionOf(ctx, other)
	if err != nil {
		return engine.BundleDiff{}, err
	}
	return engine.DiffBundles(ctx, engine.ReadOnly(b), b.Session(), o.Engine, s)
}

// showBundle prints what a bundle says of itself, a salvage and redaction
// first, and then each of its runs.
func showBundle(a *cli.App, doc engine.BundleShown, p *page.Page) {
	p.Line("%s", p.Bold("Bundle "+page.Clean(doc.BundleID)))
	p.Facts(doc.SessionID.String(), page.Plural(int(doc.Events), "event"), "exported "+page.Clean(doc.ExportedAt),
		"by version "+
			page.Clean(doc.AppVersion))
	p.Line("%s", p.Dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
		// The log may be whole while something that it refers to is missing.
		damage := "the session was " + render.Health(doc.Salvage.Health)
		if doc.Salvage.Health == manifest.Healthy {
			damage = "something that its log refers to was gone" // the log itself held
		}
		p.Text(p.Warn("! "), "A salvage: "+damage+", and what stood behind the damage is not in it.")
	}
	if doc.Redacted != nil {
		p.Text(p.Warn("! "), "Redacted: it is not word for word what was recorded.")
	}
	for _, run := range doc.Runs {
		p.Line("")
		showBundledRun(a, run, p)
	}
}

// showBundledRun prints a run with its steps. Unlike 'runs show' it suggests no
// commands, since they would need the run in a store.
func showBundledRun(a *cli.App, r engine.RunDetails, p *page.Page) {
	p.Painted(render.Mark(p, r.Status)+" ", r.Title+"  "+render.Status(r.Status), p.Bold)
	p.Facts(page.Clean(r.Workflow.WorkflowID), r.RunID.String(),
		page.CountOf(int(r.Progress.Completed), int(r.Progress.Total))+
			" done", "started "+page.ClockTime(r.StartedAtMs, "2 Jan 2006 15:04"))
	render.AnnotationFacts(p, r.RunSummary)
	for i, s := range r.Steps {
		render.StepRow(p, i+1, s, false)
	}
}

// showDiff prints the relation of two logs in a sentence, and below it the head
// of each with the first events that only it has. The names are those of the
// command line.
func showDiff(doc engine.BundleDiff, one, other string, p *page.Page) {
	// Names come from the command line, but files can be named by others.
	one, other = page.Clean(one), page.Clean(other)
	switch doc.Relation {
	case engine.Same:
		p.Line("The same: %s.", page.Plural(int(doc.Events[0]), "event"))
	case engine.Ahead:
		p.Text("", one+" went on: both share "+page.Plural(int(doc.Common), "event")+", and it has "+
			page.Itoa(int(doc.Events[0]-doc.Common))+" more.")
	case engine.Behind:
		p.Text("", other+" went on: both share "+page.Plural(int(doc.Common), "event")+", and it has "+
			page.Itoa(int(doc.Events[1]-doc.Common))+" more.")
	default:
		p.Text("", "Diverged: both share "+page.Plural(int(doc.Common), "event")+", then go different ways.")
	}
	for i, name := range []string{one, other} {
		p.Line("  %s  %s", p.Dim(doc.Heads[i].String()), name)
		for _, e := range doc.After[i] {
			p.Line("    %d  %s", e.Index, e.Kind)
		}
	}
}
