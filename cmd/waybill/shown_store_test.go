package main

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// storeEveryMember adds a session to a store that has one: with each kind of event and a value in each of
// its members, at the first step of the other session's workflow. It returns the events; the second
// one is of the run.
func storeEveryMember(t *testing.T, dir string) []event.Event {
	t.Helper()
	return storeEvents(t, dir, everyMember)
}

// storeEvents adds the session of a plan to a store that has one; the plan gets the digests of the other
// session's workflow and of its first snapshot.
func storeEvents(t *testing.T, dir string, planOf func(hash, snapshot canon.Digest) manifest.Plan) []event.Event {
	t.Helper()
	ctx := context.Background()
	store, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second, AllowNetworkFS: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	all, err := store.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var hash, snapshot canon.Digest
	if _, err := store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(all[0])},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if p, ok := e.Data.(event.NodeCreated); ok && snapshot.IsZero() {
					hash, snapshot = p.WorkflowHash, p.SnapshotRef
				}
			}
			return nil
		})); err != nil {
		t.Fatal(err)
	}
	plan := planOf(hash, snapshot)
	err = ports.WithHealthySession(ctx, store, store, plan.Log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			_, err := store.Append(ctx, w, v.Head, plan)
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Events
}

// everyMember is the plan of the session that storeEveryMember adds.
func everyMember(hash, snapshot canon.Digest) manifest.Plan {
	s, r := id.NewSession(id.Seed{77}), id.NewRun(id.Seed{78})
	plan := manifest.Plan{Log: manifest.SessionEvents(s)}
	root := id.RootNode(r)
	attempt := id.NextAttempt(root, id.OpAck, 0)
	child, o := id.ChildNode(root, attempt, id.OpAck), id.FromAttempt(attempt, id.OpAck)
	checkpoint := id.ChildNode(root, id.NextAttempt(root, id.OpCheckpoint, 0), id.OpCheckpoint)
	atRun, at := event.Scope{RunID: r}, event.Scope{RunID: r, NodeID: root}
	other := id.NewRun(id.Seed{79})
	add := func(scope event.Scope, data event.Payload) event.Event {
		e := event.New(s.String(), int64(len(plan.Events)), scope, event.Actor{Kind: event.Agent, Ref: "ref"},
			1795180649236, data)
		plan.Events = append(plan.Events, e)
		return e
	}
	text := func(key, value string) canon.Value {
		return canon.OfMembers(canon.Member{Name: key, Value: canon.OfString(value)})
	}
	loose := func(name string) []event.DecisionWarning {
		return []event.DecisionWarning{event.LooseMatch("path_"+name, canon.OfString("expected_"+name),
			canon.OfString("got_"+name))}
	}
	add(event.Scope{}, event.SessionCreated{ImportedFrom: &event.ImportedFrom{StoreID: id.NewStore(id.Seed{80}),
		SessionID: id.NewSession(id.Seed{81}), Head: canon.Sum([]byte("from"))}})
	add(atRun, event.RunStarted{WorkflowID: "wr.change_checklist", WorkflowHash: hash, WorkflowSourceKind: event.SourceBundled,
		Signers:           &event.SignersMark{Digest: canon.Sum([]byte("signers")), StoreID: id.NewStore(id.Seed{77})},
		WorkflowSourceRef: "the-ref", ForkedFrom: &event.ForkedFrom{SessionID: id.NewSession(id.Seed{82}), RunID: other,
			NodeID: id.RootNode(other), Head: canon.Sum([]byte("head")), Mode: event.Branch, Sequence: 4343,
			WorkflowHash: canon.Sum([]byte("workflow of the origin"))}, Goal: "the goal", Parent: &other,
		Tags: []string{"a tag"}, Title: "the title", Warnings: loose("start"),
		Options: &event.RunOptions{Configurable: text("limit_key", "a value to configure"),
			Metadata: text("meta_key", "a value of metadata"), RequestDigest: canon.Sum([]byte("request"))}})
	for key, value := range map[string]event.ObservationValue{"git_branch": {Type: "short_string", Value: "the-branch"},
		"git_head_sha": {Type: "git_sha1", Value: "0123456789012345678901234567890123456789"}} {
		add(event.Scope{}, event.ObservationRecorded{Confidence: "med", Key: key, Value: value})
	}
	add(at, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: snapshot, WorkflowHash: hash})
	add(atRun, event.ContextSet{Context: text("context_key", "a value of context"), ContextID: o.Context(0), NodeID: &root,
		Source: event.ContextAgentDelta})
	add(at, event.PreferencesChanged{ChangeID: o.Change(0), Source: event.FromUser,
		Delta:     []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}, {Key: "riskPolicy", Value: "aggressive"}},
		Effective: event.Preferences{Autonomy: event.FullAutoNeverStop, RiskPolicy: "aggressive"}})
	blocked := add(at, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending, RequestDigest: hash,
		Outcome: event.BlockedBy(reason.NewReport([]reason.Blocker{{Code: reason.BlockerMissingOutput,
			Pointer: reason.OutputContract(reason.NotesRef), Message: "a blocker", SuggestedFix: "a fix"},
			{Code: reason.BlockerUserOnly, Pointer: reason.ContextKey("a_key"), Message: "another"}})),
		Response: &event.Response{Action: "accept", By: "a responder", Digest: canon.Sum([]byte("answer"))},
		Warnings: loose("attempt"), Elicited: &event.Elicited{Confirmation: true, Inputs: []string{"an_elicited_key"}},
		Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	add(at, event.GapRecorded{GapID: o.Gap(0), Reason: reason.MissingOutput, Severity: event.Warning, Summary: "a gap",
		Resolution: event.Resolution{Kind: event.Unresolved}, Pointer: new(reason.OutputContract("wr.x")),
		Loop:         reason.LoopFact{LoopID: "a_loop", Iteration: 17, Length: 18, MaxIterations: 19},
		EvidenceRefs: []event.EvidenceRef{{Kind: "event", EventID: &blocked.ID}, {Kind: "output", OutputID: new(o.Output(0))}}})
	add(at, event.GapRecorded{GapID: o.Gap(1), Reason: reason.MissingOutput, Severity: event.Info, Summary: "a resolution",
		Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: new(o.Gap(0))}})
	add(at, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: o.Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "the notes"}})
	for i, bytes := range []string{`{"kind":"test.one"}`, "not JSON"} {
		object := manifest.Object{Kind: manifest.Artifact, Bytes: []byte(bytes)}
		plan.Objects = append(plan.Objects, object)
		p := event.OutputPayload{PayloadKind: event.ArtifactRef, SHA256: object.Ref(), ContentType: "text/x-of-a-test",
			ByteLength: int64(len(bytes)), ArtifactKind: "test.kind"}
		add(at, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: o.Output(i + 1), Payload: p,
			SupersedesOutputID: new(o.Output(i + 7))})
	}
	decided := manifest.Object{Kind: manifest.Artifact, Bytes: []byte(`{"kind":"wr.human_decision"}`)}
	plan.Objects = append(plan.Objects, decided)
	add(at, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: o.Output(5),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, SHA256: decided.Ref(), ContentType: "application/json",
			ByteLength: int64(len(decided.Bytes)), ArtifactKind: event.DecisionKind},
		Decision: &event.StepDecision{By: "a decider", Decision: event.SentBack, Reason: "a reason to change it",
			ShownDigest: canon.Sum([]byte("shown"))}})
	zero := int64(0)
	trace := event.NewTrace(o.Trace(0), []event.TraceEntry{{Kind: event.SelectedNextStep, Summary: "a decision",
		Refs: []event.TraceRef{event.StepRef("step_ref"), event.LoopRef("loop_ref"), event.ConditionRef("condition_ref"),
			{Kind: "iteration", Value: &zero}}}})
	add(at, trace)
	for i, p := range []event.Provenance{
		{Kind: "probe_step", EnforcementGrade: "strong", Detail: event.ProvenanceDetail{Result: "success",
			ProbeTemplateID: "wr.templates.capability_probe", ProbeStepID: "wr_probe_delegation"}},
		{Kind: "attempted_use", EnforcementGrade: "strong", Detail: event.ProvenanceDetail{AttemptContext: "workflow_step",
			Result: "failure", FailureCode: "tool_error"}},
		{Kind: "manual_claim", EnforcementGrade: "weak", Detail: event.ProvenanceDetail{Claim: "available", ClaimedBy: "user"}}} {
		add(at, event.CapabilityObserved{CapObsID: o.CapObs(i), Capability: []string{"delegation", "web_browsing"}[i%2],
			Status: "unavailable", Provenance: p})
	}
	add(at, event.DivergenceRecorded{DivergenceID: o.Divergence(0), Reason: "safety_stop", RelatedStepID: "another_step",
		Summary: "a divergence"})
	add(at, event.DivergenceRecorded{DivergenceID: o.Divergence(1), Reason: event.ReplayDiverged, Summary: "a departure",
		Replay: &event.ReplayPoint{Kind: event.DiffersInOutput, OriginalEventID: "the-original", Sequence: 4242}})
	add(event.Scope{RunID: r, NodeID: checkpoint}, event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &root,
		SnapshotRef: snapshot, WorkflowHash: hash})
	add(atRun, event.EdgeCreated{EdgeKind: event.CheckpointEdge, FromNodeID: root, ToNodeID: checkpoint,
		Cause: event.Cause{Kind: event.CheckpointCreated, EventID: blocked.ID}})
	add(at, event.GuardNoted{Chat: canon.Sum([]byte("chat")), Client: "a-client", Refusals: 1,
		Verdict: event.GuardRefused})
	add(at, event.RunEventRecorded{CausationID: "a-cause", NodeID: "a-node", Number: 40, Type: "provider.usage",
		Payload: canon.OfMembers(canon.Member{Name: "model", Value: canon.OfString("a-model")})})
	second := id.NextAttempt(root, id.OpAck, 1)
	add(at, event.AdvanceRecorded{Account: "uid:4711", AttemptID: second, Intent: event.IntentAckPending, Outcome: event.AdvancedTo(child)})
	add(event.Scope{RunID: r, NodeID: child}, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root,
		SnapshotRef: snapshot, WorkflowHash: hash})
	add(atRun, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: root, ToNodeID: child,
		Cause: event.Cause{Kind: event.IntentionalFork, EventID: blocked.ID}})
	add(event.Scope{}, event.SessionHandedOver{FromStoreID: id.NewStore(id.Seed{81}), N: 7, To: "a laptop"})
	add(event.Scope{}, event.SessionReclaimed{N: 7})
	add(atRun, event.RunPaused{Drain: true, N: 8, Reason: "a pause"})
	add(atRun, event.RunResumed{N: 8, Reason: "the end of it"})
	add(atRun, event.RunCancelRequested{Reason: "a request", Outcome: event.OutcomeFailed})
	add(atRun, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "the end",
		Limit: &event.LimitReached{Kind: event.StepsLimit, Limit: 41, Observed: 42}})
	return plan
}
