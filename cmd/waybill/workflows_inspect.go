package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/terminal"
)

// inspection is the document "workflow": its row, and what is in it. Loops are as
// in the compiled workflow: a step of type loop, in Steps or in a body, stands for
// the one of them that has its id. One list keeps the schema of a step whole, where a
// body within a step would be a type within itself.
type inspection struct {
	workflowRow
	Preconditions []string          `json:"preconditions"`
	Inputs        []source.Input    `json:"inputs"`
	Steps         []compile.Step    `json:"steps"`
	Loops         []compile.Loop    `json:"loops"`
	Commands      []catalog.Command `json:"commands"`
	// Truncated says what was cut, and what has it whole; "" where nothing was.
	Truncated string `json:"truncated,omitzero"`
}

// inspectionOf is the document for a usable entry of the catalog.
func inspectionOf(e catalog.Entry) inspection {
	w := e.Compiled
	return inspection{workflowRow: rowOf(e), Preconditions: w.Preconditions, Inputs: w.Inputs, Steps: w.Steps,
		Loops: w.Loops, Commands: catalog.Commands(w)}
}

func newWorkflowsInspectCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE|ID",
		Short: "Show what a workflow asks for, step by step",
		Long: `Show a workflow before it is run: what it is for, what it needs to be told, its steps,
and the commands that it would run.`,
		Example: "  waybill workflows inspect wr.demo\n  waybill workflows inspect ./release.yaml --json",
		Args:    exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.workflow(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.answer("workflow", inspectionOf(e), func(p *page) { p.inspection(e) })
		},
	}
}

// inspection is what a person wants to know before they start or trust something.
func (p *page) inspection(e catalog.Entry) {
	w := e.Compiled
	p.line("%s %s", p.bold(clean(w.Name)), p.dim(clean(w.Version)))
	p.facts(clean(w.WorkflowID), string(e.Kind), clean(e.Ref), short(w.Hash()))
	p.line("")
	p.text("", w.Description)
	p.section("Before you start", w.Preconditions)
	if len(w.Inputs) > 0 {
		p.line("")
		p.line("%s", p.bold("It needs to be told"))
		p.inputs("  ", w.Inputs)
	}
	p.line("")
	p.line("%s", p.bold("Steps"))
	for i, s := range w.Steps {
		p.step(pad(itoa(i+1), 4), s)
		p.body(w, s, "      ")
	}
}

// body shows the steps of a loop below it, and those of a loop in it below that.
func (p *page) body(w compile.Compiled, s compile.Step, indent string) {
	loop, ok := w.Loop(s.StepID)
	if s.Type != compile.LoopStep || !ok {
		return
	}
	p.text(indent, loopWords(loop))
	for _, inner := range loop.Body {
		p.step(indent+"-", inner)
		p.body(w, inner, indent+"    ")
	}
}

// loopWords say how often a loop goes round.
func loopWords(l compile.Loop) string {
	at := "up to " + plural(int(l.MaxIterations), "round")
	switch {
	case l.Kind == compile.For && l.Count.Kind() == canon.Number:
		return plural(int(l.Count.Float()), "round")
	case l.Kind == compile.For:
		return at + ", as many as " + clean(l.Count.Text()) + " says"
	case l.Kind == compile.ForEach:
		return at + ", one for each of " + clean(l.Items)
	case l.Control != nil && l.Control.Kind == compile.ByArtifact:
		return at + ", decided after each"
	}
	return at + ", " + string(l.Kind) + " a condition holds"
}

// section is a list below its title; an empty one has no title either.
func (p *page) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.bold(title))
	for _, l := range lines {
		p.text("  ", "- "+l)
	}
}

// inputs lists what only the caller can give, with the choices where they are fixed.
func (p *page) inputs(indent string, inputs []source.Input) {
	for _, in := range inputs {
		text := in.ContextKey + ": " + in.Description
		if len(in.Choices) > 0 {
			text += " (" + strings.Join(in.Choices, ", ") + ")"
		}
		p.text(indent, text)
	}
}

// step shows one step: its title, what kind of step it is, and its command in full.
func (p *page) step(lead string, s compile.Step) {
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
	line, about := lead+"  "+clean(s.Title), strings.Join(notes, ", ")
	switch {
	case about == "":
		p.text(lead+"  ", s.Title)
	case p.width > 0 && terminal.TextWidth(line+"  ("+about+")") > p.width:
		p.text(lead+"  ", s.Title)
		p.painted(strings.Repeat(" ", len(lead))+"  ", "("+about+")", p.dim)
	default:
		p.line("%s%s", line, p.dim("  ("+about+")"))
	}
	if s.Action != nil {
		p.line("%s  %s", strings.Repeat(" ", len(lead)), p.dim("$ "+command.Line(s.Action.Argv)))
	}
	p.inputs(strings.Repeat(" ", len(lead))+"  needs ", s.Inputs)
}
