package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// builder is the state that all units of one compilation share. Sets are maps, which
// document sorts once at the end, so that the result does not depend on the order of the
// source.
type builder struct {
	library  Library
	report   problem.Report
	found    []source.Problem // the problems reported so far
	warnings []Warning        // the compiledWarnings of the document

	ids   map[string]string // step id → the unit that contains it, for messages
	loops []Loop
	// The embedded definitions, by their ids.
	conditions  map[string]NamedCondition
	contracts   map[string]contract.Pack
	assessments map[string]contract.Assessment
	bindings    map[string]Binding
	features    map[string]builtin.FeatureDef
	// preamble is the set of features whose summary is added to the metaGuidance.
	preamble map[string]bool
	// The sets of capabilities.
	required  map[string]bool
	preferred map[string]bool
	disabled  []string // of the workflow, sorted

	everywhere []source.Input // those of the workflow, which each step requires

	// steps, calls and size (in bytes) are compared with limits before each expansion.
	steps, calls, size int
	// tooBig is the limit that was exceeded, in words; "" while none is. Expansion stops
	// when it is set, and Compile reports it.
	tooBig string
}

// newBuilder returns a builder with empty sets.
func newBuilder(with Library) *builder {
	b := &builder{
		library: with, ids: map[string]string{}, conditions: map[string]NamedCondition{},
		contracts:   map[string]contract.Pack{},
		assessments: map[string]contract.Assessment{}, bindings: map[string]Binding{},
		features: map[string]builtin.FeatureDef{},
		preamble: map[string]bool{}, required: map[string]bool{}, preferred: map[string]bool{},
	}
	b.report = func(p source.Problem) { b.found = append(b.found, p) }
	return b
}

// document compiles src and assembles the document in canonical order: lists whose order has
// a meaning keep that of the author, and sets are sorted (docs/design.md#compilation). The
// result must not be used if an error was reported.
func (b *builder) document(src source.Source) Document {
	b.disabled = sorted(src.Capabilities.Disabled)
	b.everywhere = src.Inputs
	u := b.author(src)
	steps := u.main()
	for name := range b.required {
		delete(b.preferred, name) // required implies preferred
	}
	steps = append(b.probes(u, steps), steps...)
	d := Document{
		WorkflowID:  src.ID,
		Name:        src.Name,
		Description: src.Description,
		Version:     src.Version,
		AgentRole:   u.text(src.AgentRole),
		Capabilities: Capabilities{slices.Sorted(maps.Keys(b.required)),
			slices.Sorted(maps.Keys(b.preferred)), b.disabled},
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
	sorting.By(d.Loops, func(x, y Loop) int { return cmp.Compare(x.LoopID, y.LoopID) })
	b.addMetrics(&d, src.MetricsProfile)
	if r := d.RecommendedPreferences; r != nil && *r == (source.Recommended{}) {
		d.RecommendedPreferences = nil // same hash as without the member
	}
	for i, r := range d.References {
		if r.ResolveFrom == "workspace" {
			d.References[i].ResolveFrom = "" // the default; same hash as without the member
		}
	}
	sorting.By(b.warnings, func(x, y Warning) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.StepID, y.StepID))
	})
	d.CompiledWarnings = slices.Compact(b.warnings)
	d.SchemaVersion = d.form()
	return d
}

// warn records in the document that it deviates from the source.
func (b *builder) warn(code WarningCode, stepID string) {
	b.warnings = append(b.warnings, Warning{code, stepID})
}

// reserveStep counts a step that is about to be compiled. It returns false when the
// workflow exceeds a limit, and the caller must then not compile it. Routines that call
// routines multiply, so the check comes before the work.
func (b *builder) reserveStep() bool {
	b.steps++
	return b.within(b.steps, limits.WorkflowStepsMax, "steps")
}

// reserveCall is reserveStep for a template call that is about to be expanded.
func (b *builder) reserveCall() bool {
	b.calls++
	return b.within(b.calls, limits.WorkflowStepsMax, "template calls")
}

// spend counts n bytes of text before they are copied and reports whether they fit. Without
// it a small file could expand to any size: a definition may be used in every step, an
// argument in every word.
func (b *builder) spend(n int) bool {
	b.size += n
	return b.within(b.size, limits.CompiledBytesMax, "bytes")
}

// within checks a counter against its limit and records the first limit exceeded.
func (b *builder) within(n, most int, what string) bool {
	if n > most && b.tooBig == "" {
		b.tooBig = fmt.Sprintf("more than %d %s", most, what)
	}
	return b.tooBig == ""
}

// claim registers a step id and reports a collision. The ids of one file are unique, but ids
// generated by expansion may be equal to them or to each other.
func (b *builder) claim(id, where string, at problem.SourceValue, report problem.Report) {
	if other, taken := b.ids[id]; taken {
		report.Error(at, "Rename one of the two; ids of a template's steps start with the id of the call.",
			"the step id %q of %s is already used by %s", id, where, other)
		return
	}
	b.ids[id] = where
}

// byKey returns the values of a map in the order of its keys; nil if it is empty.
func byKey[T any](m map[string]T) []T {
	var out []T
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// sorted returns a copy of list sorted by UTF-8 bytes (docs/design.md#json-from-outside).
func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}
