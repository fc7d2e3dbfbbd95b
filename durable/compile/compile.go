package compile

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/condition"
	"github.com/waybill/waybill/durable/criteria"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow"
)

// Options is what a compilation may draw on beside the source. There is nothing
// yet: definitions that expand a workflow will stand here.
type Options struct{}

// File parses and compiles a workflow file in one go and returns the problems of
// both, in the order of the file. Compiled is usable when none of them is an error.
func File(name string, kind workflow.SourceKind, data []byte) (workflow.Source, Compiled, []workflow.Problem) {
	src, found := workflow.Parse(name, kind, data)
	if !src.Valid {
		refuseUnsupported(src, func(p workflow.Problem) { found = append(found, p) })
		problem.Sort(found)
		return src, Compiled{}, found
	}
	c, more := Compile(src, Options{})
	found = append(found, more...)
	problem.Sort(found)
	return src, c, found
}

// Compile turns a valid source into its compiled form. It adds the problems that
// only show here: what this version does not carry out, and what it does otherwise
// than the source says.
func Compile(src workflow.Source, _ Options) (Compiled, []workflow.Problem) {
	b := builder{}
	b.report = func(p workflow.Problem) { b.found = append(b.found, p) }
	if !src.Valid {
		b.report.Error(src.Root, "Correct the problems of the file first.", "the workflow does not validate")
		return Compiled{}, b.found
	}
	refuseUnsupported(src, b.report)
	if problem.HasErrors(b.found) {
		return Compiled{}, b.found
	}
	c, err := prepare(b.document(src))
	if err != nil {
		b.report.Error(src.Root, "Report this as a bug of Waybill.", "the workflow cannot be compiled: %s", err)
	} else if _, err := canon.Parse(c.Bytes()); err != nil {
		// The compiled form wraps some parts once more: what is pinned must be readable.
		b.report.Error(src.Root, "Nest conditions and criteria less deeply.", "the compiled workflow could not be read again: %s", err)
	}
	problem.Sort(b.found)
	return c, b.found
}

type builder struct {
	report   problem.Report
	found    []workflow.Problem
	warnings []Warning
}

// document puts everything in its fixed order. Lists whose order has a meaning keep
// the author's; sets are sorted.
func (b *builder) document(src workflow.Source) Document {
	d := Document{
		SchemaVersion:          SchemaVersion,
		WorkflowID:             src.ID,
		Name:                   src.Name,
		Description:            src.Description,
		Version:                src.Version,
		AgentRole:              src.AgentRole,
		Capabilities:           Capabilities{Preferred: sorted(src.Capabilities.Preferred), Disabled: sorted(src.Capabilities.Disabled)},
		ClarificationPrompts:   src.ClarificationPrompts,
		Inputs:                 src.Inputs,
		MetaGuidance:           src.MetaGuidance,
		Preconditions:          src.Preconditions,
		RecommendedPreferences: src.RecommendedPreferences,
		References:             slices.Clone(src.References),
	}
	if r := d.RecommendedPreferences; r != nil && *r == (workflow.Recommended{}) {
		d.RecommendedPreferences = nil // an empty object says nothing
	}
	for i, r := range d.References {
		if r.ResolveFrom == "workspace" {
			d.References[i].ResolveFrom = "" // the default, said or not
		}
	}
	steps := src.Root.Member("steps")
	for i, s := range src.Steps {
		d.Steps = append(d.Steps, b.step(src, s, steps.Item(i)))
	}
	slices.SortFunc(b.warnings, func(x, y Warning) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.StepID, y.StepID))
	})
	d.CompiledWarnings = b.warnings
	return d
}

// step resolves one step. Conditions and criteria are embedded in normal form, so
// that spellings of one meaning have one hash.
func (b *builder) step(src workflow.Source, s workflow.Step, at problem.Place) Step {
	out := Step{
		StepID:        s.ID,
		Title:         s.Title,
		Prompt:        s.Prompt,
		Provenance:    Provenance{Source: Authored},
		Action:        s.Action,
		AgentRole:     s.AgentRole,
		AskForFiles:   s.AskForFiles,
		Functions:     expandFunctions(src.FunctionDefinitions, s),
		Guidance:      s.Guidance,
		Inputs:        s.Inputs,
		NotesRequired: s.NotesRequired,
	}
	if s.PromptBlocks != nil {
		out.PromptBlocks = resolveBlocks(*s.PromptBlocks)
		out.Prompt = out.PromptBlocks.text()
	}
	if !s.RunCondition.IsZero() {
		c, _ := condition.Parse(at.Member("runCondition"), b.report)
		out.RunCondition = c.Value()
	}
	if !s.ValidationCriteria.IsZero() {
		c, _ := criteria.Parse(at.Member("validationCriteria"), b.report)
		out.ValidationCriteria = c.Value()
	}
	out.RequireConfirmation = b.confirmation(s, at.Member("requireConfirmation"))
	return out
}

// confirmation brings the three spellings of the source into one form (R20).
func (b *builder) confirmation(s workflow.Step, at problem.Place) Confirmation {
	if at.Value.Kind() != canon.Object {
		if at.Value.True() {
			return Confirmation{Kind: ConfirmAlways}
		}
		return Confirmation{Kind: ConfirmNever}
	}
	if !at.Has("kind") {
		c, _ := condition.Parse(at, b.report)
		return Confirmation{ConfirmIf, c.Value()}
	}
	gate := Confirmation{Kind: ConfirmAlways}
	if at.Has("condition") {
		c, _ := condition.Parse(at.Member("condition"), b.report)
		gate = Confirmation{ConfirmIf, c.Value()}
	}
	if at.Member("kind").Value.Text() == "human_approval" {
		gate.Kind = ConfirmApproval
		return gate
	}
	b.warnings = append(b.warnings, Warning{CoordinatorEvalAsConfirmation, s.ID})
	b.report.Warn(at.Member("kind"), `Write "requireConfirmation": true, or kind human_approval.`,
		"coordinator_eval becomes a confirmation by a person: Waybill has no evaluator of its own")
	return gate
}

// sorted is by UTF-8 bytes (R5).
func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}
