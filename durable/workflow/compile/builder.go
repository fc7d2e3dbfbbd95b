package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// builder collects what all parts of one compilation share. Whatever is a set is a
// map here and is sorted once, when the document is put together.
type builder struct {
	options  Options
	report   problem.Report
	found    []source.Problem
	warnings []Warning

	ids         map[string]string // step id → where it was written
	loops       []Loop
	conditions  map[string]NamedCondition
	contracts   map[string]contract.Pack
	assessments map[string]contract.Assessment
	bindings    map[string]Binding
	features    map[string]builtin.FeatureDef
	preamble    map[string]bool // features that go into the metaGuidance
	required    map[string]bool // capabilities
	preferred   map[string]bool
	disabled    map[string]bool

	steps, calls, size int
	tooBig             string // why expanding stopped, "" while it goes on
}

func newBuilder(o Options) *builder {
	b := &builder{
		options: o, ids: map[string]string{}, conditions: map[string]NamedCondition{},
		contracts:   map[string]contract.Pack{},
		assessments: map[string]contract.Assessment{}, bindings: map[string]Binding{},
		features: map[string]builtin.FeatureDef{},
		preamble: map[string]bool{}, required: map[string]bool{}, preferred: map[string]bool{},
		disabled: map[string]bool{},
	}
	b.report = func(p source.Problem) { b.found = append(b.found, p) }
	return b
}

// document puts everything in its fixed order. Lists whose order has a meaning keep
// the author's; sets are sorted (locks section 5).
func (b *builder) document(src source.Source) Document {
	u := b.author(src)
	steps := u.main()
	for name := range b.required {
		delete(b.preferred, name) // what is required need not be preferred
	}
	steps = append(b.probes(u, steps), steps...)
	d := Document{
		SchemaVersion: SchemaVersion,
		WorkflowID:    src.ID,
		Name:          src.Name,
		Description:   src.Description,
		Version:       src.Version,
		AgentRole:     u.text(src.AgentRole),
		Capabilities: Capabilities{slices.Sorted(maps.Keys(b.required)),
			slices.Sorted(maps.Keys(b.preferred)), sorted(src.Capabilities.Disabled)},
		Features:               b.featureList(),
		Contracts:              byKey(b.contracts),
		Conditions:             byKey(b.conditions),
		Loops:                  b.loops,
		Steps:                  steps,
		Assessments:            byKey(b.assessments),
		Bindings:               byKey(b.bindings),
		ClarificationPrompts:   u.texts(src.ClarificationPrompts),
		Inputs:                 src.Inputs,
		MetaGuidance:           b.withFeatures(u.texts(src.MetaGuidance)),
		Preconditions:          u.texts(src.Preconditions),
		RecommendedPreferences: src.RecommendedPreferences,
		References:             slices.Clone(src.References),
	}
	slices.SortFunc(d.Loops, func(x, y Loop) int { return cmp.Compare(x.LoopID, y.LoopID) })
	if r := d.RecommendedPreferences; r != nil && *r == (source.Recommended{}) {
		d.RecommendedPreferences = nil // an empty object says nothing
	}
	for i, r := range d.References {
		if r.ResolveFrom == "workspace" {
			d.References[i].ResolveFrom = "" // the default, said or not
		}
	}
	slices.SortFunc(b.warnings, func(x, y Warning) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.StepID, y.StepID))
	})
	d.CompiledWarnings = slices.Compact(b.warnings)
	return d
}

// warn notes in the document that it does otherwise than the source says.
func (b *builder) warn(code WarningCode, stepID string) {
	b.warnings = append(b.warnings, Warning{code, stepID})
}

// roomForStep counts a step that is about to be compiled, roomForCall a template that
// is about to be expanded: routines that call routines multiply, and must stop before
// they have cost anything.
func (b *builder) roomForStep() bool {
	b.steps++
	return b.within(b.steps, limits.WorkflowStepsMax, "steps")
}

func (b *builder) roomForCall() bool {
	b.calls++
	return b.within(b.calls, limits.WorkflowStepsMax, "template calls")
}

// spend counts bytes of text before they are copied: one definition may be named in
// every step, one argument in every word.
func (b *builder) spend(n int) bool {
	b.size += n
	return b.within(b.size, limits.CompiledBytesMax, "bytes")
}

// within keeps the first reason for which expanding stops.
func (b *builder) within(n, most int, what string) bool {
	if n > most && b.tooBig == "" {
		b.tooBig = fmt.Sprintf("more than %d %s", most, what)
	}
	return b.tooBig == ""
}

// claim makes a step id the compiled workflow's own. Ids of a file are unique;
// those that expansion makes may meet them, and each other.
func (b *builder) claim(id, where string, at problem.Place, report problem.Report) {
	if other, taken := b.ids[id]; taken {
		report.Error(at, "Rename one of the two; steps of a template have the id of their call in front.",
			"the step id %q of %s is taken by %s", id, where, other)
		return
	}
	b.ids[id] = where
}

// byKey are the values of a map in the order of its keys; nil when it is empty.
func byKey[T any](m map[string]T) []T {
	var out []T
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// sorted is by UTF-8 bytes (R5).
func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}
