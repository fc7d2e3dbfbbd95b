package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

const mixed = `{"id":"test.mixed","name":"Mixed","description":"d","version":"1.0.0","recommendedPreferences":{"recommendedAutonomy":"guided","recommendedRiskPolicy":"conservative"},"steps":[
 {"id":"first","title":"First","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"say done"}]},
 {"id":"ask","title":"Ask","prompt":"p","inputs":[{"contextKey":"target","reason":"needs_user_artifact","description":"where to"}]},
 {"id":"twice","title":"Twice","type":"loop","loop":{"type":"for","count":2,"maxIterations":3},"body":[{"id":"inner","title":"Inner","prompt":"p"}]},
 {"id":"plan","title":"Plan","prompt":"p","requireConfirmation":{"kind":"human_approval"}},
 {"id":"last","title":"Last","prompt":"p","notesRequired":true}]}`

// disk is a store in memory under an engine that remembers nothing else.
type disk struct {
	t interface{ Fatal(...any) }
	g *enginetest.Engine
	// answers are those of play. With noting a turn ends after each call.
	answers []string
	noting  bool
}

func newDisk(t interface{ Fatal(...any) }) *disk {
	s := memstore.NewDisk(id.Seed{7}).Open(time.Second)
	return &disk{t: t, g: enginetest.InMemory(s)}
}

// bytes are the segments of every session, in their order.
func (d *disk) bytes() string {
	var out strings.Builder
	all, _ := d.g.Sessions(context.Background())
	for _, s := range all {
		_, err := d.g.Store.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(s)},
			ports.Each(func(s manifest.Segment, _ manifest.Head) error {
				out.WriteString(s.Name() + "\n" + string(s.Bytes))
				return nil
			}))
		if err != nil {
			d.t.Fatal(err)
		}
	}
	return out.String()
}

// step is one call; it names its node by its number, so that it can be made again in another store.
type step struct {
	op    string
	node  int // among the nodes that were answered so far; -1 is the latest
	notes string
	key   string
	value string
	prefs []event.PreferenceChange
	files []string
}

func drawStep(t *rapid.T) step {
	return step{
		op: rapid.SampledFrom([]string{"ack", "ack", "ack", "ack", "ack", "ack", "ack", "ack", "checkpoint",
			"approve", "approve", "fork", "turn", "turn", "cancel", "cancel busy", "close"}).Draw(t, "op"),
		node:  rapid.SampledFrom([]int{-1, -1, -1, -1, 0, 1, 2, 3, 4, 5}).Draw(t, "node"),
		notes: rapid.SampledFrom([]string{"", "done", "done", "done", "no", "long"}).Draw(t, "notes"),
		key: rapid.SampledFrom([]string{"", "target", "target", "other"}).
			Draw(t, "key"), value: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "value"),
		prefs: rapid.SampledFrom([][]event.PreferenceChange{nil, nil, {{Key: "riskPolicy", Value: "balanced"}},
			{{Key: "riskPolicy", Value: "conservative"}, {Key: "autonomy", Value: "full_auto_never_stop"}}}).
			Draw(t, "prefs"),
		files: rapid.SampledFrom([][]string{nil, nil, {"plan"}, {"plan", "draft"}}).Draw(t, "files"),
	}
}

func (c step) request() advance.Request {
	r := advance.Request{Notes: c.notes, Preferences: c.prefs}
	if c.notes == "long" {
		r.Notes = "done " + strings.Repeat("é", limits.NotesBytesMax)
	}
	if c.key != "" {
		r.Context = set(c.key, c.value)
	}
	for _, f := range c.files {
		r.Artifacts = append(r.Artifacts, report(f, c.value))
	}
	return r
}

// play makes the calls, each at its own time. Refused calls are a part of it.
func (d *disk) play(w compile.Compiled, calls []step) []engine.Position {
	ctx := context.Background()
	by := func(n int) engine.Caller {
		return engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "sam"}, AtMs: int64(1000 + n)}
	}
	a, err := d.g.Start(ctx, by(0), id.Seed{1}, engine.Start{Workflow: w, SourceKind: event.SourceProject,
		SourceRef: "t.json", Title: "T",
		Context: set("first", "x"),
		Observations: []event.ObservationRecorded{{Key: "git_branch", Confidence: "high",
			Value: event.ObservationValue{Type: "short_string", Value: "main"}}}})
	if err != nil {
		d.t.Fatal(err)
	}
	nodes, starts := []engine.Position{a.Position()}, []engine.Position{a.Position()}
	for i, c := range calls {
		at := nodes[len(nodes)-1]
		if c.node >= 0 {
			at = nodes[c.node%len(nodes)]
		}
		now, err := d.g.Rehydrate(ctx, at)
		if err != nil {
			d.t.Fatal(err)
		}
		var out engine.Answer
		switch c.op {
		case "ack":
			out, err = d.g.Advance(ctx, by(i+1), at, now.AttemptID, c.request())
		case "checkpoint":
			out, err = d.g.CheckpointAt(ctx, by(i+1), at, now.CheckpointID,
				advance.Request{Notes: c.request().Notes, Artifacts: c.request().Artifacts})
		case "approve":
			out, err = d.g.Approve(ctx, by(i+1), at, c.value)
		case "fork":
			out, err = d.g.ForkAt(ctx, by(i+1), id.Seed{2, byte(i)}, at, engine.ForkRequest{Title: c.value})
			if err == nil {
				starts = append(starts, out.Position())
			}
		case "cancel", "cancel busy":
			_, err = d.g.Cancel(ctx, by(i+1), &performerStub{held: c.op != "cancel"}, at,
				engine.CancelRequest{Reason: c.value, Failed: c.key != ""})
		case "turn":
			_, err = turnAt(d.g, at, c.value, by(i+1).AtMs)
		case "close":
			_, err = d.g.Close(ctx, by(i+1), at)
		}
		if c.op != "turn" {
			doc, _ := json.Marshal(out)
			d.answers = append(d.answers, fmt.Sprintf("%s %v", doc, err))
		}
		if d.noting {
			if _, err := turnAt(d.g, at, "noted", by(i+1).AtMs); err != nil {
				d.t.Fatal(err)
			}
		}
		if err == nil && out.NodeID.String() != "" {
			nodes = append(nodes, out.Position())
		}
	}
	return starts
}

// TestRandomSessionsAreReDriven: the same calls in another store leave the same bytes, and
// re-driving every session from its own record gives the same session.
func TestRandomSessionsAreReDriven(t *testing.T) {
	w := newFixture(t).compiled(mixed)
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(t, "calls")
		d := newDisk(t)
		starts := d.play(w, calls)
		other := newDisk(t)
		other.play(w, calls)
		if a, b := d.bytes(), other.bytes(); a != b {
			t.Fatalf("same calls, other bytes:\n%s\n%s", a, b)
		}
		for _, at := range starts {
			got, err := d.g.Replay(context.Background(), at)
			if err != nil || !got.OK {
				t.Fatalf("%v: %+v\n%+v", err, got, got.Difference)
			}
			if len(got.Undecided) > 0 {
				t.Fatalf("undecided: %+v", got)
			}
		}
	})
}

// TestNotesChangeNoAnswer: every call is answered alike where a turn ends after each call.
func TestNotesChangeNoAnswer(t *testing.T) {
	w := newFixture(t).compiled(mixed)
	noted := 0
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(t, "calls")
		plain, with := newDisk(t), newDisk(t)
		with.noting = true
		plain.play(w, calls)
		starts := with.play(w, calls)
		for i := range plain.answers {
			if plain.answers[i] != with.answers[i] {
				t.Fatalf("call %d is answered\n%s\nwithout notes\n%s", i, with.answers[i], plain.answers[i])
			}
		}
		noted += strings.Count(with.bytes(), `"guard_noted"`)
		for _, at := range starts {
			if got, err := with.g.Replay(context.Background(), at); err != nil || !got.OK {
				t.Fatalf("%v: %+v\n%+v", err, got, got.Difference)
			}
		}
	})
	if noted == 0 {
		t.Error("nothing was noted")
	}
}

// TestEveryOperationIsReDriven: one session with every operation, and a fork.
func TestEveryOperationIsReDriven(t *testing.T) {
	t.Parallel()
	ack := step{op: "ack", node: -1, notes: "done", key: "target", value: "a", files: []string{"plan"}}
	refused, long, empty := step{op: "ack", node: -1, notes: "no", value: "a"}, ack, step{op: "ack", node: -1}
	long.notes, long.prefs = "long", []event.PreferenceChange{{Key: "riskPolicy", Value: "balanced"}}
	calls := []step{refused, ack, ack, {op: "checkpoint", node: -1, notes: "long", files: []string{"draft"},
		value: "b"}, long, ack,
		ack, {op: "approve", node: -1, value: "fine"}, empty, {op: "fork", node: -1, value: "again"},
		{op: "turn", node: 0, value: "a"}, {op: "turn", node: 0, value: "a"}, {op: "turn", node: 0, value: "a"},
		{op: "cancel busy", node: 0, value: "r"}, {op: "close", node: 0}}
	d := newDisk(t)
	starts := d.play(newFixture(t).compiled(mixed), calls)
	got := d.bytes()
	for _, part := range []string{`"blocked"`, `"checkpoint_created"`, "wr.human_approval", `"forkedFrom"`,
		`"run_cancel_requested"`, `"run_closed"`, `"let_go"`, "TRUNCATED"} {
		if !strings.Contains(got, part) {
			t.Errorf("the session holds no %s", part)
		}
	}
	if len(starts) != 2 {
		t.Fatalf("%d sessions", len(starts))
	}
	for _, at := range starts {
		if r, err := d.g.Replay(context.Background(), at); err != nil || !r.OK || len(r.Undecided) > 0 {
			t.Errorf("%v: %+v\n%+v", err, r, r.Difference)
		}
	}
}

// TestAttemptsFromOneNodeAreBranches: N attempts that are accepted at one node lead to N nodes.
func TestAttemptsFromOneNodeAreBranches(t *testing.T) {
	w := newFixture(t).compiled(twoSteps)
	rapid.Check(t, func(t *rapid.T) {
		d, n := newDisk(t), rapid.IntRange(1, 8).Draw(t, "attempts")
		ctx := context.Background()
		root, err := d.g.Start(ctx, caller(1), id.Seed{1}, engine.Start{Workflow: w, SourceKind: event.SourceProject,
			SourceRef: "t.json"})
		if err != nil {
			t.Fatal(err)
		}
		led := map[id.Node]bool{}
		for i := range n {
			now, err := d.g.Rehydrate(ctx, root.Position())
			if err != nil {
				t.Fatal(err)
			}
			a, err := d.g.Advance(ctx, caller(int64(2+i)), root.Position(), now.AttemptID, note("done"))
			if err != nil {
				t.Fatal(err)
			}
			led[a.NodeID] = true
		}
		run, err := d.g.Run(ctx, root.Session.RunID.String())
		if err != nil || len(led) != n || len(run.Tips) != n {
			t.Fatalf("%d attempts led to %d nodes, %d tips, %v", n, len(led), len(run.Tips), err)
		}
		if got, err := d.g.Replay(ctx, root.Position()); err != nil || !got.OK || got.Segments != int64(n+1) {
			t.Fatalf("%v, %+v", err, got)
		}
	})
}

// TestSamplesAreReDriven runs existing workflows to their end, and re-drives them.
func TestSamplesAreReDriven(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(samplesDir, "*.json"))
	if len(files) == 0 {
		t.Skip("the sample workflows are not beside the project")
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, c := newFixture(t), compileSample(t, name, data)
			a, err := w.g.Start(context.Background(), w.by(), id.Seed{1},
				engine.Start{Workflow: c, SourceKind: event.SourceBundled, SourceRef: name})
			if err != nil {
				t.Fatal(err)
			}
			for steps := 0; !a.IsComplete && steps < 100; steps++ {
				a = w.must(a, answerTo(t, name, c, a))
			}
			w.replays(a.Position())
		})
	}
}

// TestWholeNotesAreDecidedAgain: the text that a criterion requires is behind the recap's end. Erased, the decision is
// left open.
func TestWholeNotesAreDecidedAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	long := strings.Repeat("x", limits.NotesBytesMax)
	w.mustKeep(a, note(long+" so far"))
	a = w.look(a.StateToken)
	notes := long + " done"
	a = w.must(a, note(notes))
	if a.Pending == nil || a.Pending.StepID != "second" {
		t.Fatalf("%+v", a)
	}
	w.must(a, note("end"))
	if got := w.replays(a.Position()); len(got.Undecided) != 0 || got.Segments != 4 {
		t.Errorf("%+v", got)
	}
	if v, err := w.process().Verify(context.Background()); err != nil || !v.OK {
		t.Errorf("whole notes are no artifact of the kind that their event names: %+v, %v", v, err)
	}
	if _, err := w.erase(canon.Sum([]byte(notes)), "a secret"); err != nil {
		t.Fatal(err)
	}
	if got := w.replays(a.Position()); len(got.Undecided) != 1 || got.Segments != 3 {
		t.Errorf("after the erasure: %+v", got)
	}
}

// TestReplayFindsTheFirstDifference: facts that no call leads to.
func TestReplayFindsTheFirstDifference(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		data    event.Payload
		scope   func(event.Scope) event.Scope
		pointer string
		message string
	}{
		{"a segment that no operation writes",
			event.DecisionTraceAppended{TraceID: id.FromStart(id.RootNode(id.NewRun(id.Seed{9}))).Trace(0),
				Entries: []event.TraceEntry{{Kind: event.SelectedNextStep, Summary: "s"}}}, nil, "",
			"no operation of this version"},
		{"an end without a request", event.RunClosed{Outcome: event.OutcomeFailed, Reason: "r"}, ofRun, "",
			"no cancellation of run"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newFixture(t)
			a := w.start(twoSteps)
			scope := event.Scope{RunID: a.Session.RunID, NodeID: a.NodeID}
			if row.scope != nil {
				scope = row.scope(scope)
			}
			w.appendUnchecked(a, scope, row.data)
			got, err := w.process().Replay(context.Background(), a.Position())
			if err != nil || got.OK || got.Difference == nil || got.Difference.Pointer != row.pointer ||
				!strings.Contains(got.Difference.Message, row.message) || got.Segments != 1 {
				t.Errorf("%v, %+v, %+v", err, got, got.Difference)
			}
		})
	}
}

func ofRun(s event.Scope) event.Scope { return event.Scope{RunID: s.RunID} }

// TestReplayNamesTheMember: an attempt whose record differs from its result.
func TestReplayNamesTheMember(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	w.appendUnchecked(a, event.Scope{RunID: a.Session.RunID, NodeID: a.NodeID},
		event.AdvanceRecorded{AttemptID: a.AttemptID, Intent: event.IntentAckPending,
			Outcome: event.AdvancedTo(id.ChildNode(a.NodeID, a.AttemptID, id.OpAck)), RequestDigest: canon.Sum(nil)})
	got, err := w.process().Replay(context.Background(), a.Position())
	d := got.Difference
	if err != nil || d == nil || d.Pointer != "/data/outcome/blockers" || d.EventIndex != int64(w.events(a)-1) ||
		!strings.HasPrefix(d.Segment, fmt.Sprintf("%08d-", d.EventIndex)) {
		t.Fatalf("%v, %+v", err, d)
	}
	if !strings.Contains(d.Expected, `"engine"`) || !strings.Contains(d.Got, `blockers`) {
		t.Errorf("%+v", d)
	}
	doc, err := json.Marshal(got)
	if err != nil || !strings.Contains(string(doc), `"undecided":[]`) {
		t.Errorf("%s, %v", doc, err)
	}
}

func TestReplayRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	at := w.start(twoSteps).Position()
	other := at
	other.Run = id.NewRun(id.Seed{88})
	if _, err := w.g.Replay(context.Background(), other); fault.CodeOf(err) != fault.RunNotFound {
		t.Errorf("an unknown run: %v", err)
	}
	a, err := w.g.Rehydrate(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	w.must(a, note("done"))
	if err := os.Remove(filepath.Join(w.dir, "sessions", at.Session.String(), "events",
		lastSegment(t, w, at))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.process().Replay(context.Background(), at); fault.CodeOf(err) != fault.SessionUnhealthy {
		t.Errorf("a damaged session: %v", err)
	}
}

func lastSegment(t *testing.T, w *fixture, at engine.Position) string {
	names, err := os.ReadDir(filepath.Join(w.dir, "sessions", at.Session.String(), "events"))
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	return names[len(names)-1].Name()
}
