package wire_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/projections/wire"
)

// Secrets that clients send and that no run event may have.
const (
	tokenCanary    = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	passwordCanary = "correct-horse-battery"
	pinCanary      = "73519246"
)

// fails is what a driver reports to.
type fails interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// driver performs a run of the real engine over a store in memory.
type driver struct {
	t     fails
	g     *enginetest.Engine
	store *memstore.Store
	w     compile.Compiled
	last  engine.Answer
	err   error // of the last move
	// nodes are the positions that answers named, for moves that go back.
	nodes []engine.Answer
	// atMs is the clock, stepMs how far each call moves it.
	atMs, stepMs int64
}

// newDriver starts a run of a workflow.
func newDriver(t fails, workflowText string, s engine.Start, atMs, stepMs int64) *driver {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems, workflowText)
	}
	store := memstore.NewDisk(id.Seed{9}).Open(time.Second)
	d := &driver{t: t, g: enginetest.InMemory(store), store: store, w: w, atMs: atMs, stepMs: stepMs}
	s.Workflow, s.SourceKind, s.SourceRef = w, event.SourceProject, "test.json"
	d.last, d.err = d.g.Start(context.Background(), d.by(event.Agent), id.Seed{1}, s)
	if d.err != nil {
		t.Fatal(d.err)
	}
	d.nodes = append(d.nodes, d.last)
	return d
}

// by is a caller at the next moment.
func (d *driver) by(kind event.ActorKind) engine.Caller {
	d.atMs += d.stepMs
	return engine.Caller{Actor: event.Actor{Kind: kind, Ref: "ada"}, AtMs: d.atMs}
}

// ack makes the next attempt at the current step.
func (d *driver) ack(req advance.Request) { d.ackAt(d.last, req) }

// ackAt makes the next attempt at the node of an answer.
func (d *driver) ackAt(a engine.Answer, req advance.Request) {
	a, d.err = d.g.Continue(context.Background(), d.by(event.Agent), engine.Continue{StateToken: a.StateToken})
	if d.err != nil || a.AckToken == "" {
		return
	}
	d.take(d.g.Continue(context.Background(), d.by(event.Agent), engine.Continue{StateToken: a.StateToken,
		AckToken: a.AckToken, Request: req}))
}

// take keeps the answer of a move that was recorded.
func (d *driver) take(a engine.Answer, err error) {
	if d.err = err; err == nil {
		d.last, d.nodes = a, append(d.nodes, a)
	}
}

// perform carries out the step with the result of a command, or its wait.
func (d *driver) perform(exit int64, durationMs int64) {
	if d.last.Pending == nil {
		return
	}
	step, _ := d.w.Step(d.last.Pending.StepID)
	var v canon.Value
	var err error
	switch {
	case step.Action != nil:
		v, err = canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, ExitStatus: exit, OutputDigest: canon.Sum(nil),
			ArgvDigest: command.ArgvDigest(*step.Action), DurationMs: durationMs})
	case step.Wait != nil:
		// The engine requires exactly the moment that the log implies.
		run, _, readErr := d.g.Events(context.Background(), d.last.Session.RunID.String())
		if readErr != nil {
			d.t.Fatal(readErr)
		}
		var since int64
		for _, e := range run {
			if e.Scope.NodeID == d.last.NodeID && e.Data.Kind() == (event.NodeCreated{}).Kind() {
				since = e.TimestampMs
			}
		}
		due, dueErr := wait.DueAt(*step.Wait, since, canon.OfMembers())
		if dueErr != nil {
			return
		}
		d.atMs = max(d.atMs, due)
		v = wait.Over{DueAtMs: due, OverAtMs: d.atMs, Kind: wait.Kind, StepInstanceKey: d.last.Pending.StepInstanceKey}.Value()
	default:
		return
	}
	if err != nil {
		d.t.Fatal(err)
	}
	err = ports.WithHold(context.Background(), noPerformers{}, d.last.Session.SessionID, func(h ports.Hold) error {
		d.take(d.g.Perform(context.Background(), h, d.by(event.Agent), d.last.Position(), d.last.AttemptID,
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// noPerformers holds any session.
type noPerformers struct{}

// Hold implements ports.Performers.
func (noPerformers) Hold(context.Context, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// decide records the decision of a person about the current step.
func (d *driver) decide(word event.DecisionWord, reason string) {
	shown, err := d.g.Approvable(context.Background(), d.by(event.Human), d.last.Position())
	if d.err = err; err != nil {
		return
	}
	d.take(d.g.Decide(context.Background(), d.by(event.Human), shown, word, reason))
}

// checkpoint keeps work beside the step of an answer.
func (d *driver) checkpoint(a engine.Answer) {
	a, d.err = d.g.Continue(context.Background(), d.by(event.Agent), engine.Continue{StateToken: a.StateToken})
	if d.err != nil || a.CheckpointToken == "" {
		return
	}
	_, d.err = d.g.Checkpoint(context.Background(), d.by(event.Agent), engine.CheckpointCall{StateToken: a.StateToken,
		CheckpointToken: a.CheckpointToken, Request: advance.Request{Notes: "so far"}})
}

// cancel ends the run.
func (d *driver) cancel(failed bool) {
	_, d.err = d.g.Cancel(context.Background(), d.by(event.Human), noPerformers{}, d.last.Position(),
		engine.CancelRequest{Reason: "enough of " + tokenCanary, Failed: failed})
}

// pause pauses the run, or resumes it.
func (d *driver) pause(drain bool) {
	_, d.err = d.g.Pauses.Pause(context.Background(), d.by(event.Human), d.last.Position(),
		pausing.Request{Reason: "not with " + tokenCanary, Drain: drain})
}

func (d *driver) resume() {
	_, d.err = d.g.Pauses.Resume(context.Background(), d.by(event.Human), d.last.Position(),
		pausing.Request{Reason: "without " + tokenCanary})
}

// segments are those of the session.
func (d *driver) segments() []manifest.Segment {
	d.t.Helper()
	var out []manifest.Segment
	_, err := d.store.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(d.last.Session.SessionID)},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error { out = append(out, seg); return nil }))
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// objects are Lookups over a store.
type objects struct{ s ports.Objects }

// State implements wire.Lookups.
func (o objects) State(ref canon.Digest) (wire.State, error) {
	data, err := o.s.Object(context.Background(), manifest.Snapshot, ref)
	if err != nil {
		return wire.State{}, err
	}
	s, err := snapshot.Decode(data)
	return wire.State{View: s.View(), Known: &s}, err
}

// Workflow implements wire.Lookups.
func (o objects) Workflow(hash canon.Digest) (*compile.Compiled, error) {
	data, err := o.s.Object(context.Background(), manifest.Workflow, hash)
	if err != nil {
		return nil, err
	}
	w, err := compile.Decode(data)
	return &w, err
}

// project returns the run events of some segments, and the projection after them.
func (d *driver) project(segments []manifest.Segment) ([]openwop.RunEvent, *wire.Log) {
	d.t.Helper()
	var out []openwop.RunEvent
	l := wire.New(d.last.Session.RunID)
	for _, seg := range segments {
		events, err := l.Visit(seg, objects{d.store})
		if err != nil {
			d.t.Fatal(err)
		}
		out = append(out, events...)
	}
	return out, l
}

// lines are events in short: type, node, and some members of the payload.
func lines(events []openwop.RunEvent, members ...string) string {
	var out []string
	for _, e := range events {
		line := string(e.Type)
		if e.NodeID != "" {
			line += " " + e.NodeID
		}
		for _, name := range members {
			if v, ok := e.Payload.Get(name); ok {
				line += fmt.Sprintf(" %s=%s", name, strings.Trim(string(v.JCS()), `"`))
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// stepKinds make a step each; %d is its number.
var stepKinds = []string{
	`{"id":"s%[1]d","title":"Do {{ticket}} with {{apiToken}} and {{password}}","prompt":"p"}`,
	`{"id":"s%[1]d","title":"Notes","prompt":"p","notesRequired":true}`,
	`{"id":"s%[1]d","title":"Confirm","prompt":"p","requireConfirmation":true}`,
	`{"id":"s%[1]d","title":"Approve","prompt":"p","requireConfirmation":{"kind":"human_approval"}}`,
	`{"id":"s%[1]d","title":"Inputs","prompt":"p","inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"The ticket."}]}`,
	`{"id":"s%[1]d","title":"Choice","prompt":"p","inputs":[{"contextKey":"password","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["a","b"],"description":"One."}]}`,
	`{"id":"s%[1]d","title":"Command","prompt":"p","action":{"kind":"command","argv":["make"]}}`,
	`{"id":"s%[1]d","title":"Approved command","prompt":"p","requireConfirmation":{"kind":"human_approval"},"action":{"kind":"command","argv":["make"]}}`,
	`{"id":"s%[1]d","title":"Confirmed command","prompt":"p","requireConfirmation":true,"action":{"kind":"command","argv":["make"]}}`,
	`{"id":"s%[1]d","title":"Wait","action":{"kind":"wait","for":"1h"}}`,
	`{"id":"s%[1]d","title":"Rounds","type":"loop","loop":{"type":"until","maxIterations":2,"condition":{"var":"found","equals":true}},"body":[{"id":"b%[1]d","title":"B","prompt":"p"}]}`,
	`{"id":"s%[1]d","title":"Each","type":"loop","loop":{"type":"for","count":2,"maxIterations":2},"body":[{"id":"b%[1]d","title":"B","prompt":"p"}]}`,
	`{"id":"s%[1]d","title":"Deep","prompt":"p","runCondition":{"var":"deep","equals":true}}`,
}

// workflowOf is a workflow of steps of these kinds.
func workflowOf(kinds []int) string {
	steps := make([]string, len(kinds))
	for i, k := range kinds {
		steps[i] = fmt.Sprintf(stepKinds[k], i)
	}
	return `{"id":"test.any","name":"Any","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
}

// requests are what an attempt may send.
var requests = func() []advance.Request {
	object := func(text string) canon.Value {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			panic(err)
		}
		return v
	}
	file := advance.Artifact{ContentType: "text/plain", Bytes: []byte("abc")}
	return []advance.Request{{}, {Notes: "done"}, {Notes: "done", Context: object(`{"ticket":"T-1","found":true}`)},
		{Notes: "done", Context: object(`{"ticket":"T-1","found":true,"deep":true}`)},
		{Notes: "done", Context: object(`{"password":"a","ticket":"T-2","found":true}`), Artifacts: []advance.Artifact{file}},
		{Context: object(`{"apiToken":"` + tokenCanary + `","password":"` + passwordCanary + `","login":{"password":` + pinCanary + `}}`)},
		{Artifacts: []advance.Artifact{advance.JSONArtifact(object(`{"kind":"test.plan","x":1}`)), file}},
		{Context: object(`{"found":false,"ticket":null}`)},
		{Artifacts: []advance.Artifact{advance.JSONArtifact(object(`{"kind":"wr.divergence","reason":"safety_stop","summary":"with ` + tokenCanary + `"}`))}},
		{Notes: "x", Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}}},
		{Notes: "x", Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "guided"}}},
	}
}()

// move is one call of a random session, as data: the same moves can be made again at other times.
type move struct{ kind, which int }

// play makes a move.
func (d *driver) play(m move, durationMs int64) {
	back := d.nodes[m.which%len(d.nodes)]
	switch m.kind {
	case 0, 1, 2:
		d.ack(requests[m.which%len(requests)])
	case 3, 4:
		d.ack(requests[3])
	case 5:
		d.ack(requests[4])
	case 6, 7:
		d.perform(0, durationMs)
	case 8:
		d.perform(int64(m.which%3), durationMs)
	case 9:
		d.decide(event.Approved, "fine with "+tokenCanary)
	case 10:
		d.decide(event.Approved, "")
		d.ack(advance.Request{})
	case 11:
		words := []event.DecisionWord{event.SentBack, event.SentBack, event.Denied}
		d.decide(words[m.which%3], "because of "+passwordCanary)
	case 12:
		d.checkpoint(d.last)
	case 13:
		if m.which%4 == 0 {
			d.ackAt(back, requests[m.which%len(requests)])
		}
	case 14:
		if m.which%9 == 0 {
			d.cancel(m.which%2 == 0)
		}
	case 16:
		d.pause(m.which%2 == 0)
	case 17, 18:
		d.resume()
	case 15:
		if m.which%3 == 0 {
			d.checkpoint(back)
		}
	}
}

// session is a random session: the workflow, how it starts, and what happens.
type session struct {
	workflow string
	start    engine.Start
	moves    []move
}

// drawSession draws one.
func drawSession(t *rapid.T) session {
	kinds := rapid.SliceOfN(rapid.IntRange(0, len(stepKinds)-1), 1, 5).Draw(t, "steps")
	s := session{workflow: workflowOf(kinds), start: engine.Start{Title: "With " + tokenCanary, Tags: []string{"nightly"},
		Options: &event.RunOptions{Metadata: requests[2].Context, Configurable: requests[5].Context}}}
	s.start.Context = rapid.SampledFrom([]canon.Value{{}, requests[5].Context, requests[3].Context}).Draw(t, "context")
	if mode := rapid.SampledFrom([]string{"", "guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"}).Draw(t,
		"autonomy"); mode != "" {
		s.start.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: mode}}
	}
	for range rapid.IntRange(1, 14).Draw(t, "moves") {
		s.moves = append(s.moves, move{rapid.IntRange(0, 18).Draw(t, "kind"), rapid.IntRange(0, 50).Draw(t, "which")})
	}
	return s
}

// run plays a session from a moment, with a time between calls.
func (s session) run(t fails, atMs, stepMs int64, after func(*driver)) *driver {
	d := newDriver(t, s.workflow, s.start, atMs, stepMs)
	after(d)
	for _, m := range s.moves {
		d.play(m, stepMs)
		after(d)
	}
	return d
}

var _ fails = (*testing.T)(nil)
