package compile

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
)

// View is a read-only summary of a pinned workflow: its name and its steps. It is made from a
// Compiled or, by DecodeForeign, from a workflow that WorkRail pinned. A View cannot be
// converted into a Compiled, so that foreign workflows are never run
// (docs/design.md#foreign-stores). The zero View represents a workflow that cannot be read.
type View struct {
	name   string
	steps  []StepView
	varies bool // the number of steps is not the same in all runs
	titles func(stepID string) (string, bool)
	loop   func(loopID string) (Loop, bool) // nil: the loops are not known
}

// StepView is one step of the main sequence.
type StepView struct {
	StepID string
	Title  string
}

// View returns the summary of a compiled workflow.
func (c Compiled) View() View {
	v := View{name: c.Name, varies: len(c.Loops) > 0 || !c.InOrder(), loop: c.Loop,
		steps: make([]StepView, len(c.Steps)),
		titles: func(stepID string) (string, bool) {
			s, ok := c.Step(stepID)
			return clipped(s.Title), ok
		}}
	for i, s := range c.Steps {
		v.steps[i] = StepView{s.StepID, clipped(s.Title)}
	}
	return v
}

// Name returns the title of the workflow, "" if it cannot be read.
func (v View) Name() string { return v.name }

// Steps returns the main sequence, with a loop as one step. Callers must not modify it.
func (v View) Steps() []StepView { return v.steps }

// Total returns the number of steps of a run, 0 if loops or conditions of form 2 make it
// variable or the workflow cannot be read.
func (v View) Total() int64 {
	if v.varies {
		return 0
	}
	return int64(len(v.steps))
}

// Loop returns a loop by its id, whose variables titles may contain; false for an unknown one and
// for every loop of a foreign workflow.
func (v View) Loop(loopID string) (Loop, bool) {
	if v.loop == nil {
		return Loop{}, false
	}
	return v.loop(loopID)
}

// Has reports a step or loop of the main sequence or of a loop's body.
func (v View) Has(id string) bool {
	if slices.ContainsFunc(v.steps, func(s StepView) bool { return s.StepID == id }) {
		return true
	}
	if _, isLoop := v.Loop(id); isLoop || v.titles == nil {
		return isLoop
	}
	_, ok := v.titles(id)
	return ok
}

// Title returns the title of a step, in the main sequence or in a loop; the id itself for an
// unknown step.
func (v View) Title(stepID string) string {
	if v.titles != nil {
		if title, ok := v.titles(stepID); ok {
			return title
		}
	}
	return stepID
}

// sourceKinds are the forms of workflows pinned by WorkRail: the whole expanded source, or in
// an early version a preview of one step.
var sourceKinds = []string{"v1_pinned", "v1_preview"}

// DecodeForeign decodes a workflow that this version cannot run: one pinned by WorkRail, or one
// of this format beyond its limits. It reads its name and the titles of steps, those in loops
// included, each cut to limits.StepTitleBytesMax. It fails with STORE_FOREIGN for an unknown
// form or size and STORE_CORRUPT for text that is not JSON. Members that it does not need are
// not checked.
func DecodeForeign(data []byte) (View, error) {
	if err := checkSize(data); err != nil {
		return View{}, fault.Wrap(err, fault.StoreForeign, "the workflow cannot be shown: %s", err)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return View{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	root := problem.SourceValue{Value: doc}
	if version := root.Member("schemaVersion").Value; version.Kind() == canon.Number && !root.Has("sourceKind") {
		return viewOf(root), nil
	}
	if !slices.Contains(sourceKinds, textIn(root, "sourceKind")) {
		return View{}, fault.New(fault.StoreForeign,
			"the workflow was pinned by another program, in a form that Waybill does not know")
	}
	definition := root.Member("definition")
	f := foreignSteps{titles: map[string]string{}}
	main := f.sequence(definition.Member("steps"))
	if root.Has("preview") {
		preview := root.Member("preview")
		f.titles[textIn(preview, "stepId")] = clipped(textIn(preview, "title"))
	}
	// A step that a loop names as its body is not part of the main sequence
	// (docs/design.md#loops).
	main = slices.DeleteFunc(main, func(s StepView) bool { return slices.Contains(f.bodies, s.StepID) })
	return View{name: clipped(cmp.Or(textIn(root, "name"), textIn(definition, "name"))), steps: main, varies: f.loops,
		titles: func(stepID string) (string, bool) {
			title, ok := f.titles[stepID]
			return title, ok && title != ""
		}}, nil
}

// ForeignSource returns the source in a workflow that WorkRail pinned whole, as it was written or
// expanded there. STORE_FOREIGN: data has another form.
func ForeignSource(data []byte) ([]byte, error) {
	if err := checkSize(data); err != nil {
		return nil, fault.Wrap(err, fault.StoreForeign, "the workflow cannot be read: %s", err)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	root := problem.SourceValue{Value: doc}
	definition := root.Member("definition").Value
	if textIn(root, "sourceKind") != sourceKinds[0] || definition.Kind() != canon.Object {
		return nil, fault.New(fault.StoreForeign,
			"the workflow was pinned by another program, and its whole source is not stored")
	}
	return definition.JCS(), nil
}

// viewOf returns the summary of a document of this format beyond its limits, or of a newer one.
func viewOf(root problem.SourceValue) View {
	f := foreignSteps{titles: map[string]string{}}
	main := f.sequence(root.Member("steps"))
	loops := root.Member("loops").Items()
	for _, loop := range loops {
		f.sequence(loop.Member("body"))
	}
	return View{name: clipped(textIn(root, "name")), steps: main, varies: len(loops) > 0,
		titles: func(stepID string) (string, bool) {
			title, ok := f.titles[stepID]
			return title, ok
		}}
}

// clipped bounds a name or title that no limit bounds.
func clipped(text string) string { return reason.Truncate(text, limits.StepTitleBytesMax) }

// foreignSteps collects the steps of a WorkRail workflow.
type foreignSteps struct {
	titles map[string]string // by step id
	bodies []string          // ids of steps that a loop names as its body
	loops  bool              // the workflow contains a loop
}

// sequence reads a list of steps and the bodies in it. canon.Parse bounds the depth of
// nesting, and so the recursion.
func (f *foreignSteps) sequence(list problem.SourceValue) (out []StepView) {
	for _, step := range list.Items() {
		id := cmp.Or(textIn(step, "id"), textIn(step, "stepId"))
		if id == "" {
			continue
		}
		s := StepView{clipped(id), clipped(cmp.Or(textIn(step, "title"), id))}
		f.titles[id] = s.Title
		out = append(out, s)
		if !step.Has("body") && textIn(step, "type") != LoopStep {
			continue
		}
		f.loops = true
		body := step.Member("body")
		f.sequence(body)
		if name := body.Value.Text(); name != "" {
			f.bodies = append(f.bodies, name)
		}
	}
	return out
}

// textIn returns the text of a member, "" if it is absent or not a string.
func textIn(at problem.SourceValue, name string) string { return at.Member(name).Value.Text() }
