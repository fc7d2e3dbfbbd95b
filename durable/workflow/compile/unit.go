package compile

import (
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// unit is one source while it becomes steps: the workflow itself, or a routine in
// the place of a call. Functions, conditions, assessments and slots are looked up in
// the unit in which they are named.
type unit struct {
	b          *builder
	src        source.Source
	report     problem.Report // of a routine: at the call, which is in the author's file
	where      string         // for messages
	provenance Provenance
	features   []builtin.FeatureDef // by id

	chain []string // the ids of the sources around it and its own, outermost first
	// Of a routine only.
	prefix   string // in front of its step ids
	args     map[string]string
	used     map[string]bool // args that a text asked for
	role     string          // for steps without one
	guidance []string        // for every step
	inputs   []source.Input
}

// author is the unit of the file that is compiled.
func (b *builder) author(src source.Source) *unit {
	u := &unit{b: b, src: src, report: b.report, where: "the workflow", provenance: Provenance{Source: Authored},
		chain: []string{src.ID}}
	u.open(nil)
	return u
}

// open prepares what the steps of u ask for. The features of a caller apply to the
// steps of its routines as well: they are steps of its workflow.
func (u *unit) open(outer []builtin.FeatureDef) {
	u.features = u.resolveFeatures(outer)
	u.bindings()
	u.capabilities()
}

// main compiles the main sequence.
func (u *unit) main() []Step {
	return u.sequence(u.src.Main(), functionScopes{workflow: u.src.FunctionDefinitions})
}

// sequence compiles steps that follow each other, with the functions around them.
func (u *unit) sequence(steps []source.PlacedStep, fns functionScopes) []Step {
	var out []Step
	for _, s := range steps {
		out = append(out, u.compile(s, fns)...)
	}
	return out
}

// compile turns one step of the source into what stands in its place.
func (u *unit) compile(s source.PlacedStep, fns functionScopes) []Step {
	if s.At.Has("templateCall") && s.Type == "" {
		return u.call(s)
	}
	if !u.b.roomForStep() {
		return nil
	}
	switch s.Type {
	case LoopStep:
		return []Step{u.loop(s, fns)}
	case ParallelStep:
		return []Step{u.parallel(s)}
	}
	return []Step{u.plain(s, fns)}
}

// head is what every step has, of whatever type.
func (u *unit) head(s source.PlacedStep) Step {
	id := u.prefix + s.ID
	u.b.claim(id, u.where, s.At.Member("id"), u.report)
	return Step{
		StepID:              id,
		Title:               u.text(s.Title),
		Provenance:          u.provenance,
		RunCondition:        u.condition(s.At, "runCondition"),
		RequireConfirmation: u.confirmation(id, s.At.Member("requireConfirmation")),
	}
}

// weigh counts what a finished step adds to the document.
func (u *unit) weigh(s Step) Step {
	n := len(s.Title) + len(s.Prompt)*2 // once more as promptBlocks
	for _, g := range s.Guidance {
		n += len(g)
	}
	for _, f := range s.Functions {
		n += len(f.Definition)
	}
	for _, f := range s.PromptFragments {
		n += len(f.Text)
	}
	u.b.spend(n)
	return s
}

// texts is text for lists.
func (u *unit) texts(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = u.text(s)
	}
	return out
}

// text is authored text with everything put in that is known when compiling: what
// fills the slots, and in a routine the arguments of the call. Each is read once;
// what was put in is not looked at again. {{path}} stays for the run.
func (u *unit) text(s string) string { return u.fillArgs(u.fillBindings(s)) }
