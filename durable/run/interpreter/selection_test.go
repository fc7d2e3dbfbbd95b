package interpreter_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// inForm1 returns the workflow as a version before form 2 pinned it.
func inForm1(t interface{ Fatal(...any) }, c compile.Compiled) compile.Compiled {
	old := strings.Replace(string(c.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1)
	c, err := compile.Decode([]byte(old))
	if err != nil || c.Form2() {
		t.Fatal("no workflow of form 1: ", err)
	}
	return c
}

// when returns a step with a condition, "" for none.
func when(id, condition string) string {
	if condition != "" {
		condition = `,"runCondition":` + condition
	}
	return `{"id":"` + id + `","title":"T","prompt":"p"` + condition + `}`
}

// loopWhen returns a loop with a condition, "" for none.
func loopWhen(id, condition, loop, body string) string {
	if condition != "" {
		condition = `"runCondition":` + condition + `,`
	}
	return `{"id":"` + id + `","type":"loop","title":"L",` + condition + `"loop":` + loop + `,"body":[` + body + `]}`
}

const (
	isFull  = `{"var":"full","equals":true}`
	isLarge = `{"var":"size","equals":"Large"}`
)

// TestSelection: in the main sequence of form 2 the first step that is not completed and whose
// condition holds is next. Form 1 is walked forward only.
func TestSelection(t *testing.T) {
	gate := steps(when("start", "") + "," + when("plan", isFull) + "," + when("gate", "") + "," + when("end", ""))
	loop := steps(when("start", "") + "," +
		loopWhen("rounds", isFull, `{"type":"for","count":2,"maxIterations":9}`, when("do", "")+","+when("extra", isLarge)) + "," +
		when("gate", "") + "," + when("end", ""))
	empty := steps(when("start", "") + "," +
		loopWhen("each", isFull, `{"type":"forEach","items":"list","maxIterations":2}`, when("do", "")) + "," + when("end", ""))
	for _, c := range []struct {
		name, flow string
		form1      bool
		lines      []string
		want       string
	}{
		{"a gate brings a step back, once", gate, false, []string{`{}`, `{}`, `{"full":true}`, `{}`, `{}`}, `
start [] sel
gate [start] eval sel
plan [gate start] eval sel
end [gate plan start] sel
done [] sel`},
		{"the condition stays false", gate, false, []string{`{}`, `{}`, `{"full":false}`, `{}`}, `
start [] sel
gate [start] eval sel
end [gate start] sel
done [] sel`},
		{"a completed step does not come back", gate, false,
			[]string{`{}`, `{"full":true}`, `{"full":false}`, `{"full":true}`, `{}`}, `
start [] sel
plan [start] eval sel
gate [plan start] sel
end [gate plan start] sel
done [] sel`},
		{"after the last step", gate, false, []string{`{}`, `{}`, `{}`, `{"full":true}`, `{}`}, `
start [] sel
gate [start] eval sel
end [gate start] sel
plan [end gate start] eval sel
done [] sel`},
		{"form 1 is walked forward only", gate, true, []string{`{}`, `{}`, `{"full":true}`, `{}`}, `
start [] sel
gate [start] eval sel
end [gate start] sel
done [] sel`},
		{"a loop comes back, and its body is walked forward", loop, false,
			[]string{`{}`, `{}`, `{"full":true}`, `{}`, `{"size":"Large"}`, `{"full":true}`, `{}`}, `
start [] sel
gate [start] eval sel
rounds@0::do [gate start] eval enter eval sel
rounds@1::do [gate start] eval eval sel
rounds@1::extra [gate rounds@1::do start] eval sel
end [gate rounds start] eval exit sel
done [] sel`},
		{"a step of a body does not come back in its iteration", loop, false,
			[]string{`{}`, `{"full":true}`, `{"size":"Large"}`, `{"size":"Small"}`, `{}`, `{}`, `{}`}, `
start [] sel
rounds@0::do [start] eval enter eval sel
rounds@0::extra [rounds@0::do start] eval sel
rounds@1::do [start] eval sel
gate [rounds start] eval eval exit sel
end [gate rounds start] sel
done [] sel`},
		{"a loop without an iteration does not come back", empty, false,
			[]string{`{"full":true,"list":[]}`, `{}`, `{"list":[1,2]}`}, `
start [] sel
end [each start] eval enter eval exit sel
done [] sel`},
		{"a loop whose condition was false comes back", empty, false,
			[]string{`{"list":[1]}`, `{}`, `{"full":true}`, `{}`}, `
start [] sel
end [start] eval sel
each@0::do [end start] eval enter eval sel
done [] eval exit sel`},
		{"a loop that comes back is checked on entry", empty, false,
			[]string{`{"list":[1,2,3]}`, `{}`, `{"full":true}`, `{"list":[1]}`}, `
start [] sel
end [start] eval sel
INVALID_REQUIRED_OUTPUT@list eval enter eval
each@0::do [end start] eval enter eval sel`},
		{"a step before a loop comes back when the loop has ended",
			steps(when("plan", isFull) + "," + loopWhen("twice", "", `{"type":"for","count":2,"maxIterations":2}`, when("do", ""))),
			false, []string{`{}`, `{"full":true}`, `{}`, `{}`}, `
twice@0::do [] eval enter eval sel
twice@1::do [] eval sel
plan [twice] eval exit eval sel
done [] sel`},
		{"conditions are evaluated once in a walk",
			steps(when("start", "") + "," + when("plan", isFull) + "," +
				loopWhen("none", "", `{"type":"for","count":2,"maxIterations":2}`, when("do", isFull)) + "," + when("end", "")),
			false, []string{`{}`, `{}`}, `
start [] sel
end [none start] eval enter eval eval eval eval eval exit sel`},
		{"a step of a body is traced in every iteration", steps(when("a", "") + "," + when("b", "") + "," +
			loopWhen("l", "", `{"type":"for","count":2,"maxIterations":2}`, when("x", isFull)+","+when("y", ""))), false,
			[]string{`{}`, `{}`, `{}`, `{}`}, `
a [] sel
b [a] sel
l@0::y [a b] enter eval eval sel
l@1::y [a b] eval eval sel`},
		{"form 1: a number over the bound ends the loop late", steps(when("a", "") + "," +
			loopWhen("l", "", `{"type":"for","count":"times","maxIterations":2}`, when("do", ""))), true,
			[]string{`{}`, `{"times":3}`, `{}`, `{}`, `never {}`}, `
a [] sel
l@0::do [a] enter eval sel
l@1::do [a] eval sel
INVARIANT_VIOLATION@l eval
done [] INVARIANT_VIOLATION@l eval exit sel`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := flow(t, c.flow)
			if c.form1 {
				w = inForm1(t, w)
			}
			got := drive(t, w, c.lines...)
			if want := strings.TrimPrefix(c.want, "\n") + "\n"; got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestTraceOfReturn: a step that comes back is traced with the reason, and the steps before it
// that are passed over again are not traced.
func TestTraceOfReturn(t *testing.T) {
	c := flow(t, steps(when("a", isLarge)+","+when("b", isFull)+","+when("c", "")+","+when("d", isLarge)))
	r := interpreter.Begin(c, interpreter.Input{Vars: canon.OfMembers()})
	r, err := interpreter.Next(c, r.State, interpreter.Input{Vars: parse(t, `{"full":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.Trace {
		got = append(got, e.Summary)
	}
	if want := `Step "b": its condition holds now, after the step was passed over: {"equals":true,"var":"full"}|` +
		`Step "b" is next.`; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	if r, err = interpreter.Next(c, r.State, interpreter.Input{Vars: parse(t, `{"full":true}`)}); err != nil ||
		len(r.Trace) != 2 || r.Trace[0].Kind != event.EvaluatedCondition || !strings.Contains(r.Trace[0].Summary, `Step "d"`) {
		t.Errorf("behind b: %+v, %v", r.Trace, err)
	}
}

// TestTooLongAtEntry: the blocker names the loop, its length and maxIterations, and the context
// key that a caller can send again.
func TestTooLongAtEntry(t *testing.T) {
	for _, row := range []struct{ loop, vars, message, fix string }{
		{`{"type":"forEach","items":"plan.slices","maxIterations":2}`, `{"plan":{"slices":[1,2,3]}}`,
			`Loop "l" would run for the 3 items under context key "plan.slices", and its maxIterations is 2 ` +
				`(loopId=l, length=3, maxIterations=2).`, `a list of at most 2 under context key "plan.slices"`},
		{`{"type":"for","count":"times","maxIterations":2}`, `{"times":1000000}`,
			`Loop "l" would run 1000000 times, the number under context key "times", and its maxIterations is 2 ` +
				`(loopId=l, length=1000000, maxIterations=2).`, `--set times=2`},
		{`{"type":"for","count":3,"maxIterations":2}`, `{}`,
			`Loop "l" would run 3 times, and its maxIterations is 2 (loopId=l, length=3, maxIterations=2).`,
			`full_auto_never_stop the loop runs for the first 2 iterations`},
	} {
		c := flow(t, steps(loopWhen("l", "", row.loop, when("do", ""))))
		r := interpreter.Begin(c, interpreter.Input{Vars: parse(t, row.vars)})
		if len(r.Unmet) != 1 || r.Unmet[0].Message != row.message || !strings.Contains(r.Unmet[0].Fix, row.fix) {
			t.Errorf("%s: got %+v", row.loop, r.Unmet)
		}
		r = interpreter.Begin(c, interpreter.Input{Vars: parse(t, row.vars), NeverStop: true})
		if s := r.State.LoopStack; len(r.Unmet) != 1 || s == nil || len(*s) != 1 || *(*s)[0].Count != 2 {
			t.Errorf("%s, never stopping: got %+v", row.loop, r.State)
		}
		if whole := flow(t, steps(loopWhen("l", "", strings.Replace(row.loop, `maxIterations":2`, `maxIterations":3`, 1),
			when("do", "")))); !strings.Contains(row.vars, "1000000") &&
			len(interpreter.Begin(whole, interpreter.Input{Vars: parse(t, row.vars)}).Unmet) > 0 {
			t.Errorf("%s: a length of maxIterations is refused", row.loop)
		}
	}
}
