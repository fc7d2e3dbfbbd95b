package advance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

func TestBeginOrdersEvents(t *testing.T) {
	s := advance.Start{Session: session, Run: run, SourceKind: event.SourceProject, SourceRef: "w.json", Actor: agent,
		AtMs:    5,
		Context: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfInt(1)}),
		Observations: []event.ObservationRecorded{
			{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string", Value: "main"}},
			{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string",
				Value: strings.Repeat("x", 81)}},
			{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string", Value: "main"}},
		}}
	plan, dropped, err := advance.Begin(compiled(t), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"session_created", "run_started", "node_created", "preferences_changed", "context_set",
		"decision_trace_appended", "observation_recorded"}
	if got := kinds(plan); !slices.Equal(got, want) {
		t.Fatalf("got %v\nwant %v", got, want)
	}
	if dropped != 2 {
		t.Errorf("%d observations left out, want the long one and the repeated one", dropped)
	}
	if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
		t.Fatal(err)
	}
	if len(plan.Objects) != 2 || plan.Objects[0].Kind != manifest.Workflow || plan.Objects[0].Ref() != compiled(t).
		Hash() {
		t.Error("the pinned workflow is not that of the run")
	}
	if p := plan.Events[3]; p.Actor.Kind != event.Engine ||
		p.Data.(event.PreferencesChanged).Source != event.FromSystem {
		t.Error("default preferences have the system as source:", p)
	}
	s.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_stop_on_user_deps"}}
	plan, _, err = advance.Begin(compiled(t), s)
	if err != nil {
		t.Fatal(err)
	}
	stored := func(i int) event.PreferencesChanged { return plan.Events[i].Data.(event.PreferencesChanged) }
	inForce := event.Preferences{Autonomy: event.FullAutoStopOnUserDeps, RiskPolicy: event.Conservative}
	if p := stored(3); plan.Events[3].Actor != agent || p.Effective != inForce || p.Source != event.FromUser ||
		len(p.Delta) != 2 || plan.Events[4].Data.Kind() == p.Kind() {
		t.Error("requested preferences have the caller as actor:", p)
	}
	// Defaults of the store have a record of their own.
	s.Defaults = event.Preferences{Autonomy: event.Guided, RiskPolicy: event.Balanced}
	if plan, _, err = advance.Begin(compiled(t), s); err != nil {
		t.Fatal(err)
	}
	inForce.RiskPolicy = event.Balanced
	if p := stored(3); plan.Events[3].Actor.Kind != event.Engine || p.Effective != s.Defaults ||
		p.Source != event.FromSystem || len(p.Delta) != 2 {
		t.Error("the defaults of the store are not recorded:", p)
	}
	if p := stored(4); plan.Events[4].Actor != agent || p.Effective != inForce || p.Source != event.FromUser ||
		len(p.Delta) != 1 {
		t.Error("what was sent is not above the defaults of the store:", p)
	}
}
