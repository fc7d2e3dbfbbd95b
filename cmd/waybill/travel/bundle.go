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

const bundleLong = `Look into a bundle without importing it. No store is needed, but where diff compares
with a session of one.`

func NewBundle(a *cli.App) *cobra.Command {
	return cli.NewGroup("bundle", cli.GroupStore, "Look into an exported file", bundleLong,
		newBundleShow(a), newBundleVerify(a), newBundleDiff(a))
}

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

// readBundle opens a bundle for a look; done lets go of it.
func readBundle(ctx context.Context, a *cli.App, name string) (b *bundlefile.File, done func(), err error) {
	back := cli.LimitMemory()
	if b, err = openBundle(ctx, a, name); err != nil {
		back()
		return nil, nil, err
	}
	return b, func() { _ = b.Close(); back() }, nil
}

// diffBundle compares with another bundle where a file of that name is there, else
// with what the store holds.
func diffBundle(ctx context.Context, a *cli.App, b *bundlefile.File, other string) (engine.BundleDiff, error) {
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

func showBundle(a *cli.App, doc engine.BundleShown, p *page.Page) {
	p.Line("%s", p.Bold("Bundle "+page.Clean(doc.BundleID)))
	p.Facts(doc.SessionID.String(), page.Plural(int(doc.Events), "event"), "exported "+page.Clean(doc.ExportedAt),
		"by version "+
			page.Clean(doc.AppVersion))
	p.Line("%s", p.Dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
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

// showBundledRun shows a run without commands that would need a store.
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

func showDiff(doc engine.BundleDiff, one, other string, p *page.Page) {
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
