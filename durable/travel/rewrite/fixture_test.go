package rewrite_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/yaml"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// rich has something of everything that a log can hold.
const rich = `
id: test.rich
name: Rich
description: Everything that a log can hold.
version: 1.0.0
capabilities: {required: [delegation]}
inputs:
- {contextKey: ticket, reason: needs_user_artifact, description: The ticket.}
conditions:
- {id: go-on, kind: loop_control}
recommendedPreferences: {recommendedAutonomy: guided}
steps:
- {id: plan, title: Plan, prompt: Plan., notesRequired: true, requireConfirmation: {kind: human_approval}}
- id: areas
  title: Areas
  type: loop
  loop: {type: forEach, items: list, maxIterations: 2}
  body:
  - {id: look, title: Look, prompt: Look., runCondition: {var: deep, equals: true}}
  - id: rounds
    title: Rounds
    type: loop
    maxIterations: 2
    while: {kind: condition_ref, conditionId: go-on}
    body:
    - {id: judge, title: Judge, prompt: Judge.}
- {id: last, title: Last, prompt: Say it., requireConfirmation: {kind: human_approval}}
- {id: end, title: End, prompt: End.}
`

var compiled = sync.OnceValues(func() (compile.Compiled, error) {
	v, err := yaml.Parse([]byte(rich))
	if err != nil {
		return compile.Compiled{}, err
	}
	_, c, problems := compile.File("rich.json", source.SourceProject, v.JCS())
	if source.HasErrors(problems) {
		err = fmt.Errorf("%v", problems)
	}
	return c, err
})

// fixture drives sessions as callers do, over a store in memory.
type fixture struct {
	t     testing.TB
	ctx   context.Context
	store *memstore.Store
	g     *engine.Engine
	clock int64
	seeds byte

	text func(string) string // how texts are made from words
}

func newFixture(t testing.TB) *fixture {
	s := memstore.NewDisk(id.Seed{9}).Open(time.Second)
	return &fixture{t: t, ctx: context.Background(), store: s, g: over(s), clock: 1_700_000_000_000,
		text: func(s string) string { return s }}
}

func over(s engine.Store) *engine.Engine { return engine.New(s) }

// replayer makes the decisions of a store again.
func replayer(s engine.Store) *verify.Replayer { return verify.NewReplayer(over(s), s) }

func (w *fixture) by(k event.ActorKind) engine.Caller {
	w.clock += 1000
	return engine.Caller{Actor: event.Actor{Kind: k, Ref: w.text("sam")}, AtMs: w.clock}
}

func (w *fixture) seed() id.Seed { w.seeds++; return id.Seed{w.seeds} }

func parse(s string) canon.Value {
	v, err := canon.Parse([]byte(s))
	if err != nil {
		panic(err)
	}
	return v
}

func artifact(s string) advance.Artifact { return advance.JSONArtifact(parse(s)) }

type idle struct{}

func (idle) Hold(context.Context, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// some returns one of the requests that steps require, or refuse.
func (w *fixture) some(rt *rapid.T) advance.Request {
	capable := artifact(`{"kind":"wr.capability_observation","capability":"delegation","result":"success"}`)
	full := advance.Request{Notes: w.text("done"),
		Context: parse(`{"ticket":"T-1","list":["a","b"],"deep":true,"note":"` + w.text("fine") + `"}`),
		Artifacts: []advance.Artifact{capable,
			artifact(`{"kind":"wr.loop_control","decision":"` + rapid.SampledFrom([]string{"stop", "continue"}).
				Draw(rt, "turn") + `"}`)}}
	switch rapid.IntRange(0, 7).Draw(rt, "request") {
	case 0:
		return advance.Request{}
	case 1:
		return advance.Request{Notes: w.text("not yet"),
			Artifacts: []advance.Artifact{{ContentType: "text/plain", Bytes: []byte(w.text("a file"))},
				artifact(`{"kind":"wr.loop_control"}`)}}
	case 2:
		return advance.Request{Context: parse(`{"ticket":null,"list":["a"]}`),
			Preferences: []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}}}
	case 3:
		full.Artifacts = append(full.Artifacts, artifact(`{"kind":"wr.divergence","reason":"safety_stop","summary":"`+
			w.text("stopped")+`"}`), artifact(`{"a":"`+w.text("json")+`"}`))
		full.Preferences = []event.PreferenceChange{{Key: "riskPolicy", Value: "aggressive"}}
	}
	return full
}

// drive plays one session and returns every session that results from it.
func (w *fixture) drive(rt *rapid.T) (sessions []id.Session) {
	c, err := compiled()
	if err != nil {
		w.t.Fatal(err)
	}
	start := engine.Start{Workflow: c, SourceKind: event.SourceProject, SourceRef: "rich.json", Title: w.text("a walk"),
		Observations: []event.ObservationRecorded{
			{Key: "git_branch", Confidence: "high", Value: event.ObservationValue{Type: "short_string",
				Value: w.text("main")}},
			{Key: "git_branch", Confidence: "low", Value: event.ObservationValue{Type: "short_string",
				Value: w.text("main") + "x"}}}}
	if rapid.Bool().Draw(rt, "never stops") {
		start.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}}
		start.Context = parse(`{"list":["a"],"note":"` + w.text("at first") + `"}`)
	}
	a, err := w.g.Start(w.ctx, w.by(event.Agent), w.seed(), start)
	if err != nil {
		w.t.Fatal(err)
	}
	sessions = append(sessions, a.Session.SessionID)
	seen := []engine.Answer{a}
	for range rapid.IntRange(3, 16).Draw(rt, "moves") {
		next, err := w.move(rt, a, seen)
		if err != nil {
			if !fault.Is(err, fault.ValidationError) && !fault.Is(err, fault.RunClosed) {
				rt.Fatal(err)
			}
			continue
		}
		if a = next; a.Session.SessionID != sessions[len(sessions)-1] {
			sessions, seen = append(sessions, a.Session.SessionID), nil
		}
		seen = append(seen, a)
	}
	return sessions
}

// pause pauses a run, and resumes it.
func (w *fixture) pause(at engine.Position) error {
	x := pausing.New(w.g, w.store)
	_, err := x.Pause(w.ctx, w.by(event.Human), at, pausing.Request{Reason: w.text("for a while"), Drain: w.clock%3 == 0})
	if err == nil {
		_, err = x.Resume(w.ctx, w.by(event.Human), at, pausing.Request{Reason: w.text("it is over")})
	}
	return err
}

// handOver hands a session over, and revokes that.
func (w *fixture) handOver(s id.Session) error {
	x := travel.New(w.g, w.store, nil)
	_, err := x.HandOver(w.ctx, w.by(event.Human), s.String(), w.text("desk"))
	if err == nil {
		_, err = x.Reclaim(w.ctx, w.by(event.Human), s.String())
	}
	return err
}

func (w *fixture) move(rt *rapid.T, a engine.Answer, seen []engine.Answer) (engine.Answer, error) {
	switch rapid.IntRange(0, 14).Draw(rt, "move") {
	case 14:
		return a, w.pause(a.Position())
	case 13:
		return a, w.handOver(a.Session.SessionID)
	case 0:
		if a.CheckpointToken == "" {
			return a, nil
		}
		return w.g.Checkpoint(w.ctx, w.by(event.Agent),
			engine.CheckpointCall{StateToken: a.StateToken, CheckpointToken: a.CheckpointToken,
				Request: advance.Request{Notes: w.text("so far"),
					Artifacts: []advance.Artifact{artifact(`{"kind":"part"}`)}}})
	case 1, 2, 3:
		return w.g.Decide(w.ctx, w.by(event.Human), engine.Approvable{Position: a.Position()}, event.Approved, w.text("good"))
	case 4:
		at := seen[rapid.IntRange(0, len(seen)-1).Draw(rt, "back")]
		return w.g.Continue(w.ctx, w.by(event.Agent), engine.Continue{StateToken: at.StateToken})
	case 5:
		at := seen[rapid.IntRange(0, len(seen)-1).Draw(rt, "fork")]
		from, err := w.g.ForkPoint(w.ctx, at.Position())
		if err != nil {
			return a, err
		}
		return w.g.Fork(w.ctx, w.by(event.Agent), w.seed(), engine.ForkRequest{From: from})
	case 6:
		if rapid.IntRange(0, 4).Draw(rt, "cancel") > 0 {
			return a, nil
		}
		_, err := w.g.Cancel(w.ctx, w.by(event.Human), idle{}, a.Position(),
			engine.CancelRequest{Reason: w.text("enough"), Failed: rapid.Bool().Draw(rt, "failed")})
		return a, err
	case 7:
		if rapid.Bool().Draw(rt, "run event") {
			return a, w.recordRunEvent(a.Position())
		}
		return a, w.endTurn(a.Position(), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "chat"))
	}
	if a.AttemptID.IsZero() {
		return a, nil
	}
	return w.g.Advance(w.ctx, w.by(event.Agent), a.Position(), a.AttemptID, w.some(rt))
}

// endTurn ends a turn at the preferred tip of the run of a position.
func (w *fixture) endTurn(at engine.Position, chat string) error {
	p, err := w.g.NewHistory(at.Session).OpenRun(w.ctx, at)
	if err != nil {
		return err
	}
	at.Node = p.Run.Tip
	_, err = engine.NewTurns(w.g).End(w.ctx, at, p.Run.LastIndex,
		advance.Turn{Client: "codex", Chat: canon.Sum([]byte(chat)), AtMs: w.by(event.Engine).AtMs})
	return err
}

// recordRunEvent records a run event at the preferred tip of the run of a position, unless the run is closed.
func (w *fixture) recordRunEvent(at engine.Position) error {
	h := w.g.NewHistory(at.Session)
	p, err := h.OpenRun(w.ctx, at)
	if err != nil || p.Run.Closed != nil || p.Run.CancelRequested != nil {
		return err
	}
	at.Node = p.Run.Tip
	_, err = w.g.CommitAt(w.ctx, h, at, func(p session.Resolved) (manifest.Plan, error) {
		e := event.RunEventRecorded{Type: "waybill.completion", Payload: canon.OfMembers(canon.Member{Name: "note", Value: canon.OfString(w.text("n"))})}
		by := w.by(event.Agent)
		return advance.NoteRunEvent(at.Session, event.Scope{RunID: at.Run, NodeID: at.Node}, p.Fold.Next, e, by.Actor, by.AtMs), nil
	})
	return err
}

// read returns a log's segments.
func read(t testing.TB, logs ports.Logs, log manifest.Log) []manifest.Segment {
	t.Helper()
	var c collector
	v, err := logs.Read(context.Background(), ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor { return &c })
	if err != nil || v.Health != manifest.Healthy {
		t.Fatalf("%v %+v", err, v)
	}
	return c.all
}

type collector struct{ all []manifest.Segment }

func (c *collector) Visit(seg manifest.Segment, _ manifest.Head) error {
	c.all = append(c.all, seg)
	return nil
}

// copies is a store with one additional log: the bytes of a rewritten one.
type copies struct {
	*memstore.Store
	log      manifest.Log
	manifest []byte
	segments map[string][]byte
}

// Read implements ports.Logs.
func (c *copies) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log.Root != c.log.Root {
		return c.Store.Read(ctx, r, visit)
	}
	var names []string
	for name := range c.segments {
		names = append(names, name)
	}
	return manifest.Read(manifest.Input{Log: r.Log, From: r.From,
		Manifest: bytes.NewReader(c.manifest[r.From.GroupAt:]),
		Names:    func() ([]string, error) { return names, nil },
		Open:     func(name string) ([]byte, bool, error) { b, ok := c.segments[name]; return b, ok, nil }}, visit(r.From).Visit)
}
