package compile

import (
	"slices"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/source"
)

// unit is one source that is being compiled: the workflow itself, or a routine for one call.
// Functions, conditions, assessments and slots are resolved in the unit that refers to them.
type unit struct {
	placeholders
	src source.Source
	// report reports a problem; for a routine, at the call in the author's file.
	report problem.Report
	// where names the unit in messages.
	where      string
	provenance Provenance
	features   []builtin.FeatureDef // sorted by id

	// chain holds the ids of the calling sources and its own, outermost first. It detects
	// recursive calls.
	chain []string

	// The following fields are set for a routine only.
	prefix   string         // of its step ids
	role     string         // for steps without one
	guidance []string       // prepended to the guidance of every step
	inputs   []source.Input // added to every step
}

// placeholders fills in what the texts of a source leave open.
type placeholders struct {
	b    *builder
	args map[string]string // the arguments of the call of a routine, as texts
	used map[string]bool   // the arguments that a text used
}

// author returns the unit of the file that is compiled.
func (b *builder) author(src source.Source) *unit {
	u := &unit{placeholders: placeholders{b: b}, src: src, report: b.report, where: "the workflow", provenance: Provenance{Source: Authored},
		chain: []string{src.ID}}
	u.open(nil)
	return u
}

// open resolves the features, bindings and capabilities of u. It must run before a step is
// compiled. The features of a caller (outer) also apply to the steps of its routines, which
// are steps of its workflow.
func (u *unit) open(outer []builtin.FeatureDef) {
	u.features = u.resolveFeatures(outer)
	u.bindings()
	u.capabilities()
}

// main compiles the main sequence of u.
func (u *unit) main() []Step {
	return u.sequence(u.src.Steps, functionScopes{workflow: u.src.FunctionDefinitions})
}

// sequence compiles a list of steps. fns holds the functions defined around them.
func (u *unit) sequence(steps []source.PlacedStep, fns functionScopes) []Step {
	var out []Step
	for _, s := range steps {
		out = append(out, u.compile(s, fns)...)
	}
	return out
}

// compile compiles one step of the source. A template call gives any number of steps, others
// give one, or none when a limit is exceeded.
func (u *unit) compile(s source.PlacedStep, fns functionScopes) []Step {
	if s.At.Has("templateCall") && s.Type == "" {
		return u.call(s)
	}
	if !u.b.reserveStep() {
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

// head returns a step with the members that all types have, and claims its id.
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

// chargeSize counts the size of a finished step and returns it unchanged.
func (b *builder) chargeSize(s Step) Step {
	n := len(s.Title) + len(s.Prompt)*2 // the prompt may be in promptBlocks as well
	for _, g := range s.Guidance {
		n += len(g)
	}
	for _, f := range s.Functions {
		n += len(f.Definition)
	}
	for _, f := range s.PromptFragments {
		n += len(f.Text)
	}
	b.spend(n)
	return s
}

// texts applies text to a copy of a list.
func (p *placeholders) texts(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = p.text(s)
	}
	return out
}

// text returns authored text with bindings and, in a routine, the arguments of the call filled
// in. Each kind of placeholder is replaced in one pass: bindings first, then arguments.
// {{path}} remains for the run.
func (p *placeholders) text(s string) string { return p.fillArgs(p.fillBindings(s)) }
