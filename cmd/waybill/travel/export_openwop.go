package travel

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/bundlefile"
)

// openWOP is the format of export that writes a debug bundle (docs/design.md#openwop).
const openWOP = "openwop"

// checkDebug refuses what a debug bundle does not have.
func checkDebug(cmd *cobra.Command, ref string, in exportInput) error {
	if in.salvage || in.redact {
		return cli.UsageFault(cmd, "--format openwop cannot be combined with --salvage and --redact").
			Suggest("Leave them out: a debug bundle has no secrets, and of a damaged session what is valid.")
	}
	if _, err := id.ParseSession(ref); err == nil {
		return cli.UsageFault(cmd, "a debug bundle is of one run, and %s is a session", ref).
			Suggest("Name a run. %s lists them.", fault.Command{"runs", "list"})
	}
	return nil
}

// runExportDebug writes the debug bundle of a run and answers with the document "debug_bundle". With -o -
// stdout has only the bundle.
func runExportDebug(ctx context.Context, a *cli.App, o *cli.Store, ref string, in exportInput) error {
	at, err := o.Wire.Locate(ctx, ref)
	if err != nil {
		return err
	}
	annotations, err := learning.CurrentAnnotations(ctx, o.Learning, at.Run.String())
	if err != nil {
		return err
	}
	b, err := o.Wire.Bundle(ctx, at.Run.String(), a.Clock().UTC().Format("2006-01-02T15:04:05.000Z"), annotations)
	if err != nil {
		return err
	}
	raw, err := canon.Marshal(b)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cannot encode the debug bundle as JSON")
	}
	raw = append(raw, '\n')
	doc := document.DebugBundle{RunID: at.Run, Events: b.Metrics.EventCount, Annotations: int64(len(b.Annotations)),
		Bytes: int64(len(raw)), Truncated: b.Truncated}
	if in.file == "-" {
		if err := a.WriteJSON(raw); err != nil {
			return err
		}
		a.Note(func(p *page.Page) { showDebug(doc, b, p) })
		return nil
	}
	doc.File = cmp.Or(in.file, at.Run.String()+".debug.json")
	target, err := bundlefile.Create(doc.File, in.force)
	if err != nil {
		return err
	}
	if _, err := target.Write(raw); err != nil {
		target.Abandon()
		return err
	}
	if err := target.Commit(); err != nil {
		return err
	}
	return a.Answer("debug_bundle", doc, func(p *page.Page) { showDebug(doc, b, p) })
}

// showDebug prints what a debug bundle has.
func showDebug(doc document.DebugBundle, b openwop.DebugBundle, p *page.Page) {
	what := []string{page.Plural(int(doc.Events), "run event")}
	if doc.Annotations > 0 {
		what = append(what, page.Plural(int(doc.Annotations), "annotation"))
	}
	p.Text(p.Good("✓ "), page.List(what, "and")+" exported to "+cmp.Or(doc.File, "stdout"))
	p.Facts(doc.RunID.String(), string(b.Run.Status), page.Size(doc.Bytes))
	if doc.Truncated {
		p.Text(p.Warn("! "), "The bundle is bounded: later events or annotations are left out.")
	}
	p.Text("", "Secrets are removed. Check the file before you share it: only known patterns are found.")
}
