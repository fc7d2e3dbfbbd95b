package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/limits"
)

// refusing has a second step that accepts only notes with "done".
const refusing = `{"id":"test.refusing","name":"Refusing","description":"d","version":"1.0.0","steps":[
 {"id":"first","title":"First","prompt":"p"},
 {"id":"hard","title":"Hard","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"say done"}]},
 {"id":"last","title":"Last","prompt":"p"}]}`

// refusals returns the warning of an answer about repeated refusals, nil without one.
func refusals(a engine.Answer) *warning.Warning {
	for i, w := range a.Warnings {
		if w.Code == warning.RefusedRepeatedly {
			return &a.Warnings[i]
		}
	}
	return nil
}

// TestRepeatedRefusals: the tenth refused attempt in a row is the first with the warning; a repeated
// call gets the answer that was recorded, and the count is that of one step.
func TestRepeatedRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(refusing), note("on"))
	var before, tenth engine.Answer
	for i := 1; i <= limits.RefusalsInARow+2; i++ {
		b := w.must(a, note("no"))
		got := refusals(b)
		switch {
		case i < limits.RefusalsInARow && got != nil, i >= limits.RefusalsInARow && (got == nil || got.Count != i):
			t.Fatalf("refusal %d: %+v", i, got)
		case i == limits.RefusalsInARow:
			before, tenth = a, b
		}
		a = b
	}
	run := a.Session.RunID.String()
	for _, want := range []string{"'waybill runs show " + run + "'", "'waybill runs cancel " + run + "'",
		"'waybill fork " + run + " --at node_"} {
		if !strings.Contains(refusals(tenth).Message, want) {
			t.Errorf("no %s in %s", want, refusals(tenth).Message)
		}
	}
	if again := w.must(before, note("no")); text(t, again) != text(t, tenth) {
		t.Errorf("the tenth attempt again:\n%s\n%s", text(t, again), text(t, tenth))
	}
	shown, err := w.process().Continue(context.Background(), w.by(), engine.Continue{StateToken: a.StateToken})
	if got := refusals(shown); err != nil || got == nil || got.Count != limits.RefusalsInARow+2 {
		t.Errorf("a resumed agent: %+v %v", got, err)
	}
	if next := w.must(a, note("done")); next.Pending.StepID != "last" || refusals(next) != nil {
		t.Errorf("after success: %+v", next)
	}
}
