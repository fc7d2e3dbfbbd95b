package perform_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// checkedText has a step with two checks, of which one takes a value.
const checkedText = `{"id":"test.checked","name":"Checked","description":"d","version":"1.0.0","steps":[
 {"id":"verify","title":"Verify","prompt":"p","checks":[
  {"id":"unit","argv":["suite","-v"],"env":{"MODE":"all"},"pins":["suite.txt"],"timeoutSeconds":9,
   "expect":{"tests":{"min":2}}},
  {"id":"named","argv":["greet","{{name}}"]}]},
 {"id":"end","title":"End","prompt":"p"}]}`

// approvedText has a step with a check that a person approves.
const approvedText = `{"id":"test.approved","name":"Approved","description":"d","version":"1.0.0","steps":[
 {"id":"verify","title":"Verify","prompt":"p","requireConfirmation":{"kind":"human_approval"},"checks":[
  {"id":"unit","argv":["suite"]}]}]}`

// report is the outcome of a suite with passed tests.
func report(passed int) ports.CommandOutcome {
	text := "TAP version 13\n"
	for range passed {
		text += "ok\n"
	}
	text += "1.." + string(rune('0'+passed)) + "\n"
	return ports.CommandOutcome{Stdout: command.Stream{Bytes: int64(len(text)), Head: text}, Whole: []byte(text)}
}

// newChecked returns a fixture whose workflow a person trusted with the files that it has now.
func newChecked(t *testing.T, text string, context ...string) *fixture {
	t.Helper()
	return newCheckedOver(t, memstore.NewDisk(id.Seed{9}).Open(time.Second), text, context...)
}

// newCheckedOver is newChecked over a handle.
func newCheckedOver(t *testing.T, s *memstore.Store, text string, context ...string) *fixture {
	t.Helper()
	w := newFixtureOver(t, s, text, context...)
	w.files = map[string]string{"suite.txt": "tests"}
	flow, err := w.g.Workflow(t.Context(), w.hash)
	if err != nil {
		t.Fatal(err)
	}
	if w.fixed, err = w.Fix(t.Context(), flow.Checks()); err != nil {
		t.Fatal(err)
	}
	w.log = nil
	w.place = ports.Place{Root: canon.Sum([]byte("/src")), GitHead: strings.Repeat("0a", 20)}
	return w
}

// results returns the results of checks on record, in the order of the log.
func (w *fixture) results() (out []check.Result) {
	w.Helper()
	for _, e := range w.events() {
		p, ok := e.Data.(event.NodeOutputAppended)
		if !ok || p.Payload.ArtifactKind != check.Kind {
			continue
		}
		v, err := w.g.Engine.Artifact(w.Context(), p.Payload.SHA256)
		if err != nil || e.Actor.Kind != event.Engine {
			w.Fatalf("actor %+v, %v", e.Actor, err)
		}
		r, err := check.Decode(v)
		if err != nil {
			w.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// notes are the options of a call that hands the step in.
func notes() perform.Options { return perform.Options{Notes: new("done")} }

// TestChecksArePerformed: with the environment and the program that were trusted, nothing else, and on
// record as what the performer observed.
func TestChecksArePerformed(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	w.outcomes = []ports.CommandOutcome{report(2)}
	if _, err := w.perform(t.Context(), notes()); err != nil {
		t.Fatal(err)
	}
	if w.attempts() != "advanced advanced" || len(w.tries) != 2 {
		t.Fatalf("%s, %d tries", w.attempts(), len(w.tries))
	}
	unit, named := w.tries[0], w.tries[1]
	if !maps.Equal(unit.Environ, w.fixed.Environ()) || unit.Environ["GOENV"] != "off" || unit.Env["MODE"] != "all" || unit.Env["WAYBILL_STEP_ID"] != "verify" ||
		unit.Program != "/bin/suite" || !unit.Below || unit.TimeoutMs != 9000 || unit.Whole == 0 {
		t.Errorf("%+v", unit)
	}
	if !slices.Equal(named.Argv, []string{"greet", "Ada"}) || named.TimeoutMs != limits.CheckSecondsDefault*1000 || named.Whole != 0 ||
		!strings.Contains(string(named.Context), `"name":"Ada"`) {
		t.Errorf("%+v", named)
	}
	results := w.results()
	if len(results) != 2 {
		t.Fatalf("%+v", results)
	}
	for _, r := range results {
		if r.CheckID == "unit" && (r.Tests == nil || r.Tests.Passed != 2 || r.Pins["suite.txt"] != canon.Sum([]byte("tests"))) ||
			r.CheckID == "named" && r.FilledDigest.IsZero() || r.StepInstanceKey != "verify" ||
			r.Root != w.place.Root || r.GitHead != w.place.GitHead {
			t.Errorf("%+v", r)
		}
	}
}

// TestChangedPins: a check whose pins differ from what was trusted does not run, one that changes them
// does not count, and what was put back counts again.
func TestChangedPins(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	w.files["suite.txt"] = "other tests"
	_, err := w.perform(t.Context(), notes())
	if !fault.Is(err, fault.RunBlocked) || !strings.Contains(err.Error(), `"suite.txt" is not as it was`) || len(w.tries) != 1 {
		t.Fatalf("%v after %d tries", err, len(w.tries))
	}
	w.files["suite.txt"], w.tries = "tests", nil
	w.onTry = func(n int, _ ports.Command) error { w.files["suite.txt"] = "while it runs"; return nil }
	w.outcomes = []ports.CommandOutcome{report(2)}
	if _, err = w.perform(t.Context(), notes()); !fault.Is(err, fault.RunBlocked) || len(w.tries) != 2 {
		t.Fatalf("%v after %d tries", err, len(w.tries))
	}
	w.files["suite.txt"], w.tries, w.outcomes = "tests", nil, []ports.CommandOutcome{report(2)}
	w.onTry = func(n int, _ ports.Command) error {
		w.versions = map[string]string{"suite.txt": "swapped and put back"}
		return nil
	}
	_, err = w.perform(t.Context(), notes())
	if !fault.Is(err, fault.RunBlocked) || !strings.Contains(err.Error(), `"suite.txt" was changed while it ran (check_changed)`) ||
		len(w.tries) != 2 {
		t.Fatalf("%v after %d tries", err, len(w.tries))
	}
	w.onTry, w.files["suite.txt"], w.outcomes = nil, "tests", []ports.CommandOutcome{report(2)}
	if _, err = w.perform(t.Context(), notes()); err != nil {
		t.Fatal(err)
	}
	if w.attempts() != "blocked blocked blocked advanced advanced" {
		t.Error(w.attempts())
	}
}

// TestCheckWithoutValue: a value that is absent is a refusal that names it, the other checks run, and the
// notes are kept.
func TestCheckWithoutValue(t *testing.T) {
	w := newChecked(t, checkedText)
	w.outcomes = []ports.CommandOutcome{report(2)}
	_, err := w.perform(t.Context(), notes())
	if !fault.Is(err, fault.RunBlocked) || !strings.Contains(err.Error(), "{{name}} in argv/1 of the command is not set; give it a value as context, or with --set name=VALUE") || len(w.tries) != 1 {
		t.Fatalf("%v after %d tries", err, len(w.tries))
	}
	w.outcomes = []ports.CommandOutcome{report(2)}
	o := notes()
	o.Context = parse(t, `{"name":"Ada"}`)
	if _, err = w.perform(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// TestChecksAfterApproval: the checks run again at the attempt after an approval, which stays valid.
func TestChecksAfterApproval(t *testing.T) {
	w := newChecked(t, approvedText)
	w.outcomes = []ports.CommandOutcome{{DurationMs: 1}, {DurationMs: 2, ExitStatus: 1}, {DurationMs: 3}}
	w.answers = []string{"my notes", "y", "^D"}
	if _, err := w.perform(t.Context(), perform.Options{}); !fault.Is(err, fault.RunWaiting) {
		t.Fatalf("%v: %s", err, w.transcript())
	}
	w.answers = nil // approved, and no person is present
	if _, err := w.perform(t.Context(), perform.Options{Notes: new("my notes")}); err != nil {
		t.Fatal(err)
	}
	if w.attempts() != "blocked blocked advanced" || len(w.tries) != 3 {
		t.Errorf("%s, %d tries", w.attempts(), len(w.tries))
	}
}

// TestTrustOfChecks: what a person recorded precedes the option, and without either nothing runs.
func TestTrustOfChecks(t *testing.T) {
	for name, row := range map[string]struct {
		trusted bool
		before  bool
		option  bool
		changed bool
		answers []string
		want    fault.Code
		log     string
	}{
		"recorded":                     {trusted: true},
		"recorded, changed":            {trusted: true, changed: true, want: fault.RunBlocked},
		"recorded, changed, option":    {trusted: true, changed: true, option: true, want: fault.RunBlocked},
		"recorded elsewhere, option":   {before: true, option: true, want: fault.WorkflowUntrusted},
		"recorded elsewhere, a person": {before: true, answers: []string{"once"}, log: "fix"},
		"option":                       {option: true, changed: true, log: "fix"},
		"neither":                      {want: fault.WorkflowUntrusted},
		"a person agrees, once":        {answers: []string{"once"}, changed: true, log: "fix"},
		"a person agrees, for all":     {answers: []string{"always"}, changed: true, log: "remember trust"},
		"a person does not":            {answers: []string{"no"}, want: fault.WorkflowUntrusted},
		"a person agrees, and changes": {trusted: true, changed: true, answers: []string{}, want: fault.RunWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			w := newChecked(t, checkedText, `{"name":"Ada"}`)
			w.trustedBefore = row.before
			w.trusted, w.answers, w.outcomes = row.trusted, row.answers, []ports.CommandOutcome{report(2)}
			if row.changed {
				w.files["suite.txt"] = "changed"
			}
			o := notes()
			if row.option {
				o.Trust = w.hash
			}
			if row.answers != nil && row.trusted {
				w.answers = []string{"^D"}
			}
			_, err := w.perform(t.Context(), o)
			if err == nil && row.want != "" || err != nil && !fault.Is(err, row.want) {
				t.Fatalf("%v, want %s: %s", err, row.want, w.transcript())
			}
			if log := w.transcript(); !strings.Contains(log, row.log) || row.want == fault.WorkflowUntrusted && len(w.tries) > 0 {
				t.Errorf("%d tries: %s", len(w.tries), log)
			}
		})
	}
}

// TestCheckOfCommandStep: a failed check of a step that asks the person nothing ends the call.
func TestCheckOfCommandStep(t *testing.T) {
	w := newChecked(t, `{"id":"test.cmd","name":"Command","description":"d","version":"1.0.0","steps":[
	 {"id":"build","title":"Build","action":{"kind":"command","argv":["make"]},"checks":[{"id":"unit","argv":["suite"]}]}]}`)
	w.outcomes, w.answers = []ports.CommandOutcome{{}, {ExitStatus: 1}}, []string{}
	if _, err := w.perform(t.Context(), perform.Options{}); !fault.Is(err, fault.RunBlocked) {
		t.Fatal(err)
	}
	if w.attempts() != "blocked" || len(w.tries) != 2 {
		t.Errorf("%s, %d tries", w.attempts(), len(w.tries))
	}
}

// handIns are the calls of a program that hands steps in.
type handIns struct {
	*fixture
	e *engine.Engine
}

// newHandIns returns the calls over an engine that performs checks.
func newHandIns(w *fixture) handIns {
	return handIns{w, engine.New(w.store).WithChecks(perform.Checker{Performers: w.performer().Performers,
		Open: func() (perform.Commands, error) { return perform.Commands{w, w, io.NopCloser(nil)}, nil },
		Trusted: func(context.Context, canon.Digest) (trust.Fixed, bool, error) {
			return w.fixed, w.trusted, nil
		}})}
}

// send hands the pending step in, with the tokens of an answer.
func (h handIns) send(ctx context.Context, a engine.Answer, artifacts ...advance.Artifact) (engine.Answer, error) {
	return h.e.Continue(ctx, engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 9}, engine.Continue{
		StateToken: a.StateToken, AckToken: a.AckToken, Request: advance.Request{Notes: "done", Artifacts: artifacts}})
}

// TestHandIn: an agent's attempt performs the checks once, and a repeated call is answered from the log.
func TestHandIn(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	h := newHandIns(w)
	first, err := h.e.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	w.outcomes = []ports.CommandOutcome{report(1)}
	refused, err := h.send(t.Context(), first)
	if err != nil || len(refused.Blockers) != 1 || refused.Blockers[0].Check == nil || len(w.tries) != 2 {
		t.Fatalf("%+v, %v, %d tries", refused.Blockers, err, len(w.tries))
	}
	again, err := h.send(t.Context(), first)
	if err != nil || len(again.Blockers) != 1 || len(again.Warnings) != 0 || len(w.tries) != 2 {
		t.Fatalf("repeated: %+v, %+v, %v, %d tries", again.Blockers, again.Warnings, err, len(w.tries))
	}
	w.outcomes = []ports.CommandOutcome{report(3)}
	a, err := h.send(t.Context(), refused)
	if err != nil || a.Pending == nil || a.Pending.StepID != "end" || !strings.Contains(w.transcript(), "hold\nrelease\nhold\nrelease") {
		t.Fatalf("%+v, %v", a.Pending, err)
	}
	if results := w.results(); len(results) != 4 {
		t.Errorf("%d results", len(results))
	}
}

// TestHandInIsRefused: without trust, without the session, with a result of the caller and after the
// caller left, nothing is recorded.
func TestHandInIsRefused(t *testing.T) {
	w := newChecked(t, checkedText, `{"name":"Ada"}`)
	h := newHandIns(w)
	first, err := h.e.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	before := len(w.events())
	w.trusted = false
	if _, err := h.send(t.Context(), first); !fault.Is(err, fault.WorkflowUntrusted) || !strings.Contains(fault.Of(err).Suggestion.String(), "trust") {
		t.Error(err)
	}
	h.e = h.e.WithChecks(nil)
	if _, err := h.send(t.Context(), first); !fault.Is(err, fault.WorkflowUntrusted) {
		t.Error(err)
	}
	h, w.trusted, w.busy = newHandIns(w), true, true
	if _, err := h.send(t.Context(), first); !fault.Is(err, fault.RunBusy) {
		t.Error(err)
	}
	w.busy = false
	made := advance.JSONArtifact(parse(t, `{"kind":"`+check.Kind+`","checkId":"unit"}`))
	if _, err := h.send(t.Context(), first, made); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w.onTry = func(int, ports.Command) error { stop(); return ctx.Err() }
	if _, err := h.send(ctx, first); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := len(w.events()); n != before || len(w.tries) != 1 {
		t.Errorf("%d events before, %d after, %d tries", before, n, len(w.tries))
	}
}
