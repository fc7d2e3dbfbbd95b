package event_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// refusal is one payload and the error of Check; "" for a payload that may be written.
type refusal struct {
	name string
	data event.Payload
	want string
}

// with returns p after change.
func with[P any](p P, change func(*P)) P {
	change(&p)
	return p
}

func text(n int) string { return strings.Repeat("x", n) }

func checkAll(t *testing.T, s event.Scope, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		got := ""
		if err := tt.data.Check(s); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s:\n got %q\nwant %q", tt.data.Kind(), tt.name, got, tt.want)
		}
	}
}

func TestChecksOfRunEvents(t *testing.T) {
	started := event.RunStarted{WorkflowID: "w", WorkflowHash: aDigest, WorkflowSourceKind: event.SourceUser}
	change := func(f func(*event.RunStarted)) event.RunStarted { return with(started, f) }
	tags := func(n int) []string { return strings.Split(strings.Repeat("t ", n-1)+"t", " ") }
	options := func(more int) *event.RunOptions {
		of := func(bytes int) canon.Value { // {"k":"…"} has 8 bytes around the text
			return canon.OfMembers(canon.Member{Name: "k", Value: canon.OfString(text(bytes - 8))})
		}
		return &event.RunOptions{Configurable: of(1 << 15), Metadata: of(1<<15 + more)}
	}
	checkAll(t, atRun, []refusal{
		{"without workflow", change(func(r *event.RunStarted) { r.WorkflowID = "" }), "workflowId is empty"},
		{"of unknown source", change(func(r *event.RunStarted) { r.WorkflowSourceKind = "web" }),
			`unknown workflowSourceKind "web"`},
		{"with a ref of 512 bytes", change(func(r *event.RunStarted) { r.WorkflowSourceRef = text(512) }), ""},
		{"with a ref of 513 bytes", change(func(r *event.RunStarted) { r.WorkflowSourceRef = text(513) }),
			"workflowSourceRef of 513 bytes: want at most 512"},
		{"with a title of 256 bytes", change(func(r *event.RunStarted) { r.Title = text(256) }), ""},
		{"with a title of 257 bytes", change(func(r *event.RunStarted) { r.Title = text(257) }),
			"title of 257 bytes: want at most 256"},
		{"with 100 tags", change(func(r *event.RunStarted) { r.Tags = tags(100) }), ""},
		{"with 101 tags", change(func(r *event.RunStarted) { r.Tags = tags(101) }), "101 tags: want at most 100"},
		{"with a tag of 1024 bytes", change(func(r *event.RunStarted) { r.Tags = []string{text(1024)} }), ""},
		{"with a tag of 1025 bytes", change(func(r *event.RunStarted) { r.Tags = []string{text(1025)} }),
			"tag of 1025 bytes: want 1 to 1024"},
		{"with an empty tag", change(func(r *event.RunStarted) { r.Tags = []string{""} }),
			"tag of 0 bytes: want 1 to 1024"},
		{"with empty options", change(func(r *event.RunStarted) { r.Options = &event.RunOptions{} }), "options are empty"},
		{"with an option that is no object", change(func(r *event.RunStarted) {
			r.Options = &event.RunOptions{Metadata: canon.OfList()}
		}), "an option is no object"},
		{"with options of 64 KiB", change(func(r *event.RunStarted) { r.Options = options(0) }), ""},
		{"with options of one byte more", change(func(r *event.RunStarted) { r.Options = options(1) }),
			"options of 65537 bytes: want at most 65536"},
		{"without reason", event.RunCancelRequested{}, "reason of 0 bytes: want 1 to 512"},
		{"with the default outcome",
			event.RunCancelRequested{Reason: "r", Outcome: event.OutcomeCancelled},
			`outcome "cancelled": want "failed" or none`},
		{"with a reason of 512 bytes", event.RunCancelRequested{Reason: text(512)}, ""},
		{"with a reason of 513 bytes", event.RunCancelRequested{Reason: text(513)},
			"reason of 513 bytes: want 1 to 512"},
		{"cancelled", event.RunClosed{Outcome: event.OutcomeCancelled, Reason: "r"}, ""},
		{"of unknown outcome", event.RunClosed{Outcome: "complete", Reason: "r"}, `unknown outcome "complete"`},
		{"without reason", event.RunClosed{Outcome: event.OutcomeFailed}, "reason of 0 bytes: want 1 to 512"},
		{"at a limit", limited(event.OutcomeFailed, event.StepsLimit, 3, 4), ""},
		{"cancelled at a limit", limited(event.OutcomeCancelled, event.StepsLimit, 3, 4), "a run that reached a limit is not failed"},
		{"at an unknown limit", limited(event.OutcomeFailed, "steps", 3, 4), "the kind of the limit is not known"},
		{"below its limit", limited(event.OutcomeFailed, event.StepsLimit, 3, 3), "the limit is not reached"},
		{"without a limit", limited(event.OutcomeFailed, event.StepsLimit, 0, 4), "the limit is not reached"},
		{"paused", event.RunPaused{N: 1, Reason: "r"}, ""},
		{"paused without number", event.RunPaused{Reason: "r"}, "n is not positive"},
		{"paused without reason", event.RunPaused{N: 1}, "reason of 0 bytes: want 1 to 512"},
		{"resumed", event.RunResumed{N: 1}, ""},
		{"resumed without number", event.RunResumed{}, "n is not positive"},
		{"resumed with a long reason", event.RunResumed{N: 1, Reason: text(513)}, "reason of 513 bytes: want at most 512"},
	})
}

func TestChecksOfGuardNotes(t *testing.T) {
	note := event.GuardNoted{Chat: aDigest, Client: "codex", Refusals: 1, Verdict: event.GuardRefused}
	change := func(f func(*event.GuardNoted)) event.GuardNoted { return with(note, f) }
	const badName = "client: want 1 to 32 of a-z 0-9 _ -"
	checkAll(t, atRoot, []refusal{
		{"of a refusal", note, ""},
		{"of a turn that was let go", change(func(g *event.GuardNoted) { g.Verdict = event.GuardLetGo }), ""},
		{"of unknown verdict", change(func(g *event.GuardNoted) { g.Verdict = "held" }), `unknown verdict "held"`},
		{"without verdict", change(func(g *event.GuardNoted) { g.Verdict = "" }), `unknown verdict ""`},
		{"without chat", change(func(g *event.GuardNoted) { g.Chat = canon.Digest{} }), "chat is absent"},
		{"of a client of a later version", change(func(g *event.GuardNoted) { g.Client = text(32) }), ""},
		{"without client", change(func(g *event.GuardNoted) { g.Client = "" }), badName},
		{"of a client with a long name", change(func(g *event.GuardNoted) { g.Client = text(33) }), badName},
		{"of a client in capitals", change(func(g *event.GuardNoted) { g.Client = "Codex" }), badName},
		{"without refusals", change(func(g *event.GuardNoted) { g.Refusals = 0 }), "0 refusals: want 1 to 99"},
		{"with 99 refusals", change(func(g *event.GuardNoted) { g.Refusals = 99 }), ""},
		{"with 100 refusals", change(func(g *event.GuardNoted) { g.Refusals = 100 }), "100 refusals: want 1 to 99"},
	})
}

func TestChecksOfRecordedRunEvents(t *testing.T) {
	empty := canon.OfMembers()
	note := event.RunEventRecorded{Number: 1, Type: "provider.usage", Payload: empty}
	change := func(f func(*event.RunEventRecorded)) event.RunEventRecorded { return with(note, f) }
	const badType = "type: want two or more segments"
	checkAll(t, atRoot, []refusal{
		{"of a type", note, ""},
		{"of a vendor", change(func(r *event.RunEventRecorded) { r.Type = "waybill.completion" }), ""},
		{"without type", change(func(r *event.RunEventRecorded) { r.Type = "" }), badType},
		{"of one word", change(func(r *event.RunEventRecorded) { r.Type = "usage" }), badType},
		{"of a long type", change(func(r *event.RunEventRecorded) { r.Type = "a." + text(127) }), badType},
		{"without payload", change(func(r *event.RunEventRecorded) { r.Payload = canon.Value{} }), "payload: want an object"},
		{"with a list", change(func(r *event.RunEventRecorded) { r.Payload = canon.OfList() }), "payload: want an object"},
		{"with a large payload", change(func(r *event.RunEventRecorded) {
			r.Payload = empty.With("a", canon.OfString(text(64<<10)))
		}), "payload of 65544 bytes: want 2 to 65536"},
		{"of a long node", change(func(r *event.RunEventRecorded) { r.NodeID = text(129) }), "nodeId of 129 bytes: want at most 128"},
		{"of a long cause", change(func(r *event.RunEventRecorded) { r.CausationID = text(129) }), "causationId of 129 bytes: want at most 128"},
		{"without number", change(func(r *event.RunEventRecorded) { r.Number = 0 }), "number: want the index of the event"},
	})
}

func TestChecksOfNodesAndEdges(t *testing.T) {
	node := event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: aDigest,
		WorkflowHash: aDigest}
	edge := func(kind event.EdgeKind, cause event.CauseKind) event.EdgeCreated {
		return event.EdgeCreated{EdgeKind: kind, FromNodeID: root, ToNodeID: child,
			Cause: event.Cause{Kind: cause, EventID: anEvent}}
	}
	checkAll(t, atChild, []refusal{
		{"that is read from foreign logs",
			with(node, func(n *event.NodeCreated) { n.NodeKind = event.BlockedAttemptNode }), ""},
		{"of unknown kind", with(node, func(n *event.NodeCreated) { n.NodeKind = "leaf" }), `unknown nodeKind "leaf"`},
		{"under itself", with(node, func(n *event.NodeCreated) { n.ParentNodeID = &child }),
			"a node is its own parent"},
		{"by a replay", edge(event.AckedStepEdge, event.IdempotentReplay), ""},
		{"off the tip", edge(event.AckedStepEdge, event.NonTipAdvance), ""},
		{"by a checkpoint", edge(event.AckedStepEdge, event.CheckpointCreated),
			`cause "checkpoint_created" on an acked_step edge`},
		{"without cause", edge(event.AckedStepEdge, ""), `cause "" on an acked_step edge`},
		{"to a checkpoint", edge(event.CheckpointEdge, event.CheckpointCreated), ""},
		{"to a checkpoint by an advance", edge(event.CheckpointEdge, event.IntentionalFork),
			`cause "intentional_fork" on a checkpoint edge`},
		{"of unknown kind", edge("fork", event.IntentionalFork), `unknown edgeKind "fork"`},
		{"to itself", with(edge(event.AckedStepEdge, event.NonTipAdvance),
			func(e *event.EdgeCreated) { e.ToNodeID = root }), "an edge from a node to itself"},
	})
}

func TestChecksOfAdvances(t *testing.T) {
	advance := func(o event.AdvanceOutcome) event.AdvanceRecorded {
		return event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending, Outcome: o}
	}
	asked := func(e event.Elicited) event.AdvanceRecorded {
		a := advance(event.AdvancedTo(child))
		a.Elicited = &e
		return a
	}
	answered := func(r event.Response) event.AdvanceRecorded {
		a := advance(event.AdvancedTo(child))
		a.Response = &r
		return a
	}
	traced := func(text string) event.AdvanceRecorded {
		a := advance(event.AdvancedTo(child))
		a.Traceparent = text
		return a
	}
	both := event.AdvancedTo(child)
	both.Blockers = &blockers
	blockedTo := event.BlockedBy(blockers)
	blockedTo.ToNodeID = &child
	checkAll(t, atRoot, []refusal{
		{"of unknown intent", event.AdvanceRecorded{Intent: "peek", Outcome: event.AdvancedTo(child)},
			`unknown intent "peek"`},
		{"to nowhere", advance(event.AdvanceOutcome{Kind: event.Advanced}), "an advanced outcome wants toNodeId alone"},
		{"with blockers", advance(both), "an advanced outcome wants toNodeId alone"},
		{"blocked by nothing", advance(event.AdvanceOutcome{Kind: event.Blocked}),
			"a blocked outcome wants blockers alone"},
		{"blocked and advanced", advance(blockedTo), "a blocked outcome wants blockers alone"},
		{"blocked by an empty report", advance(event.BlockedBy(reason.Report{})), "0 blockers: want 1 to 10"},
		{"of unknown outcome", advance(event.AdvanceOutcome{Kind: "skipped"}), `unknown outcome "skipped"`},
		{"that asked for nothing", asked(event.Elicited{}), "elicited without content"},
		{"that asked twice", asked(event.Elicited{Inputs: []string{"a", "a"}}), "elicited inputs that are not in order"},
		{"that asked for no key", asked(event.Elicited{Inputs: []string{""}}), "an elicited input of 0 bytes"},
		{"that asked for too much", asked(event.Elicited{Inputs: make([]string, 101)}), "101 elicited inputs"},
		{"that answers nothing", answered(event.Response{}), "a response with another action"},
		{"that asks", answered(event.Response{Action: "ask", By: "a", Digest: canon.Sum(nil)}), "a response with another action"},
		{"answered without a name", answered(event.Response{Action: "accept", Digest: canon.Sum(nil)}), "a response has by and digest, but for a timeout"},
		{"answered without a digest", answered(event.Response{Action: "accept", By: "a"}), "a response has by and digest, but for a timeout"},
		{"answered by a name and a timeout", answered(event.Response{Action: "timeout", By: "a", Digest: canon.Sum(nil)}),
			"a response has by and digest, but for a timeout"},
		{"answered by a long name", answered(event.Response{Action: "accept", By: strings.Repeat("a", 257), Digest: canon.Sum(nil)}), "by of 257 bytes"},
		{"answered in time", answered(event.Response{Action: "event", By: strings.Repeat("a", 256), Digest: canon.Sum(nil)}), ""},
		{"answered by a timeout", answered(event.Response{Action: "timeout"}), ""},
		{"in a trace of another form", traced("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"),
			"a traceparent of another form"},
		{"in a trace", traced("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff"), ""},
	})
}

func TestChecksOfPreferences(t *testing.T) {
	changed := func(effective event.Preferences, delta ...event.PreferenceChange) event.PreferencesChanged {
		return event.PreferencesChanged{ChangeID: origin.Change(0), Source: event.FromSystem, Delta: delta,
			Effective: effective}
	}
	autonomy := event.PreferenceChange{Key: "autonomy", Value: "guided"}
	risk := event.PreferenceChange{Key: "riskPolicy", Value: "conservative"}
	preset := event.DefaultPreferences()
	checkAll(t, atRoot, []refusal{
		{"with both keys", changed(preset, autonomy, risk), ""},
		{"without change", changed(preset), "delta is empty"},
		{"with a key twice", changed(preset, autonomy, autonomy), `delta names "autonomy" twice`},
		{"that do not show", changed(preset, event.PreferenceChange{Key: "autonomy", Value: "full_auto_never_stop"}),
			"delta autonomy=full_auto_never_stop does not show in effective"},
		{"of unknown key", changed(preset, event.PreferenceChange{Key: "mood", Value: "good"}),
			"delta mood=good does not show in effective"},
		{"of unknown value", changed(event.Preferences{Autonomy: "yolo", RiskPolicy: event.Balanced},
			event.PreferenceChange{Key: "autonomy", Value: "yolo"}), "delta autonomy=yolo does not show in effective"},
		{"with an unknown rest", changed(event.Preferences{Autonomy: event.Guided, RiskPolicy: "none"}, autonomy),
			`delta autonomy=guided does not show in effective`},
		{"of unknown source", with(changed(preset, risk), func(p *event.PreferencesChanged) { p.Source = "agent" }),
			`unknown source "agent"`},
	})
}

func TestChecksOfOutputs(t *testing.T) {
	ref := func(change func(*event.OutputPayload)) event.NodeOutputAppended {
		return with(artifact(1), func(o *event.NodeOutputAppended) { change(&o.Payload) })
	}
	checkAll(t, atRoot, []refusal{
		{"of 4096 bytes", notes(text(4096)), ""},
		{"of 4097 bytes", notes(text(4097)), "notes of 4097 bytes: want 1 to 4096"},
		{"of 4096 characters", notes(strings.Repeat("é", 4096)), "notes of 8192 bytes: want 1 to 4096"},
		{"without notes", notes(""), "notes of 0 bytes: want 1 to 4096"},
		{"of notes with a digest", with(notes("n"), func(o *event.NodeOutputAppended) { o.Payload.SHA256 = aDigest }),
			"notes with members of an artifact"},
		{"of notes with a kind", with(notes("n"), func(o *event.NodeOutputAppended) { o.Payload.ArtifactKind = "k" }),
			"notes with members of an artifact"},
		{"of 64 MiB", artifact(64 << 20), ""},
		{"of 64 MiB and a byte", artifact(64<<20 + 1), "artifact of 67108865 bytes: want 1 to 67108864"},
		{"of no bytes", artifact(0), "artifact of 0 bytes: want 1 to 67108864"},
		{"without digest", ref(func(p *event.OutputPayload) { p.SHA256 = canon.Digest{} }),
			"an artifact_ref wants sha256 and contentType, and no notes"},
		{"without type", ref(func(p *event.OutputPayload) { p.ContentType = "" }),
			"an artifact_ref wants sha256 and contentType, and no notes"},
		{"with notes", ref(func(p *event.OutputPayload) { p.NotesMarkdown = "n" }),
			"an artifact_ref wants sha256 and contentType, and no notes"},
		{"on the other channel", with(artifact(1), func(o *event.NodeOutputAppended) { o.OutputChannel = event.Recap }),
			`payload "artifact_ref" on channel "recap"`},
		{"on no channel", with(notes("n"), func(o *event.NodeOutputAppended) { o.OutputChannel = "" }),
			`payload "notes" on channel ""`},
		{"in place of itself",
			with(notes("n"), func(o *event.NodeOutputAppended) { o.SupersedesOutputID = &o.OutputID }),
			"an output supersedes itself"},
	})
}

func TestChecksOfGaps(t *testing.T) {
	gap := func(change func(*event.GapRecorded)) event.GapRecorded { return with(open("s"), change) }
	evidence := func(ref event.EvidenceRef) event.GapRecorded {
		return gap(func(g *event.GapRecorded) { g.EvidenceRefs = []event.EvidenceRef{ref} })
	}
	const wantsOne = "evidence of kind %q wants the id of that kind alone"
	checkAll(t, atRoot, []refusal{
		{"with a summary of 512 bytes", open(text(512)), ""},
		{"with a summary of 513 bytes", open(text(513)), "summary of 513 bytes: want 1 to 512"},
		{"without summary", open(""), "summary of 0 bytes: want 1 to 512"},
		{"of unknown reason", gap(func(g *event.GapRecorded) { g.Reason.Detail = "x" }),
			"unknown reason contract_violation:x"},
		{"of unknown severity", gap(func(g *event.GapRecorded) { g.Severity = "fatal" }), `unknown severity "fatal"`},
		{"at a bad pointer", gap(func(g *event.GapRecorded) { g.Pointer = &reason.Pointer{Kind: "file"} }),
			`unknown pointer kind "file"`},
		{"of unknown resolution", gap(func(g *event.GapRecorded) { g.Resolution.Kind = "done" }),
			`unknown resolution "done"`},
		{"open and resolving", gap(func(g *event.GapRecorded) { g.Resolution.ResolvesGapID = ptr(origin.Gap(7)) }),
			"an unresolved gap names a gap it resolves"},
		{"resolving nothing", gap(func(g *event.GapRecorded) { g.Resolution.Kind = event.Resolves }),
			"a resolving record wants the id of another gap"},
		{"resolving itself", gap(func(g *event.GapRecorded) {
			g.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: &g.GapID}
		}), "a resolving record wants the id of another gap"},
		{"by an event without id", evidence(event.EvidenceRef{Kind: "event"}), fmt.Sprintf(wantsOne, "event")},
		{"by an event and an output",
			evidence(event.EvidenceRef{Kind: "event", EventID: &anEvent, OutputID: ptr(origin.Output(0))}),
			fmt.Sprintf(wantsOne, "event")},
		{"by an output with an event's id", evidence(event.EvidenceRef{Kind: "output", EventID: &anEvent}),
			fmt.Sprintf(wantsOne, "output")},
		{"by hearsay", evidence(event.EvidenceRef{Kind: "chat", EventID: &anEvent}), fmt.Sprintf(wantsOne, "chat")},
	})
	divergence := event.DivergenceRecorded{DivergenceID: origin.Divergence(0), Reason: "efficiency_skip",
		Summary: text(512)}
	tests := []refusal{
		{"with a summary of 513 bytes", with(divergence, func(d *event.DivergenceRecorded) { d.Summary = text(513) }),
			"summary of 513 bytes: want 1 to 512"},
		{"of unknown reason", with(divergence, func(d *event.DivergenceRecorded) { d.Reason = "mood" }),
			`unknown reason "mood"`},
		{"at a bad step", with(divergence, func(d *event.DivergenceRecorded) { d.RelatedStepID = "A" }),
			`relatedStepId "A": want only a-z 0-9 _ -`},
	}
	for _, known := range []event.DivergenceReason{"missing_user_context", "capability_unavailable", "efficiency_skip",
		"safety_stop", "policy_constraint"} {
		tests = append(tests, refusal{string(known),
			with(divergence, func(d *event.DivergenceRecorded) { d.Reason = known }), ""})
	}
	checkAll(t, atRoot, tests)
}

// limited is the end of a run at a limit.
func limited(o event.RunOutcome, kind string, limit, observed int64) event.RunClosed {
	return event.RunClosed{Outcome: o, Reason: "r", Limit: &event.LimitReached{Kind: kind, Limit: limit, Observed: observed}}
}
