package source

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// namedBodies holds the steps of the main sequence that loops name as their body. A named step leaves the main
// sequence and belongs to the loop (docs/design.md#loops).
type namedBodies struct {
	// loopOf maps the JSON pointer of a named step to the loop that names it.
	loopOf map[string]problem.SourceValue
	// stepOf maps the JSON pointer of a loop to the step that it names.
	stepOf map[string]problem.SourceValue
	// invalid holds the references that cannot be resolved, in file order.
	invalid []invalidBody
}

// invalidBody is a body that names a step which the loop cannot use.
type invalidBody struct {
	at        problem.SourceValue // the body member
	name, fix string              // the id it names, and the suggested correction
	why       string              // continues a message that starts with the name
}

// resolveNamedBodies resolves the named body of every loop, in file order. When two
// loops name the same step, the first gets it; in a cycle, the last loop is reported.
func resolveNamedBodies(root problem.SourceValue) namedBodies {
	steps := root.Member("steps")
	named := namedBodies{loopOf: map[string]problem.SourceValue{}, stepOf: map[string]problem.SourceValue{}}
	// Of several steps with one id only the first can be named; checkStepID reports the others.
	top := map[string]problem.SourceValue{}
	for _, at := range steps.Items() {
		id := at.Member("id").Value.Text()
		if _, twice := top[id]; !twice && id != "" {
			top[id] = at
		}
	}
	inner := map[string]bool{} // ids of the steps inside loops
	eachLoop(steps, problem.SourceValue{}, func(loop, _ problem.SourceValue) {
		for _, at := range loop.Member("body").Items() {
			inner[at.Member("id").Value.Text()] = true
		}
	})
	within := map[string]string{} // named step → the top-level step around the loop that names it
	eachLoop(steps, problem.SourceValue{}, func(loop, around problem.SourceValue) {
		body := loop.Member("body")
		name := body.Value.Text()
		if name == "" { // a list of steps, or a body that the shape check reports
			return
		}
		// The order of the cases is the order in which the reasons are most helpful.
		target, ok := top[name]
		refuse := func(why, fix string) {
			named.invalid = append(named.invalid, invalidBody{body, name, fix, why})
		}
		switch first, twice := named.loopOf[target.Pointer]; {
		case !ok && inner[name]:
			refuse("is inside a loop; a body can only name a step of the main sequence",
				"Write the body out as a list, or move the step to the main sequence.")
		case !ok:
			refuse("does not exist", nearest.Suggest(name, shape.Names(top), `Did you mean "%s"?`,
				"Name a step of the main sequence, or write the body out as a list."))
		case target.Pointer == loop.Pointer:
			refuse("is the loop itself", "Name another step, or write the body out as a list.")
		case twice:
			refuse(`is already the body of loop "`+first.Member("id").Value.Text()+`"; a step belongs to one loop only`,
				"Write one of the two bodies out as a list, with its own step id.")
		case encloses(within, around.Pointer, target.Pointer):
			refuse("contains this loop, which makes a cycle", "Name another step, or write the body out as a list.")
		default:
			named.loopOf[target.Pointer], named.stepOf[loop.Pointer] = loop, target
			within[target.Pointer] = around.Pointer
		}
	})
	return named
}

// main returns the steps of the file without those that a loop names as its body.
func (n namedBodies) main(root problem.SourceValue) []problem.SourceValue {
	return slices.DeleteFunc(root.Member("steps").Items(), func(at problem.SourceValue) bool {
		_, inLoop := n.loopOf[at.Pointer]
		return inLoop
	})
}

// bodyOf returns the steps of a loop's body: its list, or the step that it names; nil for
// a name that does not resolve.
func (n namedBodies) bodyOf(loop problem.SourceValue) []problem.SourceValue {
	if step, ok := n.stepOf[loop.Pointer]; ok {
		return []problem.SourceValue{step}
	}
	return loop.Member("body").Items()
}

// encloses reports whether target is around, or contains it through steps that were
// resolved before. Naming such a step as a body would make a cycle.
func encloses(within map[string]string, around, target string) bool {
	for around != target {
		outer, ok := within[around]
		if !ok {
			return false
		}
		around = outer
	}
	return true
}

// eachLoop calls visit for the loops of a list and those nested in written-out bodies, outer loops first. around is
// the step of the main sequence that contains the loop, which may be the loop itself; callers pass the zero Place.
// Named bodies are not followed: the caller resolves them.
func eachLoop(steps, around problem.SourceValue, visit func(loop, around problem.SourceValue)) {
	for _, at := range steps.Items() {
		outer := around
		if outer.Pointer == "" {
			outer = at
		}
		if at.Member("type").Value.Text() == "loop" {
			visit(at, outer)
			if body := at.Member("body"); body.Value.Kind() == canon.Array {
				eachLoop(body, outer, visit)
			}
		}
	}
}
