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

// checkLoop holds a loop to one spelling, to conditions that there are, and to
// variables that can be told apart.
func (r *stepRules) checkLoop(at problem.Place) {
	id, explicit := at.Member("id").Value.Text(), at.Member("loopId")
	if explicit.Value.Text() != "" && explicit.Value.Text() != id {
		r.report.Error(explicit, fmt.Sprintf("Remove it, or write %q.", id),
			"a loop's id is that of its step, %q; loopId says %q", id, explicit.Value.Text())
	}
	config := at.Member("loop")
	switch {
	case at.Has("loop") && at.Has("while"):
		r.report.Error(at.Member("while"), "Keep one of the two.",
			"a loop has while or loop, not both: it would not be clear which one decides")
		return
	case at.Has("loop") && at.Has("maxIterations"):
		r.report.Error(at.Member("maxIterations"), "Move it into loop.",
			"maxIterations stands beside while; with loop it stands inside of it")
	case at.Has("while") && !at.Has("maxIterations"):
		r.report.Error(at, `Add "maxIterations": `+iterations.Want()+".", `a loop lacks "maxIterations"`)
	case !at.Has("while") && !at.Has("loop"):
		r.report.Error(at, `Add "loop": how often, such as {"type": "for", "count": 3, "maxIterations": 3}.`,
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

// checkConfig finds what a loop's own object says without effect.
func (r *stepRules) checkConfig(config problem.Place) {
	kind := config.Member("type").Value.Text()
	reads, known := loopReads[kind]
	for _, key := range config.Names() {
		if known && key != "type" && key != "maxIterations" && !slices.Contains(reads, key) && isLoopKey(key) {
			r.report.Warn(config.Member(key), "Remove it, or change the type.", "a %s loop does not read %q", kind, key)
		}
	}
	if config.Has("condition") && config.Has("conditionSource") && (kind == "while" || kind == "until") {
		r.report.Warn(config.Member("condition"), "Keep one of the two.",
			"conditionSource decides; the condition beside it is not read")
	}
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
		r.report.Warn(count, "Write how often, or remove the loop.", "a count of 0 leaves the body out")
	case most.Value.Kind() == canon.Number && count.Value.Float() > most.Value.Float():
		r.report.Warn(count, fmt.Sprintf("Raise maxIterations to %v, or lower the count.", count.Value.Float()),
			"the count %v is more than maxIterations %v, at which the loop is stopped", count.Value.Float(),
			most.Value.Float())
	}
}

// isLoopKey tells keys of the table from others, of which the shape has spoken.
func isLoopKey(key string) bool {
	return slices.ContainsFunc(loopConfigShape.Fields, func(f field) bool { return f.Name == key })
}

// conditionRefs are the places of a loop that name a condition.
func conditionRefs(loop problem.Place) []problem.Place {
	var out []problem.Place
	config := loop.Member("loop")
	for _, at := range []problem.Place{loop.Member("while"), config.Member("condition"),
		config.Member("conditionSource")} {
		if at.Member("kind").Value.Text() == "condition_ref" {
			out = append(out, at.Member("conditionId"))
		}
	}
	return out
}

// checkRef resolves one name.
func (r *stepRules) checkRef(ref problem.Place) {
	known := map[string]bool{}
	for _, at := range r.src.Root.Member("conditions").Items() {
		known[conditionName(at).Value.Text()] = true
	}
	id := ref.Value.Text()
	if id == "" || known[id] {
		return
	}
	fix := "List it under the workflow's conditions."
	if near := nearest.Of(id, shape.Names(known)); near != "" {
		fix = fmt.Sprintf("Did you mean %q?", near)
	}
	r.report.Error(ref, fix, "no condition %q is listed under conditions", id)
}

// reservedNames mean something of their own to programs that keep variables in
// objects; a workflow must mean the same to all.
var reservedNames = []string{"__proto__", "constructor", "prototype"}

// checkVariables keeps the names apart under which a body sees where it is. Of two
// that are equal both were written: a default would have given way.
func (r *stepRules) checkVariables(at problem.Place) {
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

// loopVariable is a name that a body sees, and the key that sets it.
type loopVariable struct{ key, name string }

// variables are those of a loop's kind, in a fixed order.
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

// checkConditions keeps the ids of named conditions apart and warns of those that
// nothing names.
func checkConditions(root problem.Place, report problem.Report) {
	used := map[string]bool{}
	eachLoop(root.Member("steps"), problem.Place{}, func(loop, _ problem.Place) {
		for _, ref := range conditionRefs(loop) {
			used[ref.Value.Text()] = true
		}
	})
	first := map[string]problem.Place{}
	for _, at := range root.Member("conditions").Items() {
		name := conditionName(at)
		id := name.Value.Text()
		switch other, twice := first[id]; {
		case at.Value.Kind() != canon.Object:
		case !at.Has("id") && !at.Has("conditionId"):
			report.Error(at, `Add "id": the name under which loops refer to it.`, "a condition lacks an id")
		case at.Has("id") && at.Has("conditionId"):
			report.Error(at.Member("conditionId"), "Keep one of the two.",
				"a condition has id or conditionId, not both")
		case id == "":
		case twice:
			report.Error(name, "Rename one of the two.", "condition id %q stands on line %d already", id,
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

// parsedSilently is a condition that was judged elsewhere; false where it has errors.
func parsedSilently(at problem.Place) (condition.Condition, bool) {
	return condition.Parse(at, func(problem.Problem) {})
}
