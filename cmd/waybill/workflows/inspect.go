package workflows

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// newInspect returns "workflows inspect". It shows a workflow as it would be run. An invalid
// workflow is WORKFLOW_INVALID with the first problem. The document is that of the MCP tool
// inspect_workflow, but with complete prompts.
func newInspect(a *cli.App) *cobra.Command {
	var in inspected
	return cli.WithOptions(&cobra.Command{
		Use:   "inspect [FILE|ID]",
		Short: "Show the steps, inputs and commands of a workflow",
		Long: `Show a workflow before it is run: its description, the inputs it requires, its steps, the
commands that it would run, and what it uses besides its own text: references, features,
contracts and routines, each with the steps that have it. JSON has the texts too. For an id
that is a former one, canonicalId is the present one. Nothing is executed or written.

--source prints the file as it is written. --compiled prints the prompt of each step as it is
compiled, and which lines were put in: by a reference, a feature, a prompt template, a routine or
an extension point. --pinned shows the version to which a run is pinned, also if the file has
changed since; it can be combined with --compiled.`,
		Example: "  waybill workflows inspect wr.demo\n  waybill workflows inspect ./release.yaml --json\n" +
			"  waybill workflows inspect --pinned @last --compiled",
		Args: cli.AtMost("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := in.entry(cmd, a, args)
			if err != nil {
				return err
			}
			return in.show(a, e)
		},
	},
		cli.Opt(&in.source, "source", "print the file as it is written"),
		cli.Opt(&in.compiled, "compiled", "print the compiled prompts, with where each text comes from"),
		cli.Opt(&in.pinned, "pinned RUN", "show the version to which the run RUN is pinned"))
}

// showInspection prints what a person needs before starting a workflow or trusting its
// commands: the description, preconditions, inputs, steps, and each command in full.
//
// Prompts are omitted because they are long and are shown with each step; 'workflows compile'
// prints them.
func showInspection(p *page.Page, e catalog.Entry) {
	w := e.Compiled
	p.Line("%s %s", p.Bold(page.OneLine(w.Name)), p.Dim(page.OneLine(w.Version)))
	p.Facts(page.OneLine(w.WorkflowID), page.OneLine(e.Source()), page.OneLine(e.Ref), page.ShortDigest(w.Hash()))
	if origin := e.Origin(); origin != "" {
		p.Text("Replaces  ", origin)
	}
	if e.NamedAs != "" {
		p.Text("", e.NamedAs+" is a former id of "+e.ID+".")
	}
	p.Line("")
	p.Prose("", w.Description, page.Plain)
	showSection(p, "Before you start", w.Preconditions)
	showSection(p, "Capabilities", capabilityLines(w.Capabilities))
	// Inputs of the start only; inputs of steps are shown with the steps.
	if len(w.Inputs) > 0 {
		p.Line("")
		p.Line("%s", p.Bold("Inputs"))
		showInputs(p, "  ", w.Inputs)
	}
	p.Line("")
	p.Line("%s", p.Bold("Steps"))
	for i, s := range w.Steps {
		showStep(p, page.Pad(page.Itoa(i+1), 4), s)
		showBody(p, w, s, "      ")
	}
	showUses(p, catalog.Uses(w))
}

// showUses prints what the workflow uses besides its own text, each with the steps that have it.
// 'workflows builtins' prints the texts.
func showUses(p *page.Page, uses []catalog.Use) {
	if len(uses) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold("Uses"))
	for _, u := range uses {
		about := string(u.Kind)
		if u.SlotID != "" {
			about += " of slot " + u.SlotID + " (" + u.Source + ")"
		}
		if u.Bytes > 0 {
			about += ", puts in " + page.Plural(u.Bytes, "byte")
		}
		if len(u.Steps) > 0 {
			about += ", in " + strings.Join(u.Steps, ", ")
		}
		p.Text("  ", u.ID+": "+about)
	}
}

// showBody prints the steps of a loop below it, recursively for nested loops. For other steps
// it prints nothing.
func showBody(p *page.Page, w compile.Compiled, s compile.Step, indent string) {
	// The body of a step of type loop is in the list of loops, under the same id.
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

// capabilityLines says of each capability that the workflow names what the run does about it.
func capabilityLines(c compile.Capabilities) []string {
	var out []string
	for _, of := range []struct {
		names []string
		about string
	}{{c.Required, "required: a step finds out whether it works, and the run stops without it"},
		{c.Preferred, "preferred: the run continues without it, and records that"}, {c.Disabled, "disabled: not used"}} {
		for _, name := range of.names {
			out = append(out, name+", "+of.about)
		}
	}
	return out
}

// loopWords returns how often a loop repeats, in words. Counts and lists from the context are
// unknown before the run, so the text contains the maximum. For a loop controlled by an
// artifact, each round decides whether another one follows.
func loopWords(l compile.Loop) string {
	at := "up to " + page.Plural(int(l.MaxIterations), "round")
	switch {
	// A literal count is known, a context key is not.
	case l.Kind == compile.For && l.Count.Kind() == canon.Number:
		return page.Plural(int(l.Count.Float()), "round")
	case l.Kind == compile.For:
		return at + ", as set by " + page.OneLine(l.Count.Text())
	case l.Kind == compile.ForEach:
		return at + ", one for each of " + page.OneLine(l.Items)
	case l.Control != nil && l.Control.Kind == compile.ByArtifact:
		return at + ", decided after each"
	}
	return at + ", " + string(l.Kind) + " a condition holds"
}

// showSection prints a list below its title, and nothing for an empty list.
func showSection(p *page.Page, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold(title))
	for _, l := range lines {
		p.Prose("  ", "- "+l, page.Plain)
	}
}

// showInputs prints the inputs that the caller must provide, with their choices, if any.
func showInputs(p *page.Page, indent string, inputs []source.Input) {
	for _, in := range inputs {
		text := in.ContextKey + ": " + in.Description
		if len(in.Choices) > 0 {
			text += " (" + strings.Join(in.Choices, ", ") + ")"
		}
		if from := in.ChoicesFrom; from != nil && from.Pointer == "" {
			text += fmt.Sprintf(" (one of the list that step %s hands in)", from.Step)
		} else if from != nil {
			text += fmt.Sprintf(" (one of the list at %s in the result of step %s)", from.Pointer, from.Step)
		}
		p.Text(indent, text)
	}
}

// gates describes the confirmations and approvals that need a person while the workflow runs.
var gates = map[compile.ConfirmationKind]string{
	compile.ConfirmAlways:   "waits for a person",
	compile.ConfirmIf:       "may wait for a person",
	compile.ConfirmApproval: "needs an approval",
}

// showStep prints one step after lead: its title, the requirements for its performer, its
// command and its inputs. Requirements that do not fit on the line are printed below the
// title.
//
// The command line is not truncated: a person must see all of it before trusting it.
func showStep(p *page.Page, lead string, s compile.Step) {
	// The requirements for the performer of the step.
	var notes []string
	if !s.RunCondition.IsZero() {
		notes = append(notes, "only under a condition")
	}
	if words, gated := gates[s.RequireConfirmation.Kind]; gated {
		notes = append(notes, words)
	}
	if s.OutputContract != nil && s.OutputContract.Required {
		notes = append(notes, "submits "+s.OutputContract.ContractRef)
	}
	if len(s.AssessmentRefs) > 0 {
		notes = append(notes, "assesses "+strings.Join(s.AssessmentRefs, ", "))
	}
	if s.Action != nil && len(s.Action.Placeholders()) > 0 {
		notes = append(notes, "fills in "+strings.Join(s.Action.Placeholders(), ", "))
	}
	if s.Wait != nil && s.Wait.For != "" {
		notes = append(notes, "waits for "+s.Wait.For)
	} else if s.Wait != nil {
		notes = append(notes, "waits until "+s.Wait.Until)
	}
	if s.Host != nil {
		notes = append(notes, "performed by 'waybill serve': "+s.Host.TypeID)
	}
	if len(s.Outputs) > 0 {
		notes = append(notes, "sets "+strings.Join(slices.Sorted(maps.Keys(s.Outputs)), ", "))
	}
	if s.NotesRequired {
		notes = append(notes, "notes required")
	}
	for _, in := range s.Injected {
		if strings.HasPrefix(in.OriginID, "prompt:") { // built-in texts are not listed
			notes = append(notes, "uses "+in.OriginID)
		}
	}
	// Title and requirements on one line, if that fits.
	line, about := lead+"  "+page.OneLine(s.Title), strings.Join(notes, ", ")
	switch {
	case about == "":
		p.Text(lead+"  ", s.Title)
	case p.Width > 0 && page.TextWidth(line+"  ("+about+")") > p.Width:
		p.Text(lead+"  ", s.Title)
		p.StyledText(strings.Repeat(" ", len(lead))+"  ", "("+about+")", p.Dim)
	default:
		p.Line("%s%s", line, p.Dim("  ("+about+")"))
	}
	// The command is printed as a shell would need it, although none is used.
	if s.Action != nil {
		p.Line("%s  %s", strings.Repeat(" ", len(lead)), p.Dim("$ "+page.Arguments(s.Action.Argv)))
	}
	showInputs(p, strings.Repeat(" ", len(lead))+"  needs ", s.Inputs)
}
