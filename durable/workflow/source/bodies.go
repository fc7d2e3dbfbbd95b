package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// taking is how loops take steps of the main sequence: by naming one as their body.
type taking struct {
	// byStep leads from the pointer of a step that was taken to the loop that took it.
	byStep map[string]problem.Place
	// refused are bodies that name nothing that can be taken, with the reason.
	refused []refusal
}

type refusal struct {
	at        problem.Place // the body
	name, fix string
	why       string
}

// bodies goes over all loops of a file in its order, so that of two that name one
// step the first has it, and of a circle the last loop is the one at fault.
func bodies(root problem.Place) taking {
	steps := root.Member("steps")
	t := taking{byStep: map[string]problem.Place{}}
	top, known := map[string]problem.Place{}, map[string]bool{}
	for _, at := range steps.Items() {
		id := at.Member("id").Value.Text()
		if _, twice := top[id]; !twice && id != "" {
			top[id], known[id] = at, true
		}
	}
	inner := map[string]bool{} // ids that stand inside a loop
	eachLoop(steps, problem.Place{}, func(loop, _ problem.Place) {
		for _, at := range loop.Member("body").Items() {
			inner[at.Member("id").Value.Text()] = true
		}
	})
	within := map[string]string{} // of a taken step: the top-level step around its taker
	eachLoop(steps, problem.Place{}, func(loop, around problem.Place) {
		body := loop.Member("body")
		name := body.Value.Text()
		if name == "" {
			return
		}
		target, ok := top[name]
		refuse := func(why, fix string) { t.refused = append(t.refused, refusal{body, name, fix, why}) }
		switch first, twice := t.byStep[target.Pointer]; {
		case !ok && inner[name]:
			refuse("stands inside of a loop; a body can name a step of the main sequence only",
				"Write the body out, or move the step to the main sequence.")
		case !ok:
			fix := "Name a step of the main sequence, or write the body out as a list."
			if near := nearest.Of(name, shape.Names(known)); near != "" {
				fix = `Did you mean "` + near + `"?`
			}
			refuse("is not there", fix)
		case target.Pointer == loop.Pointer:
			refuse("is the loop itself", "Name another step, or write the body out as a list.")
		case twice:
			refuse(`is the body of loop "`+first.Member("id").Value.Text()+`" already; a step stands in one loop only`,
				"Write one of the two bodies out, with a step id of its own.")
		case closes(within, around.Pointer, target.Pointer):
			refuse("holds this loop itself, in a circle", "Name another step, or write the body out as a list.")
		default:
			t.byStep[target.Pointer] = loop
			within[target.Pointer] = around.Pointer
		}
	})
	return t
}

// closes reports whether target is around the place that wants to take it.
func closes(within map[string]string, around, target string) bool {
	for around != target {
		outer, ok := within[around]
		if !ok {
			return false
		}
		around = outer
	}
	return true
}

// eachLoop visits the loops of a list and those inside of them, with the step of
// the main sequence that each stands in, which may be itself.
func eachLoop(steps, around problem.Place, visit func(loop, around problem.Place)) {
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
