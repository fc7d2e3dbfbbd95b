package source

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkLoop checks that a loop uses one of the two spellings, that its condition
// references resolve and that its variables have distinct names.
func (r *stepRules) checkLoop(at problem.SourceValue) {
	id, explicit := at.Member("id").Value.Text(), at.Member("loopId")
	if explicit.Value.Text() != "" && explicit.Value.Text() != id {
		r.report.Error(explicit, fmt.Sprintf("Remove it, or write %q.", id),
			"the id of a loop is the id of its step, %q, but loopId is %q", id, explicit.Value.Text())
	}
	config := at.Member("loop")
	// Either the loop object, or while with maxIterations.
	switch {
	case at.Has("loop") && at.Has("while"):
		r.report.Error(at.Member("while"), "Keep one of the two.",
			"a loop has while or loop, not both: it would not be clear which one decides")
		return
	case at.Has("loop") && at.Has("maxIterations"):
		r.report.Error(at.Member("maxIterations"), "Move it into loop.",
			"maxIterations belongs next to while; with loop it belongs in the loop object")
	case at.Has("while") && !at.Has("maxIterations"):
		r.report.Error(at, `Add "maxIterations": `+iterations.Want()+".", `a loop lacks "maxIterations"`)
	case !at.Has("while") && !at.Has("loop"):
		r.report.Error(at, `Add "loop", such as {"type": "for", "count": 3, "maxIterations": 3}.`,
			`a loop lacks "loop" or "while"`)
		return
	}
	r.checkConfig(config)
	for _, ref := range conditionRefs(at) {
		r.checkRef(ref)
	}
	r.checkVariables(at)
	r.checkExit(at)
}

// checkConfig warns of members of the loop object that have no effect, and reports a
// control contract that is not LoopControlContract.
func (r *stepRules) checkConfig(config problem.SourceValue) {
	kind := config.Member("type").Value.Text()
	reads, known := loopReads[kind]
	for _, key := range config.Names() {
		if known && key != "type" && key != "maxIterations" && !slices.Contains(reads, key) && isLoopKey(key) {
			r.report.Warn(config.Member(key), "Remove it, or change the type.", "a %s loop does not read %q", kind, key)
		}
	}
	if config.Has("condition") && config.Has("conditionSource") && (kind == "while" || kind == "until") {
		r.report.Warn(config.Member("condition"), "Keep one of the two.",
			"conditionSource decides; condition is not read")
	}
	// A contractRef of invalid form is reported by the shape check.
	if source := config.Member("conditionSource"); source.Member("kind").Value.Text() == "artifact_contract" {
		ref := source.Member("contractRef")
		if contractRef.Pattern.MatchString(ref.Value.Text()) && ref.Value.Text() != LoopControlContract {
			r.report.Error(ref, fmt.Sprintf("Write %q.", LoopControlContract),
				"only artifacts of %s decide a loop, got %q", LoopControlContract, ref.Value.Text())
		}
	}
	count, most := config.Member("count"), config.Member("maxIterations")
	switch {
	case kind != "for" || count.Value.Kind() != canon.Number:
	case count.Value.Float() == 0:
		r.report.Warn(count, "Set the number of iterations, or remove the loop.", "a count of 0 never runs the body")
	case most.Value.Kind() == canon.Number && count.Value.Float() > most.Value.Float():
		r.report.Warn(count, fmt.Sprintf("Raise maxIterations to %v, or lower the count.", count.Value.Float()),
			"the count %v is more than maxIterations %v, which blocks the run before the loop", count.Value.Float(),
			most.Value.Float())
	}
}

// isLoopKey reports whether key is a member of the loop object. The shape reports unknown
// members, so that checkConfig must not report them again.
func isLoopKey(key string) bool {
	return slices.ContainsFunc(loopConfigShape.Fields, func(f field) bool { return f.Name == key })
}

// conditionRefs returns the places of the condition ids that a loop refers to.
func conditionRefs(loop problem.SourceValue) []problem.SourceValue {
	config := loop.Member("loop")
	var out []problem.SourceValue
	for _, at := range []problem.SourceValue{loop.Member("while"), config.Member("condition"),
		config.Member("conditionSource")} {
		if at.Member("kind").Value.Text() == "condition_ref" {
			out = append(out, at.Member("conditionId"))
		}
	}
	return out
}

// checkRef reports a reference to a condition that the workflow does not list.
func (r *stepRules) checkRef(ref problem.SourceValue) {
	id, known := ref.Value.Text(), map[string]bool{}
	for _, at := range r.src.Root.Member("conditions").Items() {
		known[conditionName(at).Value.Text()] = true
	}
	if id == "" || known[id] {
		return
	}
	fix := nearest.Suggest(id, shape.Names(known), "Did you mean %q?", "List it under the workflow's conditions.")
	r.report.Error(ref, fix, "no condition %q is listed under conditions", id)
}

// reservedNames have a special meaning in JavaScript objects. A program that stores
// variables in such an object would treat a workflow that uses them differently.
var reservedNames = []string{"__proto__", "constructor", "prototype"}

// checkVariables reports loop variables with equal or reserved names, and warns of a name
// that hides a variable of an enclosing loop. Two equal names were both written by the
// author, since dropShadowedDefaults removes a default that is equal to another name.
func (r *stepRules) checkVariables(at problem.SourceValue) {
	config := at.Member("loop")
	for _, key := range []string{"iterationVar", "indexVar", "itemVar"} {
		if name := config.Member(key); slices.Contains(reservedNames, name.Value.Text()) {
			r.report.Error(name, "Choose another name.", "the variable name %q is reserved", name.Value.Text())
		}
	}
	loop, _ := r.src.LoopAt(at)
	seen := map[string]string{}
	for _, v := range loop.variables() {
		if other, twice := seen[v.name]; twice {
			r.report.Error(config.Member(v.key), "Choose another name.",
				"%s and %s are both %q, so that the body would see one of them only", other, v.key, v.name)
		}
		seen[v.name] = v.key
		// Only explicit names are a warning: nested loops share the default names.
		for _, around := range r.outer {
			outer, _ := r.src.LoopAt(around)
			for _, o := range outer.variables() {
				if o.name == v.name && config.Has(v.key) {
					r.report.Warn(config.Member(v.key), "Choose another name.",
						"%s %q hides that of the loop %q around it", v.key, v.name, around.Member("id").Value.Text())
				}
			}
		}
	}
}

// loopVariable is the name of a variable that a body sees, and the key of the loop object
// that sets it.
type loopVariable struct{ key, name string }

// variables returns the variables that a loop of this kind sets, in a fixed order.
func (l Loop) variables() []loopVariable {
	var out []loopVariable
	for _, v := range []loopVariable{{"iterationVar", l.IterationVar}, {"indexVar", l.IndexVar},
		{"itemVar", l.ItemVar}} {
		if v.name != "" {
			out = append(out, v)
		}
	}
	return out
}

// checkConditions requires that each named condition has one id, that the ids are unique,
// and warns of conditions that no loop refers to.
func checkConditions(root problem.SourceValue, report problem.Report) {
	used := map[string]bool{}
	eachLoop(root.Member("steps"), problem.SourceValue{}, func(loop, _ problem.SourceValue) {
		for _, ref := range conditionRefs(loop) {
			used[ref.Value.Text()] = true
		}
	})
	first := map[string]problem.SourceValue{}
	for _, at := range root.Member("conditions").Items() {
		name := conditionName(at)
		id := name.Value.Text()
		switch other, twice := first[id]; {
		case at.Value.Kind() != canon.Object: // reported by the shape check
		case !at.Has("id") && !at.Has("conditionId"):
			report.Error(at, `Add "id": the name under which loops refer to it.`, "a condition lacks an id")
		case at.Has("id") && at.Has("conditionId"):
			report.Error(at.Member("conditionId"), "Keep one of the two.",
				"a condition has id or conditionId, not both")
		case id == "":
		case twice:
			report.Error(name, "Rename one of the two.", "condition id %q is already used on line %d", id,
				other.Value.Line())
		case !used[id]:
			report.Warn(at, `Write {"kind": "condition_ref", "conditionId": `+fmt.Sprintf("%q", id)+
				`} in a loop, or remove it.`, "no loop refers to the condition %q", id)
		}
		if _, twice := first[id]; !twice {
			first[id] = at
		}
	}
}

// parseSilently parses a condition whose problems are reported elsewhere; false if it has
// errors.
func parseSilently(at problem.SourceValue) (condition.Condition, bool) {
	return condition.Parse(at, func(problem.Problem) {})
}
