package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// Draft is a workflow of what a recorded run did, with its test.
type Draft struct {
	Workflow []byte // YAML
	Tests    workflowtest.File
	Warnings []string // what of the run it does not have, as sentences
}

// valueMin is the length in bytes of the shortest text that becomes an input: shorter ones occur by chance.
const valueMin = 3

// inputsMax bounds the inputs that a draft makes of values.
const inputsMax = 12

// Draft returns a workflow that shows the steps of the run in their order, without conditions and loops: a step that
// was shown twice is two steps. Texts that occur twice, in the context of the start, in arguments of commands or in
// prompts, become inputs. problems counts what is wrong with a text as a workflow of the project; a value is
// written out where its placeholder would be a problem.
func (r Recording) Draft(id, name string) Draft {
	d := drafting{r: r, id: id, name: name, texts: map[string]string{}}
	d.steps()
	d.findValues()
	out := Draft{Warnings: slices.Clone(r.Warnings)}
	for _, left := range d.left {
		out.Warnings = append(out.Warnings, "Left out: "+left+".")
	}
	out.Workflow = d.text()
	out.Tests = workflowtest.File{Cases: []workflowtest.Case{d.testCase()}}
	return out
}

// drafting is a draft in the making.
type drafting struct {
	r        Recording
	id, name string
	ids      []string          // of the steps of the draft
	shown    []yaml.Object     // the steps, with values written out
	values   []value           // that become inputs
	texts    map[string]string // the placeholder of each value
	inputs   []source.Input    // of the workflow that the run had
	left     []string
}

// value is a text that occurs twice, and the context key that it becomes.
type value struct {
	text, key string
	given     bool // it is a value of the context of the start
}

// invalidID matches what no step id contains.
var invalidID = pattern.New(`[^a-z0-9_-]+`)

// steps makes the steps of the draft.
func (d *drafting) steps() {
	used := map[string]bool{}
	for _, v := range d.r.Visits {
		base := strings.Trim(invalidID.ReplaceAllString(strings.ToLower(v.Step.StepID), "-"), "-")
		if len(base) > 56 {
			base = strings.Trim(base[len(base)-56:], "-")
		}
		if base == "" {
			base = "step"
		}
		id := base
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s-%d", base, n)
		}
		used[id] = true
		d.ids = append(d.ids, id)
		d.shown = append(d.shown, d.step(id, v))
	}
	for _, in := range d.r.Workflow.Inputs {
		if in.ChoicesFrom == nil {
			d.inputs = append(d.inputs, in)
		}
	}
}

// step returns a step as a source has it. Variables of loops are written out.
func (d *drafting) step(id string, v Visit) yaml.Object {
	s := v.Step
	fill := func(text string) string {
		return placeholder.Replace(text, func(p placeholder.Part) string {
			if have, ok := placeholder.Lookup(v.Loops, p.Path); ok && !have.IsNull() {
				return placeholder.Text(have)
			}
			return p.Text
		})
	}
	out := yaml.Object{{Key: "id", Value: id}, {Key: "title", Value: fill(s.Title)}}
	out = out.Add("prompt", cut(fill(s.Prompt), promptMax))
	switch {
	case s.Action != nil:
		a := *s.Action
		a.Argv = slices.Clone(a.Argv)
		for i, arg := range a.Argv {
			a.Argv[i] = fill(arg)
		}
		out = out.Add("action", objectOf(a, "kind", "argv"))
	case s.Wait != nil:
		out = out.Add("action", yaml.Object{{Key: "kind", Value: source.WaitAction}}.Add("for", s.Wait.For).Add("until", fill(s.Wait.Until)))
	case s.Host != nil:
		out = out.Add("action", yaml.Object{{Key: "kind", Value: "host"}}.Add("typeId", s.Host.TypeID).Add("config", s.Host.Config))
	}
	if len(s.Outputs) > 0 {
		out = out.Add("outputs", valueOf(s.Outputs))
	}
	var checks yaml.List
	for _, c := range s.Checks {
		c.Argv = slices.Clone(c.Argv)
		for i, arg := range c.Argv {
			c.Argv[i] = fill(arg)
		}
		checks = append(checks, objectOf(c, "id", "argv"))
	}
	out = out.Add("checks", checks)
	var inputs yaml.List
	for _, in := range s.Inputs {
		if in.ChoicesFrom == nil {
			inputs = append(inputs, objectOf(in, "contextKey", "reason"))
		}
	}
	out = out.Add("inputs", inputs).Add("notesRequired", s.NotesRequired)
	if c := s.OutputContract; c != nil {
		out = out.Add("outputContract", yaml.Object{{Key: "contractRef", Value: c.ContractRef}, {Key: "required", Value: canon.OfBool(c.Required)}})
	}
	return d.confirmation(out, v)
}

// confirmation adds what the step waited for: an approval if people decided, a confirmation if it always asks.
func (d *drafting) confirmation(out yaml.Object, v Visit) yaml.Object {
	gate := v.Step.RequireConfirmation
	decided := slices.ContainsFunc(v.Answers, func(a workflowtest.Answer) bool { return a.Decision.Word != workflowtest.Undecided })
	switch {
	case gate.Kind == compile.ConfirmApproval && (decided || gate.Condition.IsNull()):
		o := yaml.Object{{Key: "kind", Value: "human_approval"}}
		var approvers yaml.List
		for _, name := range gate.Approvers {
			approvers = append(approvers, name)
		}
		o = o.Add("approvers", approvers)
		if gate.Count > 1 {
			o = o.Add("count", canon.OfInt(int64(gate.Count)))
		}
		return out.Add("requireConfirmation", o.Add("notPerformer", gate.NotPerformer))
	case gate.Kind == compile.ConfirmAlways:
		return out.Add("requireConfirmation", true)
	}
	return out
}

// promptMax is the length in characters of the longest prompt that a source accepts.
const promptMax = 8000

// cut returns the first n characters of a text.
func cut(text string, n int) string {
	if all := []rune(text); len(all) > n {
		return string(all[:n])
	}
	return text
}

// valueOf is a Go value as JSON. The types of this package's callers are always valid.
func valueOf(x any) canon.Value {
	v, err := canon.ValueOf(x)
	if err != nil {
		panic("trial: " + err.Error())
	}
	return v
}

// objectOf is a struct as an object, with some members first.
func objectOf(x any, first ...string) yaml.Object {
	v, out := valueOf(x), yaml.Object{}
	for _, key := range first {
		if m, ok := v.Get(key); ok {
			out = append(out, yaml.Member{Key: key, Value: m})
		}
	}
	for i := range v.Len() {
		if key := v.Key(i); !slices.Contains(first, key) {
			out = append(out, yaml.Member{Key: key, Value: v.Item(i)})
		}
	}
	return out
}
