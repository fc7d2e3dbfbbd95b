package workflows

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/terminal"
)

// newInspect makes "workflows inspect". It shows a workflow as it would be run;
// one that does not validate is an error that names the first problem. The
// document is the same as that of the agents' tool, with whole prompts.
func newInspect(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE|ID",
		Short: "Show what a workflow asks for, step by step",
		Long: `Show a workflow before it is run: what it is for, what it needs to be told, its steps,
and the commands that it would run.`,
		Example: "  waybill workflows inspect wr.demo\n  waybill workflows inspect ./release.yaml --json",
		Args:    cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.Workflow(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Answer("workflow", document.InspectionOf(e), func(p *page.Page) { showInspection(p, e) })
		},
	}
}

// showInspection prints what a person wants to know before a start or before
// trusting commands: what the workflow is for, what it needs, its steps, and
// each command in full.
//
// Prompts are left out: they are shown with the steps, and are long. 'workflows
// compile' has them.
func showInspection(p *page.Page, e catalog.Entry) {
	w := e.Compiled
	p.Line("%s %s", p.Bold(page.Clean(w.Name)), p.Dim(page.Clean(w.Version)))
	p.Facts(page.Clean(w.WorkflowID), string(e.Kind), page.Clean(e.Ref), page.ShortDigest(w.Hash()))
	p.Line("")
	p.Text("", w.Description)
	showSection(p, "Before you start", w.Preconditions)
	// Only what the start itself needs; inputs of steps are with the steps.
	if len(w.Inputs) > 0 {
		p.Line("")
		p.Line("%s", p.Bold("It needs to be told"))
		showInputs(p, "  ", w.Inputs)
	}
	p.Line("")
	p.Line("%s", p.Bold("Steps"))
	for i, s := range w.Steps {
		showStep(p, page.Pad(page.Itoa(i+1), 4), s)
		showBody(p, w, s, "      ")
	}
}

// showBody prints the steps of a loop below it, and those of a loop within it
// below that. Other steps have no body.
func showBody(p *page.Page, w compile.Compiled, s compile.Step, indent string) {
	// A step of type loop has its body in the list of loops.
	loop, ok := w.Loop(s.StepID)
	if s.Type != compile.LoopStep || !ok {
		return
	}
	p.Text(indent, loopWords(loop))
	for _, inner := range loop.Body {
		showStep(p, indent+"-", inner)
		showBody(p, w, inner, indent+"    ")
	}
}

// loopWords are how often a loop repeats, in words. Counts and lists that come
// from the context are not known before the run, so the maximum is given with
// them. A loop that an artifact controls is decided after each round.
func loopWords(l compile.Loop) string {
	at := "up to " + page.Plural(int(l.MaxIterations), "round")
	switch {
	// A number is known, a context key is not.
	case l.Kind == compile.For && l.Count.Kind() == canon.Number:
		return page.Plural(int(l.Count.Float()), "round")
	case l.Kind == compile.For:
		return at + ", as many as " + page.Clean(l.Count.Text()) + " says"
	case l.Kind == compile.ForEach:
		return at + ", one for each of " + page.Clean(l.Items)
	case l.Control != nil && l.Control.Kind == compile.ByArtifact:
		return at + ", decided after each"
	}
	return at + ", " + string(l.Kind) + " a condition holds"
}

// showSection prints a list below its title, and nothing where the list is
// empty.
func showSection(p *page.Page, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold(title))
	for _, l := range lines {
		p.Text("  ", "- "+l)
	}
}

// showInputs prints what only the caller can give, with the choices where they
// are fixed.
func showInputs(p *page.Page, indent string, inputs []source.Input) {
	for _, in := range inputs {
		text := in.ContextKey + ": " + in.Description
		if len(in.Choices) > 0 {
			text += " (" + strings.Join(in.Choices, ", ") + ")"
		}
		p.Text(indent, text)
	}
}

// showStep prints one step behind lead: its title, what it demands of its
// performer, its command and its inputs. Where the demands do not fit on the
// line, they go below the title.
//
// The command is one line and is not cut: a person must see all of it before it
// runs.
func showStep(p *page.Page, lead string, s compile.Step) {
	// What the step demands of its performer.
	var notes []string
	if !s.RunCondition.IsZero() {
		notes = append(notes, "only under a condition")
	}
	switch s.RequireConfirmation.Kind {
	case compile.ConfirmAlways:
		notes = append(notes, "waits for a person")
	case compile.ConfirmIf:
		notes = append(notes, "may wait for a person")
	case compile.ConfirmApproval:
		notes = append(notes, "needs an approval")
	}
	if s.OutputContract != nil && s.OutputContract.Required {
		notes = append(notes, "hands in "+s.OutputContract.ContractRef)
	}
	if len(s.AssessmentRefs) > 0 {
		notes = append(notes, "assesses "+strings.Join(s.AssessmentRefs, ", "))
	}
	if s.NotesRequired {
		notes = append(notes, "notes required")
	}
	for _, in := range s.Injected {
		if strings.HasPrefix(in.OriginID, "prompt:") { // other texts of ours go without saying
			notes = append(notes, "asks what "+in.OriginID+" says")
		}
	}
	// On one line where that fits.
	line, about := lead+"  "+page.Clean(s.Title), strings.Join(notes, ", ")
	switch {
	case about == "":
		p.Text(lead+"  ", s.Title)
	case p.Width > 0 && terminal.TextWidth(line+"  ("+about+")") > p.Width:
		p.Text(lead+"  ", s.Title)
		p.Painted(strings.Repeat(" ", len(lead))+"  ", "("+about+")", p.Dim)
	default:
		p.Line("%s%s", line, p.Dim("  ("+about+")"))
	}
	if s.Action != nil {
		p.Line("%s  %s", strings.Repeat(" ", len(lead)), p.Dim("$ "+command.Line(s.Action.Argv)))
	}
	showInputs(p, strings.Repeat(" ", len(lead))+"  needs ", s.Inputs)
}
