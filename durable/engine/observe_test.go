package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// on is a caller whose workspace has a branch and a commit checked out.
func (w *fixture) on(branch, head string) engine.Caller {
	by := w.by()
	by.Observe = func() []event.ObservationRecorded {
		return append(anchors(branch, head), event.ObservationRecorded{Key: "repo_root_hash", Confidence: "high",
			Value: event.ObservationValue{Type: "sha256", Value: "sha256:" + strings.Repeat("e", 64)}})
	}
	return by
}

// advanceOn makes an attempt at the pending step of an answer.
func (w *fixture) advanceOn(a engine.Answer, notes, branch, head string) engine.Answer {
	w.Helper()
	a, err := w.g.Continue(context.Background(), w.on(branch, head), engine.Continue{StateToken: a.StateToken,
		AckToken: a.AckToken, Request: note(notes)})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// observed lists the observations of the last segment of a run, which are its last events.
func (w *fixture) observed(a engine.Answer) (out []string) {
	w.Helper()
	h := w.process().Reader.NewHistory(a.Session.SessionID)
	if v, err := h.Read(context.Background()); err != nil || v.Health != manifest.Healthy {
		w.Fatalf("%v, %+v", err, v)
	}
	for _, e := range slices.Backward(h.Fold.LastSegment()) {
		o, ok := e.Data.(event.ObservationRecorded)
		if !ok {
			return out
		}
		if e.Actor.Kind != event.Engine || e.Scope != (event.Scope{}) {
			w.Errorf("recorded by %v about %v", e.Actor, e.Scope)
		}
		out = append(out, o.Key+" "+o.Value.Value[:min(7, len(o.Value.Value))])
	}
	return out
}

// TestAttemptsObserveTheWorkspace: each attempt records the branch and the commit that the log does not have, in its own
// segment; the runs of all branches of the run are found by them.
func TestAttemptsObserveTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.startAt(longOne, "main", "a")
	for _, row := range []struct{ branch, head, want string }{
		{"main", "a", "[]"},
		{"main", "b", "[git_head_sha bbbbbbb]"},
		{"feature", "b", "[git_branch feature]"},
		{"fix", "c", "[git_head_sha ccccccc git_branch fix]"},
		{"main", "a", "[]"}, // recorded once for each session
	} {
		a = w.advanceOn(a, "x", row.branch, row.head)
		if got := fmt.Sprint(w.observed(a)); got != row.want || len(a.Warnings) != 0 {
			t.Errorf("on %s %s: recorded %s, want %s; %v", row.branch, row.head, got, row.want, a.Warnings)
		}
	}
	for branch, want := range map[string]int{"main": 1, "feature": 1, "fix": 1, "other": 0} {
		page, err := lists.SelectRuns(context.Background(), w.g.Lists, lists.Selection{Branch: branch})
		if err != nil || len(page.Runs) != want || want > 0 && page.Runs[0].Branch != "fix" {
			t.Errorf("on %s: %v, %+v", branch, err, page.Runs)
		}
	}
	w.reDriven(a)
}

// TestARefusedAttemptObservesTheWorkspace: it was made there too.
func TestARefusedAttemptObservesTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.advanceOn(w.startAt(twoSteps, "main", "a"), "not yet", "main", "b")
	if got := fmt.Sprint(w.observed(a)); a.Kind() != "blocked" || got != "[git_head_sha bbbbbbb]" {
		t.Errorf("%s: recorded %s", a.Kind(), got)
	}
	w.reDriven(a)
}

// TestAnObservationOverItsBudgetIsLeftOut: the attempt is accepted, and says so each time that it is answered.
func TestAnObservationOverItsBudgetIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	long := strings.Repeat("b", limits.ShortStringMax+1)
	first := w.advanceOn(a, "done", long, "a")
	if got := fmt.Sprint(w.observed(first)); got != "[git_head_sha aaaaaaa]" || first.Pending.StepID != "second" {
		t.Errorf("recorded %s, at %s", got, first.Pending.StepID)
	}
	if len(first.Warnings) != 1 || first.Warnings[0].Code != "OBSERVATIONS_DROPPED" {
		t.Errorf("warned of %v", first.Warnings)
	}
	if again := w.advanceOn(a, "done", long, "a"); text(t, again) != text(t, first) {
		t.Errorf("answered again with %s", text(t, again))
	}
	w.reDriven(first)
}

// TestObservationsOfASessionAreBounded: the fold holds all of them.
func TestObservationsOfASessionAreBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.startAt(twoSteps, "main", "a")
	for i := range limits.ObservedValuesMax + 5 {
		a = w.advanceOn(a, "not yet", fmt.Sprint("b", i), "a")
	}
	h := w.process().Reader.NewHistory(a.Session.SessionID)
	if _, err := h.ReadSaved(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := h.Fold.Observed("git_branch")
	if len(got) != limits.ObservedValuesMax || got[0] != "main" || got[len(got)-1] != fmt.Sprint("b", limits.ObservedValuesMax-2) {
		t.Errorf("%d branches, %v", len(got), got)
	}
}

// reDriven fails unless the recorded inputs of a run give the same log again.
func (w *fixture) reDriven(a engine.Answer) {
	w.Helper()
	r, err := w.process().Replay(context.Background(), a.Position())
	if err != nil || !r.OK {
		w.Errorf("decided again: %v, %+v, %+v", err, r, r.Difference)
	}
}
