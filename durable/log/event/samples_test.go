package event_test

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

var (
	session  = id.NewSession(id.Seed{1})
	run      = id.NewRun(id.Seed{2})
	root     = id.RootNode(run)
	attempt  = id.NextAttempt(root, id.OpAck, 0)
	child    = id.ChildNode(root, attempt, id.OpAck)
	origin   = id.FromAttempt(attempt, id.OpAck)
	anEvent  = id.EventOf(session.String(), "x")
	aDigest  = canon.Sum([]byte("a"))
	agent    = event.Actor{Kind: event.Agent, Ref: "reviewer"}
	atRun    = event.Scope{RunID: run}
	atRoot   = event.Scope{RunID: run, NodeID: root}
	atChild  = event.Scope{RunID: run, NodeID: child}
	noScope  = event.Scope{}
	whenever = int64(1795180649236)
)

func ptr[T any](v T) *T { return &v }

func open(summary string) event.GapRecorded {
	return event.GapRecorded{GapID: origin.Gap(0), Reason: reason.MissingOutput, Severity: event.Critical,
		Resolution: event.Resolution{Kind: event.Unresolved}, Summary: summary}
}

func notes(text string) event.NodeOutputAppended {
	return event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: text}}
}

func artifact(bytes int64) event.NodeOutputAppended {
	return event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(1),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, SHA256: aDigest, ContentType: "application/json",
			ByteLength: bytes}}
}

func observed(key, kind, value string) event.ObservationRecorded {
	return event.ObservationRecorded{Key: key, Confidence: "high",
		Value: event.ObservationValue{Type: kind, Value: value}}
}

func probed(p event.Provenance) event.CapabilityObserved {
	return event.CapabilityObserved{CapObsID: origin.CapObs(0), Capability: "delegation", Status: "available",
		Provenance: p}
}

var probe = event.Provenance{Kind: "probe_step", EnforcementGrade: "strong",
	Detail: event.ProvenanceDetail{ProbeTemplateID: "wr.templates.capability_probe", ProbeStepID: "wr_probe_delegation",
		Result: "success"}}

var blockers = reason.NewReport([]reason.Blocker{
	{Code: reason.BlockerMissingOutput, Pointer: reason.OutputContract(reason.NotesRef), Message: "no notes",
		SuggestedFix: "send notes"},
	{Code: reason.BlockerUserOnly, Pointer: reason.ContextKey("ticketId"), Message: "no ticket"},
})

// samples has at least one payload of every kind, with every optional member in one of them. A file
// name is the kind, with a suffix for further samples.
var samples = []struct {
	file  string
	scope event.Scope
	data  event.Payload
}{
	{"session_created", noScope, event.SessionCreated{}},
	{"session_created.imported", noScope, event.SessionCreated{ImportedFrom: &event.ImportedFrom{
		StoreID: id.NewStore(id.Seed{3}), SessionID: session, Head: aDigest}}},
	{"run_started", atRun, event.RunStarted{WorkflowID: "project.triage", WorkflowHash: aDigest,
		WorkflowSourceKind: event.SourceProject, WorkflowSourceRef: ".waybill/workflows/triage.json"}},
	{"run_started.forked", atRun, event.RunStarted{WorkflowID: "wr.x", WorkflowHash: aDigest,
		WorkflowSourceKind: event.SourceBundled,
		ForkedFrom:         &event.ForkedFrom{SessionID: session, RunID: run, NodeID: child, Head: aDigest},
		Parent:             &run, Tags: []string{"a", "ü"}, Title: "“Triage” <&> \u2028"}},
	{"node_created", atRoot, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: aDigest, WorkflowHash: aDigest}},
	{"node_created.child", atChild, event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &root,
		SnapshotRef: aDigest, WorkflowHash: aDigest}},
	{"edge_created", atRun, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: root, ToNodeID: child,
		Cause: event.Cause{Kind: event.IntentionalFork, EventID: anEvent}}},
	{"advance_recorded", atRoot, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(child), RequestDigest: aDigest}},
	{"advance_recorded.blocked", atRoot, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.BlockedBy(blockers)}},
	{"context_set", atRun, event.ContextSet{ContextID: origin.Context(0), Source: event.ContextAgentDelta,
		NodeID:  &child,
		Context: canon.OfMembers(canon.Member{Name: "gone"}, canon.Member{Name: "n", Value: canon.OfFloat(1e20)})}},
	{"preferences_changed", atRoot, event.PreferencesChanged{ChangeID: origin.Change(0), Source: event.FromUser,
		Delta:     []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}},
		Effective: event.Preferences{Autonomy: event.FullAutoNeverStop, RiskPolicy: event.Conservative}}},
	{"node_output_appended", atRoot, notes("Done.\n\nNext: \"probe\" \\ \x00\x1f")},
	{"node_output_appended.artifact", atRoot, event.NodeOutputAppended{OutputChannel: event.Artifact,
		OutputID: origin.Output(1),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, SHA256: aDigest, ContentType: "application/json",
			ByteLength:   1,
			ArtifactKind: "wr.loop_control"}, SupersedesOutputID: ptr(origin.Output(9))}},
	{"gap_recorded", atRoot, event.GapRecorded{GapID: origin.Gap(0), Reason: reason.MissingOutput,
		Severity: event.Critical, Summary: "s",
		Resolution: event.Resolution{Kind: event.Unresolved}, Pointer: ptr(reason.OutputContract("wr.x")),
		EvidenceRefs: []event.EvidenceRef{{Kind: "event", EventID: &anEvent},
			{Kind: "output", OutputID: ptr(origin.Output(0))}}}},
	{"gap_recorded.resolving", atRoot, event.GapRecorded{GapID: origin.Gap(1), Reason: reason.MissingOutput,
		Severity: event.Info, Summary: "s",
		Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: ptr(origin.Gap(0))}}},
	{"decision_trace_appended", atRoot, event.DecisionTraceAppended{TraceID: origin.Trace(0),
		Entries: []event.TraceEntry{
			{Kind: event.SelectedNextStep, Summary: "why",
				Refs: []event.TraceRef{event.StepRef("a"), event.LoopRef("l"),
					event.ConditionRef("c"), event.IterationRef(0)}},
			{Kind: event.ExitedLoop, Summary: "done"}}}},
	{"capability_observed", atRoot, probed(probe)},
	{"divergence_recorded", atRoot, event.DivergenceRecorded{DivergenceID: origin.Divergence(0), Reason: "safety_stop",
		RelatedStepID: "a", Summary: "s"}},
	{"observation_recorded", noScope, observed("git_branch", "short_string", "main")},
	{"observation_recorded.at_node", atRoot, observed("repo_root_hash", "sha256", aDigest.String())},
	{"run_cancel_requested", atRun, event.RunCancelRequested{Reason: "not needed"}},
	{"run_closed", atRun, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "the build is broken"}},
	{"run_cancel_requested.failed", atRun, event.RunCancelRequested{Outcome: event.OutcomeFailed,
		Reason: "the build is broken"}},
	{"run_started.options", atRun, event.RunStarted{WorkflowID: "wr.x", WorkflowHash: aDigest,
		WorkflowSourceKind: event.SourceBundled,
		Options: &event.RunOptions{Configurable: canon.OfMembers(canon.Member{Name: "temperature", Value: canon.OfFloat(0.5)}),
			Metadata: canon.OfMembers(canon.Member{Name: "team", Value: canon.OfString("a")}), RequestDigest: aDigest}}},
	{"guard_noted", atRoot, event.GuardNoted{Chat: aDigest, Client: "codex", Refusals: 1, Verdict: event.GuardRefused}},
	{"guard_noted.let_go", atRoot, event.GuardNoted{Chat: aDigest, Client: "codex", Refusals: 2,
		Verdict: event.GuardLetGo}},
	{"session_handed_over", noScope, event.SessionHandedOver{FromStoreID: id.NewStore(id.Seed{1}), N: 1, To: "desk"}},
	{"session_handed_over.unnamed", noScope, event.SessionHandedOver{FromStoreID: id.NewStore(id.Seed{1}), N: 2}},
	{"session_taken_back", noScope, event.SessionReclaimed{N: 1}},
	{"gap_recorded.loop", atRoot, event.GapRecorded{GapID: origin.Gap(2), Reason: reason.InvariantBroken,
		Loop: reason.LoopFact{LoopID: "l", Iteration: 2, MaxIterations: 2}, Severity: event.Critical, Summary: "s",
		Resolution: event.Resolution{Kind: event.Unresolved}, Pointer: ptr(reason.WorkflowStep("l"))}},
	{"advance_recorded.elicited", atRoot, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(child), Elicited: &event.Elicited{Confirmation: true, Inputs: []string{"a", "b"}},
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}},
	{"run_event_recorded", atRoot, event.RunEventRecorded{Number: 31, Type: "provider.usage", Payload: canon.OfMembers(
		canon.Member{Name: "inputTokens", Value: canon.OfInt(5)}, canon.Member{Name: "model", Value: canon.OfString("m")},
		canon.Member{Name: "outputTokens", Value: canon.OfInt(4)}, canon.Member{Name: "provider", Value: canon.OfString("mock")})}},
	{"run_event_recorded.sent", atRoot, event.RunEventRecorded{CausationID: "c-1", NodeID: "writer", Number: 32, Type: "envelope.refusal",
		Payload: canon.OfMembers(canon.Member{Name: "model", Value: canon.OfString("m")},
			canon.Member{Name: "nodeId", Value: canon.OfString("writer")}, canon.Member{Name: "provider", Value: canon.OfString("p")})}},
	{"run_paused", atRun, event.RunPaused{N: 1, Reason: "maintenance"}},
	{"run_paused.drain", atRun, event.RunPaused{Drain: true, N: 2, Reason: "maintenance"}},
	{"run_resumed", atRun, event.RunResumed{N: 1}},
	{"run_resumed.reason", atRun, event.RunResumed{N: 2, Reason: "it is over"}},
	{"run_closed.limit", atRun, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "the limit",
		Limit: &event.LimitReached{Kind: event.StepsLimit, Limit: 3, Observed: 4}}},
	{"advance_recorded.response", atRoot, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(child), Response: &event.Response{Action: "accept", By: "ada", Digest: canon.Sum(nil)}}},
}
