package interpreter_test

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// modelStep is a step of a random workflow: its condition, and for a loop its control and body.
type modelStep struct {
	id   string
	when string // variable that has to be true, "" for none
	loop string // "", for, forEach, while
	from string // variable of the control: a number, a list, or a flag
	most int
	body []modelStep
}

// text returns the source of the step.
func (s modelStep) text() string {
	condition := ""
	if s.when != "" {
		condition = fmt.Sprintf(`{"var":%q,"equals":true}`, s.when)
	}
	if s.loop == "" {
		return when(s.id, condition)
	}
	control := map[string]string{"for": `"count":%q`, "forEach": `"items":%q`,
		"while": `"condition":{"var":%q,"equals":true}`}[s.loop]
	return loopWhen(s.id, condition, fmt.Sprintf(`{"type":%q,`+control+`,"maxIterations":%d}`, s.loop, s.from, s.most),
		sourceOf(s.body))
}

func sourceOf(all []modelStep) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.text()
	}
	return strings.Join(texts, ",")
}

// drawSteps draws a sequence of 1 to 5 steps, some of them loops down to a depth.
func drawSteps(t *rapid.T, prefix string, depth int) []modelStep {
	flags := []string{"x", "y", "z"}
	out := make([]modelStep, rapid.IntRange(1, 5).Draw(t, "steps"))
	for i := range out {
		s := modelStep{id: fmt.Sprintf("%s%d", prefix, i), most: rapid.IntRange(1, 3).Draw(t, "most"),
			when: rapid.SampledFrom(append(flags, "")).Draw(t, "when")}
		if depth > 0 {
			s.loop = rapid.SampledFrom([]string{"", "", "for", "forEach", "while"}).Draw(t, "loop")
		}
		if s.loop != "" {
			s.from = map[string]string{"for": "count", "forEach": "list", "while": rapid.SampledFrom(flags).Draw(t, "flag")}[s.loop]
			s.body = drawSteps(t, s.id+"_", depth-1)
		}
		out[i] = s
	}
	return out
}

// drawContext draws a context that has all variables.
func drawContext(t *rapid.T) canon.Value {
	var out []canon.Member
	for _, name := range []string{"x", "y", "z"} {
		out = append(out, canon.Member{Name: name, Value: canon.OfBool(rapid.Bool().Draw(t, name))})
	}
	n := rapid.Int64Range(0, 4).Draw(t, "length")
	list := make([]canon.Value, n)
	for i := range list {
		list[i] = canon.OfInt(int64(i))
	}
	return canon.OfMembers(append(out, canon.Member{Name: "count", Value: canon.OfInt(n)},
		canon.Member{Name: "list", Value: canon.OfList(list...)})...)
}

// model is the meaning of the rules of selection, written as a program that runs the steps: the
// keys that it yields are the steps of the run. vars is the context at each of them.
type model struct {
	form2 bool
	vars  *canon.Value
	yield func(key string) bool
}

func (m model) flag(name string) bool {
	v, _ := m.vars.Get(name)
	return name == "" || v.Equal(canon.OfBool(true))
}

// main runs the main sequence.
func (m model) main(all []modelStep) {
	done := map[string]bool{}
	for i := 0; ; {
		if m.form2 {
			i = 0
		}
		for i < len(all) && (done[all[i].id] || !m.flag(all[i].when)) {
			i++
		}
		if i == len(all) {
			return
		}
		done[all[i].id] = true
		if !m.step(all[i], nil) {
			return
		}
		i++
	}
}

// step runs a step or loop; false ends the run.
func (m model) step(s modelStep, path []snapshot.PathElement) bool {
	if s.loop == "" {
		return m.yield(snapshot.InstanceKey(path, s.id))
	}
	n, of := 0, s.most
	if v, _ := m.vars.Get(s.from); s.loop == "forEach" {
		of = min(of, v.Len())
	} else if s.loop == "for" {
		of = min(of, int(v.Float()))
	}
	for ; n < of && (s.loop != "while" || m.flag(s.from)); n++ {
		inside := append(slices.Clone(path), snapshot.PathElement{LoopID: s.id, Iteration: int64(n)})
		for _, b := range s.body {
			if m.flag(b.when) && !m.step(b, inside) {
				return false
			}
		}
	}
	return true
}

// TestSelectionEqualsModel: over random workflows and contexts both forms select the steps of the
// model, every run terminates, shows no step twice, and gives the same result for the same input.
func TestSelectionEqualsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := drawSteps(rt, "s", 2)
		w := flow(t, steps(sourceOf(all)))
		if form2 := rapid.Bool().Draw(rt, "form 2"); !form2 {
			w = inForm1(rt, w)
		}
		vars := drawContext(rt)
		m := model{form2: w.Form2(), vars: &vars}
		next, stop := iter.Pull(func(yield func(string) bool) { m.yield = yield; m.main(all) })
		defer stop()

		r := interpreter.Begin(w, interpreter.Input{Vars: vars, NeverStop: true})
		shown := map[string]bool{}
		for {
			want, more := next()
			p := r.State.PendingStep()
			if !more {
				if p != nil || !r.State.IsComplete() {
					rt.Fatalf("%s is pending at the end", p.Key())
				}
				return
			}
			if p == nil || p.Key() != want || shown[want] {
				rt.Fatalf("pending %+v, want %s, shown before: %v", p, want, shown[want])
			}
			shown[want] = true
			s := stored(rt, r.State)
			vars = drawContext(rt)
			r = walkTwice(rt, w, s, interpreter.Input{Vars: vars, NeverStop: true})
		}
	})
}

// stored returns a state as it is read back.
func stored(t *rapid.T, s snapshot.State) snapshot.State {
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = snapshot.Decode(data); err != nil {
		t.Fatal(err)
	}
	return s
}

// walkTwice returns the result of a walk, after a second one of the same input.
func walkTwice(t *rapid.T, w compile.Compiled, s snapshot.State, in interpreter.Input) interpreter.Result {
	r, err := interpreter.Next(w, s, in)
	again, err2 := interpreter.Next(w, s, in)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if !reflect.DeepEqual(r, again) {
		t.Fatalf("two walks of the same input differ: %+v, %+v", r, again)
	}
	return r
}
