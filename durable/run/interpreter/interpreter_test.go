package interpreter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// flow compiles a workflow from its conditions and steps.
func flow(t *testing.T, steps string) compile.Compiled {
	t.Helper()
	workflowText := `{"id":"test.flow","name":"F","description":"d","version":"1.0.0",` + steps + `}`
	_, c, problems := compile.File("flow.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return c
}

// drive performs one walk per input line, "context artifact…" or "never …" for NeverStop, and
// describes the result of each in a line.
func drive(t *testing.T, c compile.Compiled, lines ...string) string {
	t.Helper()
	var out strings.Builder
	var s snapshot.State
	vars := canon.OfMembers()
	for i, line := range lines {
		in := interpreter.Input{}
		if line, in.NeverStop = strings.CutPrefix(line, "never "); in.NeverStop {
			lines[i] = line
		}
		for n, part := range strings.Fields(strings.TrimPrefix(lines[i], "never ")) {
			v, err := canon.Parse([]byte(part))
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				vars = event.MergeContext(vars, v)
			} else {
				in.Artifacts = append(in.Artifacts, v)
			}
		}
		in.Vars = vars
		var r interpreter.Result
		if i == 0 {
			r = interpreter.Begin(c, in)
		} else {
			var err error
			if r, err = interpreter.Next(c, s, in); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintln(&out, describe(t, r, in.NeverStop))
		if len(r.Unmet) == 0 || in.NeverStop {
			s = r.State
		}
	}
	return out.String()
}

func describe(t *testing.T, r interpreter.Result, neverStop bool) string {
	t.Helper()
	var words []string
	for _, u := range r.Unmet {
		b := u.Blocker()
		words = append(words, fmt.Sprintf("%s@%s", b.Code, b.Pointer.Key+b.Pointer.ContractRef+b.Pointer.StepID))
	}
	if len(r.Unmet) == 0 || neverStop {
		where := "done"
		if p := r.State.PendingStep(); p != nil {
			where = p.Key()
		}
		if _, err := r.State.Encode(); err != nil {
			t.Errorf("impossible state: %v", err)
		}
		words = append([]string{where, "[" + strings.Join(r.State.CompletedKeys(), " ") + "]"}, words...)
	}
	for _, e := range r.Trace {
		words = append(words, map[event.TraceKind]string{event.SelectedNextStep: "sel",
			event.EvaluatedCondition: "eval",
			event.EnteredLoop:        "enter", event.ExitedLoop: "exit"}[e.Kind])
	}
	return strings.Join(words, " ")
}

const (
	continueLoop = `{"kind":"wr.loop_control","decision":"continue"}`
	stop         = `{"kind":"wr.loop_control","decision":"stop"}`
)

// body returns a loop of two steps, of which the second decides.
func body(loop string) string {
	return `{"id":"again","type":"loop","title":"L","loop":` + loop + `,"body":[
	 {"id":"work","title":"W","prompt":"p"},{"id":"decide","title":"D","prompt":"p"}]},{"id":"end","title":"E","prompt":"p"}`
}

func steps(list string) string { return `"steps":[` + list + `]` }

const first = `{"id":"first","title":"F","prompt":"p"},`

func TestWalks(t *testing.T) {
	artifact := `{"type":"while","conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"},"maxIterations":3}`
	named := `{"type":"while","conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control","loopId":"outside"},"maxIterations":3}`
	while := `{"type":"while","condition":{"var":"more","equals":true},"maxIterations":2}`
	until := `{"type":"until","condition":{"var":"found","equals":true},"maxIterations":2}`
	count := `{"type":"for","count":"times","maxIterations":3}`
	each := `{"type":"forEach","items":"list","maxIterations":3}`
	for _, c := range []struct {
		name, flow string
		lines      []string
		want       string
	}{
		{"a decision ends it", steps(first + body(artifact)),
			[]string{`{}`, `{}`, `{}`, `{} ` + continueLoop, `{}`, `{} ` + stop, `{}`}, `
first [] sel
again@0::work [first] enter sel
again@0::decide [again@0::work first] sel
again@1::work [first] eval sel
again@1::decide [again@1::work first] sel
end [again first] eval exit sel
done [] sel`},
		{"no decision is no exit", steps(body(artifact)),
			[]string{`{}`, `{}`, `{}`, `{} {"kind":"wr.loop_control","decision":"maybe"}`, `{} ` + stop}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
MISSING_REQUIRED_OUTPUT@wr.contracts.loop_control
INVALID_REQUIRED_OUTPUT@wr.contracts.loop_control
end [again] eval exit sel`},
		{"an early decision is remembered", steps(body(artifact)), []string{`{}`, `{} ` + stop, `{}`}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
end [again] eval exit sel`},
		{"a decision counts for one iteration", steps(body(artifact)),
			[]string{`{}`, `{}`, `{} ` + continueLoop, `{}`, `{}`, `{} ` + stop}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
again@1::work [] eval sel
again@1::decide [again@1::work] sel
MISSING_REQUIRED_OUTPUT@wr.contracts.loop_control
end [again] eval exit sel`},
		{"two decisions are none", steps(body(artifact)), []string{`{}`, `{}`, `{} ` + continueLoop + ` ` + stop,
			`{} ` + stop +
				` ` + stop}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
INVALID_REQUIRED_OUTPUT@wr.contracts.loop_control
end [again] eval exit sel`},
		{"a decision for another loop is none", steps(body(named)), []string{`{}`, `{}`,
			`{} {"kind":"wr.loop_control","decision":"stop","loopId":"inside"}`,
			`{} {"kind":"wr.loop_control","decision":"stop","loopId":"outside"}`}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
INVALID_REQUIRED_OUTPUT@wr.contracts.loop_control
end [again] eval exit sel`},
		{"at most three", steps(body(artifact)), []string{`{}`, `{}`, `{} ` + continueLoop, `{}`, `{} ` + continueLoop,
			`{}`,
			`{} ` + continueLoop, `never {} ` + continueLoop}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
again@1::work [] eval sel
again@1::decide [again@1::work] sel
again@2::work [] eval sel
again@2::decide [again@2::work] sel
INVARIANT_VIOLATION@again eval
end [again] INVARIANT_VIOLATION@again eval exit sel`},
		{"never stopping goes round without a decision", steps(body(artifact)),
			[]string{`never {}`, `never {}`, `never {}`}, `
again@0::work [] enter sel
again@0::decide [again@0::work] sel
again@1::work [] MISSING_REQUIRED_OUTPUT@wr.contracts.loop_control eval sel`},
		{"while: none, since the variable is absent", steps(first + body(while)), []string{`{}`, `{}`}, `
first [] sel
end [again first] enter eval exit sel`},
		{"while: one, and the variable stays what it is", steps(first + body(while)),
			[]string{`{}`, `{"more":true}`, `{}`, `{}`, `{"more":false}`}, `
first [] sel
again@0::work [first] enter eval sel
again@0::decide [again@0::work first] sel
again@1::work [first] eval sel
again@1::decide [again@1::work first] sel`},
		{"while: an absent variable does not end it", steps(body(while)),
			[]string{`{"more":true}`, `{}`, `{"more":null}`, `never {}`}, `
again@0::work [] enter eval sel
again@0::decide [again@0::work] sel
MISSING_REQUIRED_OUTPUT@more
end [again] MISSING_REQUIRED_OUTPUT@more eval exit sel`},
		{"until: not begun when it holds", steps(body(until)), []string{`{"found":true}`}, `
end [again] enter eval exit sel`},
		{"until: to its bound", steps(body(until)), []string{`{"found":false}`, `{}`, `{}`, `{}`, `{}`,
			`{"found":true}`}, `
again@0::work [] enter eval sel
again@0::decide [again@0::work] sel
again@1::work [] eval sel
again@1::decide [again@1::work] sel
INVARIANT_VIOLATION@again eval
end [again] eval exit sel`},
		{"for: none, one", steps(body(count)), []string{`{"times":0}`}, `
end [again] enter eval exit sel`},
		{"for: the count is pinned", steps(body(count)), []string{`{"times":2}`, `{"times":9}`, `{}`, `{}`, `{}`}, `
again@0::work [] enter eval sel
again@0::decide [again@0::work] sel
again@1::work [] eval sel
again@1::decide [again@1::work] sel
end [again] eval exit sel`},
		{"for: more than its bound, then less", steps(first + body(count)),
			[]string{`{}`, `{"times":4}`, `{"times":2}`, `{"times":9}`, `{}`, `{}`, `{}`}, `
first [] sel
INVALID_REQUIRED_OUTPUT@times enter eval
again@0::work [first] enter eval sel
again@0::decide [again@0::work first] sel
again@1::work [first] eval sel
again@1::decide [again@1::work first] sel
end [again first] eval exit sel`},
		{"for: more than its bound, never stopping", steps(first + body(count)),
			[]string{`{}`, `never {"times":4}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`}, `
first [] sel
again@0::work [first] INVALID_REQUIRED_OUTPUT@times enter eval sel
again@0::decide [again@0::work first] sel
again@1::work [first] eval sel
again@1::decide [again@1::work first] sel
again@2::work [first] eval sel
again@2::decide [again@2::work first] sel
end [again first] eval exit sel`},
		{"for: a number over its bound", steps(body(`{"type":"for","count":4,"maxIterations":3}`)), []string{`{}`}, `
INVARIANT_VIOLATION@again enter eval`},
		{"forEach: more than its bound", steps(body(each)), []string{`{"list":[1,2,3,4]}`}, `
INVALID_REQUIRED_OUTPUT@list enter eval`},
		{"for: no count", steps(body(count)), []string{`{}`}, `
MISSING_REQUIRED_OUTPUT@times enter eval`},
		{"for: a count that is none", steps(body(count)), []string{`{"times":"three"}`}, `
INVALID_REQUIRED_OUTPUT@times enter eval`},
		{"forEach: no list, never stopping", steps(body(each)), []string{`never {}`}, `
end [again] MISSING_REQUIRED_OUTPUT@list enter eval exit sel`},
		{"forEach: empty", steps(body(each)), []string{`{"list":[]}`}, `
end [again] enter eval exit sel`},
		{"forEach: one", steps(body(each)), []string{`{"list":["a"]}`, `{}`, `{}`}, `
again@0::work [] enter eval sel
again@0::decide [again@0::work] sel
end [again] eval exit sel`},
		{"a body that is passed over", steps(`{"id":"again","type":"loop","title":"L","loop":` + count + `,"body":[
			{"id":"work","title":"W","prompt":"p","runCondition":{"var":"currentIteration","equals":2}}]},{"id":"end","title":"E","prompt":"p"}`),
			[]string{`{"times":3}`, `{}`}, `
again@1::work [] enter eval eval eval eval sel
end [again] eval eval eval exit sel`},
		{"loops in loops", steps(
			`{"id":"outer","type":"loop","title":"O","loop":{"type":"forEach","items":"rows","itemVar":"row","maxIterations":9},"body":[
			{"id":"inner","type":"loop","title":"I","loop":{"type":"forEach","items":"row.cells","maxIterations":9},"body":[{"id":"triage","title":"T","prompt":"p"}]},
			{"id":"sum","title":"S","prompt":"p"}]}`),
			[]string{`{"rows":[{"cells":[1,2]},{"cells":[]}]}`, `{}`, `{}`, `{}`, `{}`}, `
outer@0/inner@0::triage [] enter eval enter eval sel
outer@0/inner@1::triage [] eval sel
outer@0::sum [outer@0::inner] eval exit sel
outer@1::sum [outer@1::inner] eval enter eval exit sel
done [] eval exit sel`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := drive(t, flow(t, c.flow), c.lines...)
			if want := strings.TrimPrefix(c.want, "\n") + "\n"; got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
