package perform_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

// deploySteps run under the rules of form 2: the second step takes what the first one yields.
const deploySteps = "  - {id: find, title: Find, runCondition: {var: skip, not_equals: 1}, " +
	"action: {kind: command, argv: [git]}, outputs: {commit: stdout, tag: \"json:/tags/0\"}}\n" +
	"  - {id: deploy, title: Deploy, action: {kind: command, argv: [deploy, \"{{commit}}\", \"{{where}}\"], " +
	"cwd: \"svc/{{tag}}\", env: {TAG: \"v{{tag}}\"}}}\n"

// wrote is the outcome of a command that wrote to stdout and to WAYBILL_OUTPUT.
func wrote(stdout, file string) ports.CommandOutcome {
	return ports.CommandOutcome{Stdout: command.Stream{Bytes: int64(len(stdout)), Head: strings.ToValidUTF8(stdout, "\uFFFD")}, Whole: []byte(stdout),
		Written: []byte(file)}
}

func parse(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (w *fixture) set(t *testing.T, text string) perform.Options {
	return perform.Options{Context: parse(t, text)}
}

func TestValuesReachTheNextCommand(t *testing.T) {
	w := newFixture(t, steps(deploySteps))
	w.outcomes = []ports.CommandOutcome{wrote(" abc\n", `{"tags": ["t1"], "more": 1}`)}
	if _, err := w.perform(context.Background(), w.set(t, `{"where": "a b"}`)); err != nil {
		t.Fatal(err)
	}
	c := w.tries[1]
	if !reflect.DeepEqual(c.Argv, []string{"deploy", "abc", "a b"}) || c.Cwd != "svc/t1" || c.Env["TAG"] != "vt1" || !c.Below {
		t.Errorf("%+v", c)
	}
	if got := string(c.Context); got != `{"context":{"commit":"abc","tag":"t1","where":"a b"},"loop":{}}` {
		t.Error(got)
	}
	if w.tries[0].Below || w.tries[0].Whole == 0 || c.Whole != 0 || c.Folder != c.Env["WAYBILL_ATTEMPT_ID"] {
		t.Errorf("%+v", w.tries[0])
	}
	all := w.outputs()
	if !all[0].FilledDigest.IsZero() || all[1].FilledDigest == all[1].ArgvDigest || all[1].FilledDigest.IsZero() ||
		!reflect.DeepEqual(all[0].Undeclared, []string{"more"}) {
		t.Errorf("%+v", all)
	}
	var warned []event.DecisionWarning
	for _, e := range w.events() {
		if a, ok := e.Data.(event.AdvanceRecorded); ok {
			warned = append(warned, a.Warnings...)
		}
	}
	if len(warned) != 1 || warned[0].Code != event.OutputUndeclared || warned[0].Path != "more" {
		t.Errorf("%+v", warned)
	}
}

func TestFormOneRunsAsWritten(t *testing.T) {
	for name, step := range map[string]string{
		"form 1": "  - {id: a, title: A, action: {kind: command, argv: [echo, x], env: {B: \"1\"}, cwd: sub}}\n",
		"literal": "  - {id: a, title: A, runCondition: {var: skip, not_equals: 1}, action: {kind: command, " +
			"literal: true, argv: [echo, \"{{b}}\"], cwd: \"{{c}}\"}}\n",
	} {
		w := newFixture(t, steps(step))
		if _, err := w.perform(context.Background(), w.set(t, `{"b": 1, "c": "d"}`)); err != nil {
			t.Fatal(name, err)
		}
		if c := w.tries[0]; c.Below || c.Argv[0] != "echo" || strings.Contains(c.Cwd, "d") && c.Cwd != "{{c}}" ||
			!w.outputs()[0].FilledDigest.IsZero() || string(c.Context) != `{"context":{"b":1,"c":"d"},"loop":{}}` {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestUnfilledCommandDoesNotRun: nothing is recorded, and the key is named with what to type.
func TestUnfilledCommandDoesNotRun(t *testing.T) {
	for given, why := range map[string]string{`{}`: "is not set", `{"where": "--rm"}`: "option", `{"where": "a\u0000"}`: "NUL"} {
		w := newFixture(t, steps(deploySteps))
		w.outcomes = []ports.CommandOutcome{wrote("abc", `{"tags": ["t1"]}`)}
		_, err := w.perform(context.Background(), w.set(t, given))
		f := fault.Of(err)
		if codeOf(err) != fault.RunWaiting || !strings.Contains(f.Message, "{{where}} in argv/2") || !strings.Contains(f.Message, why) ||
			!strings.Contains(f.Suggestion.String(), "waybill run --run R --set where=VALUE") || strings.Contains(err.Error(), "--rm") {
			t.Errorf("%s: %v %v", given, err, f.Suggestion)
		}
		if w.attempts() != "advanced" || len(w.tries) != 1 || !reflect.DeepEqual(f.Details["inputs"], []string{"where"}) {
			t.Errorf("%s: %s, %d tries, %v", given, w.attempts(), len(w.tries), f.Details)
		}
	}
}

func TestPersonIsAskedForAbsentValue(t *testing.T) {
	w := newFixture(t, steps("  - {id: a, title: A, runCondition: {var: skip, not_equals: 1}, requireConfirmation: true, "+
		"action: {kind: command, argv: [deploy, \"{{where}}\"]}}\n"))
	w.answers = []string{"a b", "y"}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := w.transcript(); !strings.Contains(got, "input? where \"a b\"\nconfirm? Run this command? \"y\"") {
		t.Error(got)
	}
	if w.filled[0].Argv[1] != "a b" || w.tries[0].Argv[1] != "a b" {
		t.Errorf("%+v %+v", w.filled, w.tries)
	}
	// A present value that may not be used is not asked for.
	w = newFixture(t, steps("  - {id: a, title: A, runCondition: {var: skip, not_equals: 1}, "+
		"action: {kind: command, argv: [deploy, \"{{where}}\"]}}\n"))
	w.answers = []string{}
	if _, err := w.perform(context.Background(), w.set(t, `{"where": "-x"}`)); codeOf(err) != fault.RunWaiting {
		t.Error(err)
	}
}

func TestFolderOutsideOfTheProjectDoesNotRun(t *testing.T) {
	w := newFixture(t, steps(deploySteps))
	w.outcomes = []ports.CommandOutcome{wrote("abc", `{"tags": ["t1"]}`)}
	w.onTry = func(n int, _ ports.Command) error {
		if n == 2 {
			return ports.ErrOutside
		}
		return nil
	}
	_, err := w.perform(context.Background(), w.set(t, `{"where": "x"}`))
	if codeOf(err) != fault.RunWaiting || !strings.Contains(err.Error(), "{{tag}} in cwd would lead out") || w.attempts() != "advanced" {
		t.Errorf("%v, %s", err, w.attempts())
	}
}

// TestOutputsThatAreMissingBlock: the attempt keeps the result, other outputs and the reason.
func TestOutputsThatAreMissingBlock(t *testing.T) {
	long := strings.Repeat("v", limits.OutputValueBytesMax)
	over := wrote("", `{"tags": ["t"]}`)
	over.Stdout.Bytes, over.Whole = limits.OutputValueBytesMax+1, nil
	unread := wrote("abc", "")
	unread.Unread = "is not a regular file"
	for name, c := range map[string]struct {
		out ports.CommandOutcome
		why map[string]string
	}{
		"empty stdout":    {wrote(" \n", `{"tags": ["t"]}`), map[string]string{"commit": "stdout is empty"}},
		"not UTF-8":       {wrote("a\xff", `{"tags": ["t"]}`), map[string]string{"commit": "not valid UTF-8"}},
		"long stdout":     {over, map[string]string{"commit": "at most 262144"}},
		"large context":   {wrote(long[:len(long)-20], `{"tags": ["t"]}`), map[string]string{"tag": "context would have"}},
		"placeholder":     {wrote("…", `{"tags": ["t"]}`), map[string]string{"commit": "placeholder"}},
		"no file":         {wrote("abc", ""), map[string]string{"tag": "is empty"}},
		"no JSON":         {wrote("abc", "{\n\"tags\""), map[string]string{"tag": "line 2"}},
		"twice":           {wrote("abc", `{"tags": ["t"], "tags": []}`), map[string]string{"tag": "strict JSON"}},
		"no object":       {wrote("abc", `["t"]`), map[string]string{"tag": "no JSON object"}},
		"no place":        {wrote("abc", `{"tags": []}`), map[string]string{"tag": `no value at "/tags/0"`}},
		"null":            {wrote("abc", `{"tags": [null]}`), map[string]string{"tag": "no value"}},
		"not a file":      {unread, map[string]string{"tag": "not a regular file"}},
		"both":            {wrote("", ""), map[string]string{"commit": "empty", "tag": "empty"}},
		"long JSON value": {wrote("abc", `{"tags": ["`+long+`"]}`), map[string]string{"tag": "at most 262144"}},
		"two spellings":   {wrote("abc", `{"TAGS": ["t"], "tags": ["t"]}`), map[string]string{"tag": "strict JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, steps(deploySteps))
			w.outcomes = []ports.CommandOutcome{c.out}
			_, err := w.perform(context.Background(), perform.Options{})
			if codeOf(err) != fault.RunBlocked || w.attempts() != "blocked" || len(w.outputs()) != 1 || !w.outputs()[0].OK() {
				t.Fatalf("%v, %s", err, w.attempts())
			}
			a, err := w.g.Rehydrate(context.Background(), w.at)
			if err != nil || a.Result == nil || a.Result.ExitStatus != 0 {
				t.Fatalf("%+v, %v", a.Result, err)
			}
			got := map[string]string{}
			for _, u := range w.outputs()[0].Unset {
				got[u.Key] = u.Why
			}
			for key, why := range c.why {
				if !strings.Contains(got[key], why) {
					t.Errorf("%s: %q, want %q", key, got[key], why)
				}
			}
			if v, ok := a.Context().Get("commit"); len(got) != len(c.why) || (c.why["commit"] == "") != ok {
				t.Errorf("%v, commit %s", got, v.JCS())
			}
		})
	}
}

// TestMissingOutputIsBroughtWithoutRunning: by continue, or by run; without a value the command runs
// again.
func TestMissingOutputIsBroughtWithoutRunning(t *testing.T) {
	blocked := func(t *testing.T) *fixture {
		w := newFixture(t, steps(deploySteps[:strings.Index(deploySteps, "\n")+1]))
		w.outcomes = []ports.CommandOutcome{wrote("abc", "")}
		if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunBlocked {
			t.Fatal(err)
		}
		return w
	}
	t.Run("continue", func(t *testing.T) {
		w := blocked(t)
		for _, c := range []struct {
			set     string
			blocked bool
		}{{`{"other": 1}`, true}, {`{"tag": null}`, true}, {`{"tag": "t2"}`, false}} {
			at, err := w.g.Rehydrate(context.Background(), w.at)
			if err != nil {
				t.Fatal(err)
			}
			a, err := w.g.Advance(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5}, at.Position(),
				at.AttemptID, advance.Request{Context: parse(t, c.set)})
			if err != nil || (len(a.Blockers) > 0) != c.blocked {
				t.Errorf("%s: %v, %v", c.set, a.Blockers, err)
			}
		}
	})
	t.Run("run", func(t *testing.T) {
		w := blocked(t)
		if _, err := w.perform(context.Background(), w.set(t, `{"tag": "t2"}`)); err != nil || len(w.tries) != 1 {
			t.Errorf("%v, %d tries", err, len(w.tries))
		}
	})
	t.Run("run again", func(t *testing.T) {
		w := blocked(t)
		w.outcomes = []ports.CommandOutcome{wrote("def", `{"tags": ["t"]}`)}
		if _, err := w.perform(context.Background(), perform.Options{}); err != nil || len(w.tries) != 2 {
			t.Errorf("%v, %d tries", err, len(w.tries))
		}
	})
	for answer, tries := range map[string]int{"t2": 1, "": 2} {
		t.Run(fmt.Sprintf("person answers %q", answer), func(t *testing.T) {
			w := newFixture(t, steps(deploySteps[:strings.Index(deploySteps, "\n")+1]))
			w.outcomes = []ports.CommandOutcome{wrote("abc", ""), wrote("def", `{"tags": ["t"]}`)}
			w.answers = []string{answer}
			if _, err := w.perform(context.Background(), perform.Options{}); err != nil || len(w.tries) != tries {
				t.Errorf("%v, %d tries", err, len(w.tries))
			}
		})
	}
}

// TestOutputsOfAFailedCommandAreNotTaken: a value of a failed try must not look like a result.
func TestOutputsOfAFailedCommandAreNotTaken(t *testing.T) {
	w := newFixture(t, steps(deploySteps))
	failed := wrote("abc", `{"tags": ["t"]}`)
	failed.ExitStatus, failed.Stderr = 1, command.Stream{Bytes: 4, Head: "boom"}
	w.outcomes = []ports.CommandOutcome{failed}
	_, err := w.perform(context.Background(), perform.Options{})
	f := fault.Of(err)
	if codeOf(err) != fault.StepFailed || f.Details["result"].(command.Brief).StderrTail != "boom" {
		t.Errorf("%v %v", err, f.Details)
	}
	if a, err := w.g.Rehydrate(context.Background(), w.at); err != nil || a.Context().Len() > 0 || a.Result.StderrTail != "boom" {
		t.Errorf("%s %+v %v", a.Context().JCS(), a.Result, err)
	}
}

// TestEachIterationYieldsItsOwn: the value of an earlier iteration does not count for a later one.
func TestEachIterationYieldsItsOwn(t *testing.T) {
	w := newFixture(t, steps("  - {id: l, title: L, type: loop, loop: {type: forEach, items: all, itemVar: one, indexVar: i, maxIterations: 9}, "+
		"body: [{id: b, title: B, action: {kind: command, argv: [b, \"{{one}}\", \"{{i}}\"]}, outputs: {k: stdout}}]}\n"),
		`{"all": ["x y", {"n": [1]}, "-"]}`)
	w.outcomes = []ports.CommandOutcome{wrote("first", ""), wrote("", "")}
	_, err := w.perform(context.Background(), perform.Options{})
	if codeOf(err) != fault.RunBlocked || w.attempts() != "advanced blocked" {
		t.Fatalf("%v, %s", err, w.attempts())
	}
	if !reflect.DeepEqual(w.tries[1].Argv, []string{"b", `{"n":[1]}`, "1"}) ||
		!strings.Contains(string(w.tries[1].Context), `"loop":{"currentIteration":2,"i":1,"one":{"n":[1]}}`) {
		t.Errorf("%q %s", w.tries[1].Argv, w.tries[1].Context)
	}
	// The last item would become an option: neither asked for nor performed.
	_, err = w.perform(context.Background(), w.set(t, `{"k": "brought"}`))
	if codeOf(err) != fault.RunWaiting || !strings.Contains(err.Error(), `one is a variable of the loop "l"`) || len(w.tries) != 2 {
		t.Errorf("%v, %d tries", err, len(w.tries))
	}
	var f *fault.Fault
	if errors.As(err, &f); strings.Contains(f.Suggestion.String(), "--set one") {
		t.Error(f.Suggestion)
	}
}

// TestRoundsAndTrustHaveTheValuesOfTheRun: the title of a loop is filled, and the question about trust has
// the context of the run with the values of the call.
func TestRoundsAndTrustHaveTheValuesOfTheRun(t *testing.T) {
	w := newFixture(t, steps("  - {id: l, title: \"Deploy {{version}} to {{one}}\", type: loop, loop: {type: forEach, items: all, itemVar: one, maxIterations: 9}, "+
		"body: [{id: b, title: B, action: {kind: command, argv: [b, \"{{one}}\", \"{{more}}\"]}}]}\n"),
		`{"all": ["x"], "version": "2.4"}`)
	w.trusted, w.answers = false, []string{"once"}
	if _, err := w.perform(context.Background(), w.set(t, `{"more": "m"}`)); err != nil {
		t.Fatal(err)
	}
	if got := w.transcript(); !strings.Contains(got, `round 1 of "Deploy 2.4 to x"`) {
		t.Error(got)
	}
	if got := string(w.trustValues.JCS()); got != `{"all":["x"],"more":"m","version":"2.4"}` {
		t.Error(got)
	}
}
