package runs_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/runs"
)

// changes lists, for each kind, the members of the saved fold that an event of it changes. A kind
// that is missing here is reported by the test.
var changes = map[string]string{
	"session_created":         "",
	"observation_recorded":    "observations",
	"run_started":             "order runs",
	"node_created":            "nodes order tip",
	"edge_created":            "ackedChildren",
	"advance_recorded":        "accepted attempts",
	"context_set":             "context",
	"preferences_changed":     "preferences",
	"node_output_appended":    "outputs",
	"gap_recorded":            "openGaps",
	"decision_trace_appended": "", // explains a decision, no state
	"capability_observed":     "capabilities",
	"divergence_recorded":     "", // shown only, no state
	"guard_noted":             "guarded",
	"run_event_recorded":      "", // for clients of the protocol
	"run_cancel_requested":    "cancelRequested",
	"run_closed":              "closed",
	"session_handed_over":     "handOvers handedOver",
	"session_taken_back":      "",
	"run_paused":              "pause pauses",
	"run_resumed":             "",
}

// One event of each kind, in a valid scope, must change exactly the listed members of the fold.
func TestEachKindChangesOnlyItsMembers(t *testing.T) {
	for _, kind := range event.Domain.Kinds() {
		d := newDriver(t, gated)
		root := d.r().Root
		origin := id.FromAttempt(id.NextAttempt(root, id.OpAck, 7), id.OpAck)
		other := id.ChildNode(root, id.NextAttempt(root, id.OpAck, 7), id.OpAck)
		at, run := event.Scope{RunID: d.run, NodeID: root}, event.Scope{RunID: d.run}
		ref := d.r().Node(root).SnapshotRef
		payloads := map[string]struct {
			scope event.Scope
			data  event.Payload
		}{
			"session_created": {event.Scope{}, event.SessionCreated{}},
			"observation_recorded": {event.Scope{}, event.ObservationRecorded{Key: "git_branch", Confidence: "high",
				Value: event.ObservationValue{Type: "short_string", Value: "main"}}},
			"run_started": {event.Scope{RunID: id.NewRun(id.Seed{8})}, d.r().Started},
			"node_created": {event.Scope{RunID: d.run, NodeID: other},
				event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: ref,
					WorkflowHash: d.w.Hash()}},
			"edge_created": {run, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: root,
				ToNodeID: other, Cause: event.Cause{Kind: event.IntentionalFork, EventID: d.events[0].ID}}},
			"advance_recorded": {at, event.AdvanceRecorded{AttemptID: id.NextAttempt(root, id.OpAck, 0),
				Intent: event.IntentAckPending, Outcome: event.AdvancedTo(other), RequestDigest: ref}},
			"context_set": {run, event.ContextSet{Context: context("a", "b"), ContextID: origin.Context(0),
				NodeID: &root, Source: event.ContextAgentDelta}},
			"preferences_changed": {at, event.PreferencesChanged{ChangeID: origin.Change(0), Source: event.FromUser,
				Delta:     []event.PreferenceChange{{Key: "riskPolicy", Value: "balanced"}},
				Effective: event.Preferences{Autonomy: event.Guided, RiskPolicy: event.Balanced}}},
			"node_output_appended": {at, event.NodeOutputAppended{OutputChannel: event.Recap,
				OutputID: origin.Output(0), Payload: event.OutputPayload{PayloadKind: event.Notes,
					NotesMarkdown: "n"}}},
			"gap_recorded": {at, event.GapRecorded{GapID: origin.Gap(0), Reason: reason.MissingOutput,
				Severity: event.Critical, Summary: "s", Resolution: event.Resolution{Kind: event.Unresolved}}},
			"decision_trace_appended": {at,
				event.NewTrace(origin.Trace(0), []event.TraceEntry{{Kind: event.SelectedNextStep, Summary: "s"}})},
			"capability_observed": {at, event.CapabilityObserved{CapObsID: origin.CapObs(0), Capability: "delegation",
				Status: "available", Provenance: event.Provenance{Kind: "attempted_use",
					EnforcementGrade: "strong", Detail: event.ProvenanceDetail{AttemptContext: "workflow_step",
						Result: "success"}}}},
			"divergence_recorded": {at, event.DivergenceRecorded{DivergenceID: origin.Divergence(0),
				Reason: "safety_stop", Summary: "s"}},
			"guard_noted": {at, event.GuardNoted{Chat: ref, Client: "codex", Refusals: 1,
				Verdict: event.GuardRefused}},
			"run_event_recorded":   {at, event.RunEventRecorded{Number: 1, Type: "provider.usage", Payload: canon.OfMembers()}},
			"session_handed_over":  {event.Scope{}, event.SessionHandedOver{FromStoreID: id.NewStore(id.Seed{1}), N: 1}},
			"session_taken_back":   {event.Scope{}, event.SessionReclaimed{N: 1}},
			"run_paused":           {run, event.RunPaused{N: 1, Reason: "r"}},
			"run_resumed":          {run, event.RunResumed{N: 1}},
			"run_cancel_requested": {run, event.RunCancelRequested{Reason: "r"}},
			"run_closed":           {run, event.RunClosed{Outcome: event.OutcomeCancelled, Reason: "r"}},
		}
		p, known := payloads[kind]
		want, listed := changes[kind]
		if !known || !listed {
			t.Errorf("%s is not covered by this test", kind)
			continue
		}
		if n := payloads["node_created"]; kind == "edge_created" { // it leads somewhere
			d.fold.Apply(event.New(d.fold.ID, d.fold.Next, n.scope, event.Actor{Kind: event.Engine}, 0, n.data))
		}
		before := members(t, d.fold)
		e := event.New(d.fold.ID, d.fold.Next, p.scope, event.Actor{Kind: event.Engine}, 0, p.data)
		if err := e.Check(event.Domain); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		d.fold.Apply(e)
		if got := differing(before, members(t, d.fold)); got != want {
			t.Errorf("%s changes %q, want %q", kind, got, want)
		}
	}
}

// members returns the parts of a fold that are compared: of the session, its run and the run's
// root. The position in the log is left out.
func members(t *testing.T, s *runs.Session) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(what any, names ...string) {
		data, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			out[name] += string(all[name])
		}
	}
	add(s, "observations", "order", "handedOver", "handOvers")
	run := s.Runs[s.Order[0]]
	out["runs"] = strings.Join(runsOf(s), " ")
	out["nodes"] = strings.Join(nodesOf(run), " ")
	add(run, "order", "tip", "cancelRequested", "closed", "pause", "pauses", "accepted")
	add(run.Node(run.Root), "ackedChildren", "attempts", "context", "preferences", "outputs", "openGaps",
		"capabilities", "checkpoints", "guarded")
	return out
}

func runsOf(s *runs.Session) (out []string) {
	for r := range s.Runs {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return out
}

func nodesOf(r *runs.Run) (out []string) {
	for n := range r.Nodes {
		out = append(out, n.String())
	}
	slices.Sort(out)
	return out
}

func differing(a, b map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if a[name] != b[name] {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}
