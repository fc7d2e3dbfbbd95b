package compile

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// View is what a pinned workflow says to whoever only looks: what it is called and
// which steps it has. It is made of a Compiled or, with DecodeForeign, of what another
// program pinned, and there is no way from it to a Compiled: nothing runs a View (R14).
// The zero View is of a workflow that cannot be read.
type View struct {
	name   string
	steps  []StepView
	loops  bool
	titles func(stepID string) (string, bool)
}

// StepView is one step of the main sequence.
type StepView struct {
	StepID string
	Title  string
}

// View shows a workflow that can be run.
func (c Compiled) View() View {
	v := View{name: c.Name, loops: len(c.Loops) > 0, steps: make([]StepView, len(c.Steps)),
		titles: func(stepID string) (string, bool) {
			s, ok := c.Step(stepID)
			return s.Title, ok
		}}
	for i, s := range c.Steps {
		v.steps[i] = StepView{s.StepID, s.Title}
	}
	return v
}

// Name is what people call the workflow, "" where that cannot be read.
func (v View) Name() string { return v.name }

// Steps are the main sequence, loops standing in it as steps; callers must not change
// it.
func (v View) Steps() []StepView { return v.steps }

// Total is how many steps a run has, 0 where loops leave it open or the workflow
// cannot be read.
func (v View) Total() int64 {
	if v.loops {
		return 0
	}
	return int64(len(v.steps))
}

// Title is that of a step, in the main sequence or in a loop; of a step that the
// workflow does not name, its id.
func (v View) Title(stepID string) string {
	if v.titles != nil {
		if title, ok := v.titles(stepID); ok {
			return title
		}
	}
	return stepID
}

// sourceKinds are the forms in which WorkRail pins: the whole source after expansion,
// or of an early version one step to look at.
var sourceKinds = []string{"v1_pinned", "v1_preview"}

// DecodeForeign reads what WorkRail pinned: name, and the titles of the steps and of
// what stands in the bodies of loops. What is of no form that is known is STORE_FOREIGN.
func DecodeForeign(data []byte) (View, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return View{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	if !slices.Contains(sourceKinds, textIn(doc, "sourceKind")) {
		return View{}, fault.New(fault.StoreForeign,
			"the workflow was pinned by another program, in a form that Waybill does not know")
	}
	definition, _ := doc.Get("definition")
	steps, _ := definition.Get("steps")
	f := foreignSteps{titles: map[string]string{}}
	main := f.sequence(steps)
	if preview, ok := doc.Get("preview"); ok {
		f.titles[textIn(preview, "stepId")] = textIn(preview, "title")
	}
	// A body that is a name takes that step out of the main sequence (R22).
	main = slices.DeleteFunc(main, func(s StepView) bool { return slices.Contains(f.bodies, s.StepID) })
	v := View{name: textIn(doc, "name"), steps: main, loops: f.loops, titles: func(stepID string) (string, bool) {
		title, ok := f.titles[stepID]
		return title, ok && title != ""
	}}
	if v.name == "" {
		v.name = textIn(definition, "name")
	}
	return v, nil
}

// foreignSteps collects what is said about steps.
type foreignSteps struct {
	titles map[string]string
	bodies []string // steps that are the body of a loop elsewhere
	loops  bool
}

// sequence reads a list of steps. How deep they nest is bounded by what Parse accepts.
func (f *foreignSteps) sequence(list canon.Value) (out []StepView) {
	for i := 0; list.Kind() == canon.Array && i < list.Len(); i++ {
		step := list.Item(i)
		s := StepView{textIn(step, "id"), textIn(step, "title")}
		if s.StepID == "" {
			continue
		}
		if s.Title == "" {
			s.Title = s.StepID
		}
		f.titles[s.StepID] = s.Title
		out = append(out, s)
		body, ok := step.Get("body")
		if !ok && textIn(step, "type") != LoopStep {
			continue
		}
		f.loops = true
		f.sequence(body)
		if body.Text() != "" {
			f.bodies = append(f.bodies, body.Text())
		}
	}
	return out
}

func textIn(v canon.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}
