package runs

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/compare"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/diff"
)

// newDiff returns "runs diff". The exit status is 0 for different runs too.
func newDiff(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two runs of a workflow, step by step",
		Long: `Compare two runs of one workflow: the first difference, and each step that differs in its
outcome, its notes, its artifacts or the context. A and B are runs. Steps are compared in the
order in which each run reached them, on the path to the preferred tip.

Artifacts are compared by their digests; results of commands, checks and waits without their
times. Approvals are shown and not compared. A run and its fork are compared from the fork on.
A value of the context that differs is listed at the first step where it does.

The exit status is 0 whether or not the runs differ: with --json, data.first is null for runs
without a difference. Nothing is changed.`,
		Example: "  waybill runs diff k3j2a7 m4k2zz\n  waybill runs diff k3j2a7 @last --json | jq .data.first",
		Args:    cli.Exactly("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.LimitHeap()()
			return cli.Show(a, cmd, "run_diff",
				func(ctx context.Context, o *cli.Store) (compare.RunDiff, error) {
					return compare.Runs(ctx, o.Views, args[0], args[1])
				}, showRunDiff)
		},
	}
}

// showRunDiff prints both runs, the first difference, and a block for each step that differs.
func showRunDiff(p *page.Page, d compare.RunDiff) {
	for _, side := range []struct {
		name string
		compare.Run
	}{{"A", d.A}, {"B", d.B}} {
		p.StyledText(p.Dim(side.name)+"  "+p.Name(page.ShortRun(side.RunID), side.RunID.String())+"  "+
			render.Mark(p, side.Status)+" ", side.Title+"  "+render.Status(side.Status), p.Bold)
		if side.Health != manifest.Healthy {
			p.Text("   "+p.Warn("! "), "Its session is "+render.Health(side.Health)+": what can be read of it is compared.")
		}
	}
	if !d.SameWorkflow {
		p.Text(p.Warn("! "), "The runs follow two versions of "+d.A.WorkflowID+".")
	}
	if d.ForkedAt != nil {
		p.Facts("compared from the fork at " + page.ShortNode(*d.ForkedAt))
	}
	p.Line("")
	if d.First == nil {
		p.Line("No difference in %s.", page.Plural(d.A.Nodes, "node"))
		return
	}
	f := *d.First
	p.Text("", "First difference: "+diffStep(f.StepInstanceKey, f.Title)+", at position "+page.Itoa(f.Position)+
		" of the paths: "+firstTexts[f.What]+".")
	for _, s := range d.Steps {
		p.Line("")
		showDiffStep(p, s)
	}
}

// firstTexts say in what the first different nodes differ.
var firstTexts = map[diff.What]string{diff.OfStep: "the other run has another step there, or none",
	diff.OfOutcome: "its outcome", diff.OfOutputs: "its notes or artifacts", diff.OfContext: "the context"}

// diffStep names a step.
func diffStep(key, title string) string {
	if key == "" {
		return "the end"
	}
	return "“" + page.OneLine(title) + "” (" + render.Key(key) + ")"
}

// showDiffStep prints the facts of both runs in which a step differs.
func showDiffStep(p *page.Page, s diff.Step) {
	name := "The end"
	if s.StepInstanceKey != "" {
		name = s.Title + "  " + render.Key(s.StepInstanceKey)
	}
	p.StyledText("", name, p.Bold)
	switch {
	case s.B == nil:
		p.Text(diffLead(p, "step", "A"), "only here: "+diffOutcome(*s.A))
		return
	case s.A == nil:
		p.Text(diffLead(p, "step", "B"), "only here: "+diffOutcome(*s.B))
		return
	}
	both := func(label string, text func(diff.Node) string) {
		p.Text(diffLead(p, label, "A"), text(*s.A))
		p.Text(diffLead(p, "", "B"), text(*s.B))
	}
	if slices.Contains(s.Differs, diff.OfStep) {
		both("order", func(n diff.Node) string { return "step " + page.Itoa(n.Position) + " of the path" })
	}
	if slices.Contains(s.Differs, diff.OfOutcome) || s.A.Attempts != s.B.Attempts {
		both("outcome", diffOutcome)
	}
	if s.A.NotesDigest != s.B.NotesDigest {
		both("notes", func(n diff.Node) string { return diffNotes(p, n) })
	}
	if !diff.SameArtifacts(*s.A, *s.B) {
		both("outputs", func(n diff.Node) string { return diffOutputs(p, n) })
	}
	if len(s.A.ApprovedBy)+len(s.B.ApprovedBy) > 0 {
		both("approved", func(n diff.Node) string {
			return noneOr("by "+page.List(n.ApprovedBy, "and"), len(n.ApprovedBy))
		})
	}
	for _, c := range s.Context {
		p.Text(diffLead(p, "context", "A"), c.Key+": "+diffValue(c.A))
		p.Text(diffLead(p, "", "B"), c.Key+": "+diffValue(c.B))
	}
}

// diffLabelWidth is the width of the longest label, in columns.
const diffLabelWidth = len("approved")

// diffLead returns what precedes a fact of one run.
func diffLead(p *page.Page, label, side string) string {
	return p.Dim("  "+label+strings.Repeat(" ", diffLabelWidth-len(label))) + "  " + side + "  "
}

// noneOr returns "none" if n is 0, else the text.
func noneOr(text string, n int) string {
	if n == 0 {
		return "none"
	}
	return text
}

// diffOutcome returns the outcome of a step and how often it was tried.
func diffOutcome(n diff.Node) string {
	text := plainWord(string(n.Outcome))
	if n.Attempts > 1 {
		text += ", " + page.Plural(n.Attempts, "attempt")
	}
	return text
}

// diffNotes returns the beginning of notes with their digest.
func diffNotes(p *page.Page, n diff.Node) string {
	if n.NotesDigest.IsZero() {
		return "none"
	}
	return p.Name(page.ShortDigest(n.NotesDigest), n.NotesDigest.String()) + "  " + clipped(n.Notes)
}

// diffOutputs lists artifacts by kind and digest.
func diffOutputs(p *page.Page, n diff.Node) string {
	var out []string
	for _, o := range n.Outputs {
		kind := o.ArtifactKind
		if kind == "" {
			kind = o.ContentType
		}
		if !o.SHA256.IsZero() {
			kind += " " + p.Name(page.ShortDigest(o.SHA256), o.SHA256.String())
		}
		out = append(out, kind)
	}
	return noneOr(strings.Join(out, ", "), len(out))
}

// diffValue returns a value of the context in one line; null is the absence of one.
func diffValue(v canon.Value) string {
	if v.IsNull() {
		return "none"
	}
	return clipped(string(v.JCS()))
}

// clipped returns the beginning of a text, with a sign where more follows.
func clipped(text string) string {
	if cut := reason.Clip(text, valueShownMax); cut != text {
		return cut + " …"
	}
	return text
}
