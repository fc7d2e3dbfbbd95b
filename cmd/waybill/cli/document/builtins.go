package document

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// Builtins is the document "builtins": everything that a workflow file may name, with the texts that the
// names put into prompts. It is made of the tables that the compiler uses. All but the routines are
// closed sets.
type Builtins struct {
	References   []BuiltinText     `json:"references"`
	Features     []BuiltinFeature  `json:"features"`
	Contracts    []BuiltinContract `json:"contracts"`
	Capabilities []BuiltinProbe    `json:"capabilities"`
	Routines     []BuiltinRoutine  `json:"routines"`
}

// BuiltinText is a text that is put in by its id.
type BuiltinText struct {
	ID          string       `json:"id"`
	Text        string       `json:"text"`
	Bytes       int          `json:"bytes"`
	ContentHash canon.Digest `json:"contentHash"`
}

// BuiltinFeature is a feature. Its text is the summary, which is put before a run whose steps have raw
// prompts, and the lines, which are added to the parts of prompt blocks.
type BuiltinFeature struct {
	BuiltinText
	Summary     string   `json:"summary"`
	Constraints []string `json:"constraints"`
	Procedure   []string `json:"procedure"`
	Verify      []string `json:"verify"`
}

// BuiltinContract is a contract pack. Its text is what the prompt of a step says of the artifact.
type BuiltinContract struct {
	BuiltinText
	Title        string      `json:"title"`
	ArtifactKind string      `json:"artifactKind"`
	Example      canon.Value `json:"example"`
}

// BuiltinProbe is a capability. Its text is the prompt of the step that tests it, which is put in where a
// workflow requires or prefers the capability, and by a call of the template.
type BuiltinProbe struct {
	BuiltinText
	Title      string `json:"title"`
	StepID     string `json:"stepId"`
	TemplateID string `json:"templateId"`
}

// BuiltinRoutine is a workflow whose steps a templateCall puts in: a bundled one, or one of another source.
type BuiltinRoutine struct {
	ID          string        `json:"id"` // of the workflow
	TemplateID  string        `json:"templateId"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Source      string        `json:"source"`
	SourceRef   string        `json:"sourceRef"`
	Steps       []RoutineStep `json:"steps"`
}

// RoutineStep is a step of a routine; {name} in its prompt is an argument of the call.
type RoutineStep struct {
	StepID string `json:"stepId"`
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
}

// BuiltinsOf returns everything that files beside the entries of a catalog may name.
func BuiltinsOf(entries []catalog.Entry) Builtins {
	out := Builtins{References: []BuiltinText{}, Features: []BuiltinFeature{}, Contracts: []BuiltinContract{},
		Capabilities: []BuiltinProbe{}, Routines: []BuiltinRoutine{}}
	for _, id := range builtin.Refs() {
		text, _ := builtin.Ref(id)
		out.References = append(out.References, textOf(id, text))
	}
	for _, id := range builtin.Features() {
		f, _ := builtin.Feature(id)
		list := func(lines []string) []string { return append([]string{}, lines...) }
		out.Features = append(out.Features, BuiltinFeature{textOf(id, f.Text()), f.Summary, list(f.Constraints),
			list(f.Procedure), list(f.Verify)})
	}
	for _, ref := range contract.Refs() {
		p, _ := contract.Builtin(ref)
		out.Contracts = append(out.Contracts, BuiltinContract{textOf(ref, strings.Join(p.Requirements(), "\n")), p.Title,
			p.ArtifactKind, p.Example})
	}
	for _, name := range builtin.Capabilities() {
		p, _ := builtin.Probe(name)
		out.Capabilities = append(out.Capabilities, BuiltinProbe{textOf(name, p.Prompt), p.Title, p.StepID, p.TemplateID})
	}
	for _, e := range entries {
		if template := compile.RoutineTemplate(e.ID); template != "" && e.Valid() {
			out.Routines = append(out.Routines, routineOf(e, template))
		}
	}
	return out
}

// textOf returns a text with its length and digest.
func textOf(id, text string) BuiltinText {
	return BuiltinText{id, text, len(text), canon.Sum([]byte(text))}
}

// routineOf returns a routine with its steps, those of loops behind the step of the loop.
func routineOf(e catalog.Entry, template string) BuiltinRoutine {
	r := BuiltinRoutine{e.ID, template, e.Name, e.Description, e.Source(), e.Ref, []RoutineStep{}}
	var add func([]compile.Step)
	add = func(steps []compile.Step) {
		for _, s := range steps {
			r.Steps = append(r.Steps, RoutineStep{s.StepID, s.Title, s.Prompt})
			if loop, ok := e.Compiled.Loop(s.StepID); ok && s.Type == compile.LoopStep {
				add(loop.Body)
			}
		}
	}
	add(e.Compiled.Steps)
	return r
}

// Only returns what has an id of the document: that of a reference, a feature, a contract, a capability, a
// routine or its template. ok is false where nothing has it.
func (b Builtins) Only(id string) (out Builtins, ok bool) {
	out = Builtins{
		References:   kept(b.References, func(x BuiltinText) bool { return x.ID == id }),
		Features:     kept(b.Features, func(x BuiltinFeature) bool { return x.ID == id }),
		Contracts:    kept(b.Contracts, func(x BuiltinContract) bool { return x.ID == id }),
		Capabilities: kept(b.Capabilities, func(x BuiltinProbe) bool { return x.ID == id }),
		Routines:     kept(b.Routines, func(x BuiltinRoutine) bool { return x.ID == id || x.TemplateID == id }),
	}
	n := len(out.References) + len(out.Features) + len(out.Contracts) + len(out.Capabilities) + len(out.Routines)
	return out, n > 0
}

// kept returns the items for which keep is true, as a list that is not nil.
func kept[T any](all []T, keep func(T) bool) []T {
	return append([]T{}, slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !keep(x) })...)
}

// IDs returns the ids by which Only finds something, in the order of the document.
func (b Builtins) IDs() (out []string) {
	for _, x := range b.References {
		out = append(out, x.ID)
	}
	for _, x := range b.Features {
		out = append(out, x.ID)
	}
	for _, x := range b.Contracts {
		out = append(out, x.ID)
	}
	for _, x := range b.Capabilities {
		out = append(out, x.ID)
	}
	for _, x := range b.Routines {
		out = append(out, x.TemplateID, x.ID)
	}
	return out
}
