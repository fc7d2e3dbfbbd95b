package docs

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/projections/runs"
)

// formatSweep is the second workflow of the example store: a loop in a loop, an
// assessment, a command and an approval.
const formatSweep = `{"id":"demo.sweep","name":"Sweep","description":"Look through files, then release.","version":"1.0.0",
 "recommendedPreferences":{"recommendedAutonomy":"guided"},"capabilities":{"preferred":["delegation"]},
 "features":["wr.features.durable_recap_guidance"],
 "extensionPoints":[{"slotId":"reading","purpose":"How a file is read.","default":"routine-slow-reading"}],
 "conditions":[{"id":"more_rounds","kind":"loop_control","loopId":"rounds"}],
 "assessments":[{"id":"ready","purpose":"Whether it can go out.","dimensions":[{"id":"risk","purpose":"What could break.","levels":["high","low"]}]}],
 "steps":[
  {"id":"files","type":"loop","title":"Files","loop":{"type":"forEach","items":"files","maxIterations":9},"body":[
   {"id":"read","title":"Read","promptBlocks":{"goal":"Read {{currentItem}} by {{wr.bindings.reading}}."}},
   {"id":"rounds","type":"loop","title":"Rounds","loop":{"type":"while","maxIterations":3,"condition":{"kind":"condition_ref","conditionId":"more_rounds"}},"body":[
    {"id":"fix","title":"Fix","prompt":"Round {{currentIteration}}: fix one thing.","outputContract":{"contractRef":"wr.contracts.loop_control"}},
    {"id":"check","title":"Check","prompt":"Check the fix."}]}]},
  {"id":"judge","title":"Judge","prompt":"Judge the result.","promptFragments":[{"id":"late","text":"Be brief.","when":{"var":"late","equals":true}}],
   "assessmentRefs":["ready"],"assessmentConsequences":[{"when":{"anyEqualsLevel":"high"},"effect":{"kind":"require_followup","guidance":"Lower the risk first."}}]},
  {"id":"build","title":"Build","action":{"kind":"command","argv":["true"]}},
  {"id":"release","title":"Release","prompt":"Say what goes out.","requireConfirmation":{"kind":"human_approval"}}]}`

// facts are what is on record about a node, as the engine hands them to a decision.
func (s *formatStore) facts(l *formatSession, nodeID id.Node) advance.Facts {
	s.t.Helper()
	session, _ := id.ParseSession(l.log.Owner)
	n := l.fold.Runs[l.run].Node(nodeID)
	f := advance.Facts{Session: session, Run: l.run, Node: nodeID, Next: l.fold.Next, State: s.state(n.SnapshotRef),
		SnapshotRef: n.SnapshotRef,
		Preferences: n.Preferences, Context: n.Context, HasChild: n.AckedChildren > 0, Capabilities: n.Capabilities,
		Checkpoints: len(n.Checkpoints), Approvals: int(n.Approvals)}
	for _, g := range n.OpenGaps {
		f.OpenGaps = append(f.OpenGaps, advance.OpenGap{ID: g.ID, Reason: g.Reason, Pointer: g.Pointer,
			Severity: g.Severity})
	}
	for _, o := range n.Outputs {
		out := advance.Output{ID: o.ID, Payload: o.Payload, Decision: o.Decision}
		if o.Payload.ContentType == "application/json" {
			out.JSON = s.value(o.Payload.SHA256)
		}
		f.Outputs = append(f.Outputs, out)
	}
	return f
}

func formatObjectName(kind manifest.ObjectKind, ref canon.Digest) string {
	return manifest.ObjectDir(kind) + "/" + manifest.ObjectName(kind, ref)
}

func (s *formatStore) value(ref canon.Digest) canon.Value {
	v, err := canon.Parse(s.files[formatObjectName(manifest.Artifact, ref)])
	s.must(err)
	return v
}

func (s *formatStore) state(ref canon.Digest) snapshot.State {
	state, err := snapshot.Decode(s.files[formatObjectName(manifest.Snapshot, ref)])
	s.must(err)
	return state
}

func (s *formatStore) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// attempt decides the next attempt at a node, as the engine does, and records it.
func (s *formatStore) attempt(l *formatSession, nodeID id.Node, req advance.Request) {
	s.t.Helper()
	n := l.fold.Runs[l.run].Node(nodeID)
	plan, err := advance.Decide(l.w, s.facts(l, nodeID), advance.Attempt{ID: n.NextAttempt(), Request: req,
		Actor: s.agent, AtMs: s.atMs})
	s.must(err)
	s.commit(l, manifest.Plan{Log: l.log, Events: plan.Events, Objects: plan.Objects})
}

// fork is a session that continues from the first one's second node: facts of an
// agent at a blocked attempt, a checkpoint, and a run that is cancelled.
func (s *formatStore) fork() {
	session, runID := id.NewSession(id.Seed{2}), id.NewRun(id.Seed{2})
	s.b = &formatSession{w: s.w, run: runID, fold: runs.NewFold(), log: manifest.SessionEvents(session)}
	source := s.a.fold.Runs[s.run]
	from := source.Node(source.Order[1])
	plan, _, err := advance.Branch(s.w, advance.Source{State: s.state(from.SnapshotRef), Started: source.Started,
		From: event.ForkedFrom{SessionID: id.NewSession(id.Seed{1}), RunID: s.run, NodeID: from.ID,
			Head: s.a.fold.Head.Digest},
		Preferences: from.Preferences, Context: from.Context},
		advance.Fork{Session: session, Run: runID, Title: "Red build, again", Actor: s.human, AtMs: s.atMs})
	s.must(err)
	s.commit(s.b, plan)
	root := s.b.fold.Runs[runID].Root
	s.attempt(s.b, root, advance.Request{Notes: "Nothing is decided.", Artifacts: []advance.Artifact{
		advance.JSONArtifact(formatObject("kind", advance.CapabilityKind, "capability", "delegation", "result",
			"failure", "failureCode", "tool_missing")),
		advance.JSONArtifact(formatObject("kind", advance.DivergenceKind, "reason", "capability_unavailable",
			"relatedStepId", "decide",
			"summary", "Worked alone: nothing could be delegated."))}})
	plan, err = advance.Checkpoint(s.w, s.facts(s.b, root),
		advance.Attempt{ID: id.NextAttempt(root, id.OpCheckpoint, 0), Actor: s.agent, AtMs: s.atMs,
			Request: advance.Request{Notes: "Two of three logs are read.",
				Artifacts: []advance.Artifact{formatFinding("the parser is slow too")}}})
	s.must(err)
	s.commit(s.b, plan)
	noted, _ := advance.EndTurn(advance.TurnFacts{Session: session, Run: runID, Node: root, Next: s.b.fold.Next},
		advance.Turn{Client: "codex", Chat: canon.Sum([]byte("5f0c1f0e-8c3e")), AtMs: s.atMs - 30_000})
	s.commit(s.b, noted)
	s.atMs -= 60_000 // it came between the others, whose times stay
	s.handedOver(session)
	s.paused(session, runID)
	plan, err = advance.Cancel(advance.EndFacts{Session: session, Run: runID, Next: s.b.fold.Next},
		advance.Cancellation{Reason: "The build is green again.", Outcome: event.OutcomeCancelled, Close: true,
			Actor: s.human, AtMs: s.atMs})
	s.must(err)
	s.commit(s.b, plan)
}

// handedOver hands the session of the fork over, and revokes that.
func (s *formatStore) handedOver(session id.Session) {
	h := advance.HandOver{Session: session, Next: s.b.fold.Next, N: 1, Actor: s.human, AtMs: s.atMs - 30_000}
	s.commit(s.b, h.To(id.NewStore(id.Seed{1}), "laptop"))
	h.Next++
	s.commit(s.b, h.Reclaim())
	s.atMs -= 2 * 60_000 // between the others, whose times stay
}

// paused pauses the run of the fork, and resumes it.
func (s *formatStore) paused(session id.Session, run id.Run) {
	f := advance.PauseFacts{Session: session, Run: run, Next: s.b.fold.Next}
	plan, err := advance.Pause(f, advance.Hold{Reason: "The build machine is repaired.", Actor: s.human, AtMs: s.atMs - 20_000})
	s.must(err)
	s.commit(s.b, plan)
	p := plan.Events[0].Data.(event.RunPaused)
	f.Next, f.Pauses, f.Current, f.InForce = f.Next+1, 1, &p, true
	plan, err = advance.Resume(f, advance.Hold{Actor: s.human, AtMs: s.atMs - 10_000})
	s.must(err)
	s.commit(s.b, plan)
	s.atMs -= 2 * 60_000 // between the others, whose times stay
}

// sweep is the session with loops: two files, of which the first takes two rounds.
func (s *formatStore) sweep() {
	session, runID := id.NewSession(id.Seed{3}), id.NewRun(id.Seed{3})
	s.c = &formatSession{w: formatCompile(s.t, "sweep.json", formatSweep), run: runID, fold: runs.NewFold(),
		log: manifest.SessionEvents(session)}
	plan, _, err := advance.Begin(s.c.w, advance.Start{Session: session, Run: runID, SourceKind: event.SourceProject,
		SourceRef: ".waybill/workflows/sweep.json", Actor: s.human, AtMs: s.atMs,
		Context: canon.OfMembers(canon.Member{Name: "files",
			Value: canon.OfList(canon.OfString("a.go"), canon.OfString("b.go"))}),
		Preferences: []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoStopOnUserDeps)}}})
	s.must(err)
	s.commit(s.c, plan)
	advanceTip := func(r advance.Request) { s.attempt(s.c, s.c.fold.Runs[runID].Tip, r) }
	notes := func(text string) advance.Request { return advance.Request{Notes: text} }
	with := func(v canon.Value) advance.Request {
		return advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}
	}
	decide := func(decision string) advance.Request {
		return with(formatObject("kind", "wr.loop_control", "decision", decision, "loopId", "rounds"))
	}
	for _, r := range []advance.Request{
		notes("Read."), decide("continue"), notes("Fixed."), decide("stop"), notes("Fixed."),
		notes("Read."), decide("stop"), notes("Fixed."),
		with(formatObject("kind", contract.AssessmentKind, "assessmentId", "ready").
			With("dimensions", formatObject("risk", "low"))),
		with(s.performed()), notes("Both files go out.")} {
		advanceTip(r)
	}
	plan, err = advance.DecideStep(s.c.w, s.facts(s.c, s.c.fold.Runs[runID].Tip),
		advance.Decision{Word: event.Approved, Reason: "Looked at both.", Actor: s.human, AtMs: s.atMs})
	s.must(err)
	s.commit(s.c, plan)
	advanceTip(advance.Request{})
	if run := s.c.fold.Runs[runID]; s.state(run.Node(run.Tip).SnapshotRef).PendingStep() != nil {
		s.t.Fatal("the step was approved, and is still pending")
	}
}

// performed is the result of the command.
func (s *formatStore) performed() canon.Value {
	step, _ := s.c.w.Step("build")
	v, err := canon.ValueOf(command.Result{Kind: command.Kind, ArgvDigest: command.ArgvDigest(*step.Action),
		DurationMs: 3, OutputDigest: canon.Sum(nil), Stdout: &command.Stream{}, Stderr: &command.Stream{}, Tries: 1})
	s.must(err)
	return v
}

// snapshots are those that the page shows, by name.
func (s *formatStore) snapshots() map[string]canon.Digest {
	out := map[string]canon.Digest{}
	take := func(l *formatSession, at int, name string) {
		run := l.fold.Runs[l.run]
		out[name] = run.Node(run.Order[at]).SnapshotRef
	}
	take(s.a, 0, "look")
	take(s.a, 1, "decide")
	take(s.a, 2, "complete")
	take(s.c, 3, "loop")
	take(s.c, 4, "decided")
	take(s.c, 8, "ended")
	return out
}

// segments are those that the page shows whole, by name.
func (s *formatStore) segments() map[string]manifest.Segment {
	out := map[string]manifest.Segment{"checkpoint": s.b.segs[2], "turn": s.b.segs[3], "hand over": s.b.segs[4],
		"pause": s.b.segs[6], "cancel": s.b.segs[8]}
	for _, seg := range s.c.segs {
		if seg.Events[0].Data.Kind() == "gap_recorded" {
			out["approval"] = seg
		}
	}
	return out
}

func (s *formatStore) logOf(seg manifest.Segment) manifest.Log {
	for _, l := range s.sessions() {
		if strings.Contains(string(seg.Bytes), l.log.Owner) {
			return l.log
		}
	}
	s.t.Fatal("a segment of no session")
	return manifest.Log{}
}

// kinds are the first artifact of each of the product's own kinds.
func (s *formatStore) kinds() map[string][]byte {
	// No step of the example store waits.
	over := wait.Over{DueAtMs: 1796115600000, OverAtMs: 1796115603120, StepInstanceKey: "embargo"}
	// Nor does the host perform one.
	failed, err := host.Result{Kind: host.Kind, Outcome: host.Failed, StepInstanceKey: "print", TypeID: hoststep.Fail,
		Error: &host.Error{Code: "out_of_order", Message: "The printer is out of order."}}.Value()
	if err != nil {
		s.t.Fatal(err)
	}
	// Nor has one checks.
	suite := source.Check{ID: "unit", Argv: []string{"go", "test", "-json", "./..."}, Pins: []string{"core_test.go"}}
	checked, err := check.Result{ArgvDigest: check.ArgvDigest(suite), AttemptID: id.NextAttempt(id.RootNode(s.a.run), id.OpAck, 0), CheckID: "unit",
		DurationMs: 1840, Exit: 1, OutputBytes: 5, OutputDigest: canon.Sum([]byte("FAIL\n")), StepInstanceKey: "files@0::verify",
		Pins:        map[string]canon.Digest{"core_test.go": canon.Sum([]byte("package core\n"))},
		Stdout:      command.Stream{Bytes: 5, Head: "FAIL\n"},
		TestsUnread: "the output is in no format of test reports"}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string][]byte{wait.Kind: over.Value().JCS(), check.Kind: checked.JCS(), host.Kind: failed.JCS()}
	for _, l := range s.sessions() {
		for _, seg := range l.segs {
			for _, e := range seg.Events {
				p, ok := e.Data.(event.NodeOutputAppended)
				if _, have := out[p.Payload.ArtifactKind]; !ok || have ||
					!strings.HasPrefix(p.Payload.ArtifactKind, "wr.") {
					continue
				}
				out[p.Payload.ArtifactKind] = s.files[formatObjectName(manifest.Artifact, p.Payload.SHA256)]
			}
		}
	}
	return out
}

// artifactAgain reads an artifact as the engine does where it has a reader of its
// own. Of the others the store shows that it took them: what they say is on record.
func (s *formatStore) artifactAgain(kind string) func([]byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) {
		v, err := canon.Parse(b)
		if err != nil {
			return nil, err
		}
		for _, ref := range contract.Refs() {
			if p, _ := contract.Builtin(ref); p.ArtifactKind == kind {
				if wrong := p.Check(v); len(wrong) > 0 {
					return nil, fmt.Errorf("%s: %v", ref, wrong)
				}
			}
		}
		if kind == command.Kind {
			if _, err := command.Decode(v); err != nil {
				return nil, err
			}
		}
		if kind == check.Kind {
			r, err := check.Decode(v)
			if err != nil {
				return nil, err
			}
			if v, err = r.Encode(); err != nil {
				return nil, err
			}
		}
		if kind == host.Kind {
			if _, err := host.Decode(v); err != nil {
				return nil, err
			}
		}
		if kind == wait.Kind {
			if _, err := wait.Decode(v); err != nil {
				return nil, err
			}
		}
		return v.JCS(), nil
	}
}
