package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/bundlefile"
)

const bundleLong = `Look into a bundle without importing it. No store is needed, but where diff compares
with a session of one.`

func newBundleCommand(a *app) *cobra.Command {
	return newGroup("bundle", groupStore, "Look into an exported file", bundleLong,
		newBundleShowCommand(a), newBundleVerifyCommand(a), newBundleDiffCommand(a))
}

func newBundleShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show what a bundle holds",
		Long: `Show the runs of a bundle as 'waybill runs show' would show them, and what the bundle
says about itself.`,
		Example: "  waybill bundle show build.bundle.json\n  waybill bundle show - < build.bundle.json",
		Args:    exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := a.readBundle(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer done()
			doc, err := engine.ShowBundle(cmd.Context(), b)
			if err != nil {
				return err
			}
			return a.answer("bundle", doc, func(p *page) { a.tellBundle(doc, p) })
		},
	}
}

func newBundleVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a bundle as import would",
		Long: `Check everything about a bundle that an import checks: its digests, its log, every
reference. Exit status 0 says that it can be imported.`,
		Example: "  waybill bundle verify build.bundle.json\n  waybill bundle verify - < build.bundle.json",
		Args:    exactly("FILE or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := a.readBundle(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer done()
			v, err := engine.VerifyBundle(cmd.Context(), b)
			if err != nil {
				return err
			}
			if err := a.answer("verification", v, func(p *page) { p.verification(v) }); err != nil || v.OK {
				return err
			}
			return exitWith(fault.ExitIntegrity)
		},
	}
}

func newBundleDiffCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff FILE OTHER",
		Short: "Compare two bundles, or a bundle with a session of the store",
		Long: `Say how the logs of two bundles stand to each other: the same, one ahead of the other,
or diverged, and from which event on. OTHER may be a SESSION or RUN of the store.`,
		Example: "  waybill bundle diff monday.bundle.json friday.bundle.json\n" +
			"  waybill bundle diff build.bundle.json @last",
		Args: exactly("FILE", "OTHER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, done, err := a.readBundle(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer done()
			doc, err := a.diffBundle(cmd.Context(), b, args[1])
			if err != nil {
				return err
			}
			return a.answer("bundle_diff", doc, func(p *page) { tellDiff(doc, args[0], args[1], p) })
		},
	}
}

// readBundle opens a bundle for a look; done lets go of it.
func (a *app) readBundle(ctx context.Context, name string) (b *bundlefile.File, done func(), err error) {
	back := thrifty()
	if b, err = a.openBundle(ctx, name); err != nil {
		back()
		return nil, nil, err
	}
	return b, func() { _ = b.Close(); back() }, nil
}

// diffBundle compares with another bundle where a file of that name is there, else
// with what the store holds.
func (a *app) diffBundle(ctx context.Context, b *bundlefile.File, other string) (engine.BundleDiff, error) {
	if isFile(other) {
		second, err := a.openBundle(ctx, other)
		if err != nil {
			return engine.BundleDiff{}, err
		}
		defer second.Close()
		return engine.DiffBundles(ctx, engine.ReadOnly(b), b.Session(), engine.ReadOnly(second), second.Session())
	}
	o, err := a.open(ctx)
	if err != nil {
		return engine.BundleDiff{}, err
	}
	defer o.close()
	s, err := o.SessionOf(ctx, other)
	if err != nil {
		return engine.BundleDiff{}, err
	}
	return engine.DiffBundles(ctx, engine.ReadOnly(b), b.Session(), o.Engine, s)
}

func (a *app) tellBundle(doc engine.BundleShown, p *page) {
	p.line("%s", p.bold("Bundle "+clean(doc.BundleID)))
	p.facts(doc.SessionID.String(), plural(int(doc.Events), "event"), "exported "+clean(doc.ExportedAt), "by version "+
		clean(doc.AppVersion))
	p.line("%s", p.dim("head "+doc.Head.String()))
	if doc.Salvage != nil {
		damage := "the session was " + toldHealth(doc.Salvage.Health)
		if doc.Salvage.Health == manifest.Healthy {
			damage = "something that its log refers to was gone" // the log itself held
		}
		p.text(p.warn("! "), "A salvage: "+damage+", and what stood behind the damage is not in it.")
	}
	if doc.Redacted != nil {
		p.text(p.warn("! "), "Redacted: it is not word for word what was recorded.")
	}
	for _, run := range doc.Runs {
		p.line("")
		a.tellBundledRun(run, p)
	}
}

// tellBundledRun shows a run without commands that would need a store.
func (a *app) tellBundledRun(r engine.RunDetails, p *page) {
	p.painted(p.mark(r.Status)+" ", r.Title+"  "+told(r.Status), p.bold)
	p.facts(clean(r.Workflow.WorkflowID), r.RunID.String(), count(int(r.Progress.Completed), int(r.Progress.Total))+
		" done", "started "+clockTime(r.StartedAtMs, "2 Jan 2006 15:04"))
	p.said(r.RunSummary)
	for i, s := range r.Steps {
		p.stepRow(i+1, s, false)
	}
}

func tellDiff(doc engine.BundleDiff, one, other string, p *page) {
	one, other = clean(one), clean(other)
	switch doc.Relation {
	case engine.Same:
		p.line("The same: %s.", plural(int(doc.Events[0]), "event"))
	case engine.Ahead:
		p.text("", one+" went on: both share "+plural(int(doc.Common), "event")+", and it has "+
			itoa(int(doc.Events[0]-doc.Common))+" more.")
	case engine.Behind:
		p.text("", other+" went on: both share "+plural(int(doc.Common), "event")+", and it has "+
			itoa(int(doc.Events[1]-doc.Common))+" more.")
	default:
		p.text("", "Diverged: both share "+plural(int(doc.Common), "event")+", then go different ways.")
	}
	for i, name := range []string{one, other} {
		p.line("  %s  %s", p.dim(doc.Heads[i].String()), name)
		for _, e := range doc.After[i] {
			p.line("    %d  %s", e.Index, e.Kind)
		}
	}
}
