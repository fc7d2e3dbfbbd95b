package workflows

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// inspected has the values of the flags of inspect.
type inspected struct {
	source, compiled bool
	pinned           string // the run to whose workflow --pinned refers
}

// entry returns the workflow to show: that of FILE or ID, or the one to which a run is pinned.
func (in inspected) entry(cmd *cobra.Command, a *cli.App, args []string) (catalog.Entry, error) {
	switch {
	case in.pinned == "" && len(args) == 0:
		return catalog.Entry{}, cli.UsageFault(cmd, "'%s' needs FILE or ID, or --pinned RUN", cmd.CommandPath())
	case in.pinned == "" && in.source && in.compiled:
		return catalog.Entry{}, cli.UsageFault(cmd, "--source and --compiled cannot be combined")
	case in.pinned == "":
		return a.Workflow(cmd.Context(), args[0])
	case len(args) > 0:
		return catalog.Entry{}, cli.UsageFault(cmd, "--pinned RUN takes the workflow of the run; %q names another one", args[0])
	case in.source:
		return catalog.Entry{}, cli.UsageFault(cmd, "a run is pinned to the compiled form: its source is not stored").
			Suggest("Leave --source out, or name the file.")
	}
	return cli.Ask(cmd.Context(), a, func(ctx context.Context, o *cli.Store) (catalog.Entry, error) {
		run, err := o.Run(ctx, in.pinned)
		if err != nil {
			return catalog.Entry{}, err
		}
		w, err := o.Workflow(ctx, run.Workflow.WorkflowHash)
		return catalog.Entry{File: catalog.File{Kind: source.SourceKind(run.SourceKind), Ref: run.SourceRef, Attached: attachedOf(run.Source)},
			Compiled: w, ID: w.WorkflowID, Name: w.Name, Description: w.Description, Version: w.Version, Problems: []source.Problem{}}, err
	})
}

// attachedOf returns the name of the attached folder of a source, "" for another one.
func attachedOf(from string) string {
	name, _ := strings.CutPrefix(from, string(event.SourcePlugin)+":")
	if name == from {
		return ""
	}
	return name
}

// show prints the form that the flags select.
func (in inspected) show(a *cli.App, e catalog.Entry) error {
	doc := document.InspectionOf(e)
	switch {
	case in.source:
		if doc.SourceText = string(e.Data); !a.Flags.JSON {
			return printSource(a, e.Data)
		}
	case in.compiled:
		return a.Answer("workflow", doc, func(p *page.Page) { showCompiled(p, e) })
	}
	return a.Answer("workflow", doc, func(p *page.Page) { showInspection(p, e) })
}

// printSource prints the bytes of a file: exactly in a pipe, without hidden characters at a terminal.
func printSource(a *cli.App, text []byte) error {
	if !a.IsTerminal(a.Out) {
		return a.Write(text)
	}
	p := a.NewPage(a.Out)
	p.Print(strings.TrimRight(page.Clean(string(text)), "\n") + "\n")
	return a.Write(p.Bytes())
}

// showCompiled prints each step with its whole prompt as it is compiled, and where each of its lines comes from: lines of
// an injected text have its number before them.
func showCompiled(p *page.Page, e catalog.Entry) {
	w := e.Compiled
	p.Line("%s %s", p.Bold(page.OneLine(w.Name)), p.Dim(page.OneLine(w.Version)))
	p.Facts(page.OneLine(w.WorkflowID), w.Hash().String())
	uses := catalog.Uses(w)
	sequence := func(steps []compile.Step, of string) {
		for _, s := range steps {
			p.Line("")
			showProvenance(p, s, of, uses)
		}
	}
	sequence(w.Steps, "")
	for _, l := range w.Loops {
		sequence(l.Body, l.LoopID)
	}
	showUses(p, uses)
}

// showProvenance prints one step for showCompiled. of is the loop whose body has it, "" for none.
func showProvenance(p *page.Page, s compile.Step, of string, uses []catalog.Use) {
	about := []string{s.StepID}
	if of != "" {
		about = append(about, "in loop "+of)
	}
	if s.Provenance.Source != compile.Authored {
		about = append(about, "put in by "+s.Provenance.OriginID)
	}
	p.StyledText("", s.Title+"  ("+strings.Join(about, ", ")+")", p.Bold)
	from := catalog.InjectedLines(s, uses)
	for i, line := range slices.Collect(strings.Lines(s.Prompt)) {
		lead, paint := "    ", page.Plain
		if from[i] > 0 {
			lead, paint = " "+page.Pad(page.Itoa(from[i]), 2)+" ", p.Accent
		}
		p.Quote(lead, line, paint)
	}
	for i, in := range s.Injected {
		text := page.Itoa(i+1) + ": " + in.OriginID + ", " + page.Plural(in.Bytes, "byte")
		if strings.HasPrefix(in.OriginID, "prompt:") {
			text += ": the prompt template of the step"
		}
		p.StyledText("    ", text, p.Dim)
	}
}
