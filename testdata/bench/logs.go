package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/big"
)

var agent = event.Actor{Kind: event.Agent}

// appender commits plans of one shape: 3 events and a new snapshot.
type appender struct {
	store   ports.Logs
	locks   ports.Locks
	session id.Session
	run     id.Run
	node    id.Node
	hash    canon.Digest
	head    manifest.Head
	n       int
	brief   bool // appends carry one
}

func newAppender(s interface {
	ports.Logs
	ports.Locks
}) (*appender, error) {
	w, err := big.Workflow()
	if err != nil {
		return nil, err
	}
	a := &appender{store: s, locks: s, session: id.NewSession(id.Seed{1}), run: id.NewRun(id.Seed{1}), hash: w.Hash()}
	a.node = id.RootNode(a.run)
	plan, _, err := advance.Begin(w, advance.Start{Session: a.session, Run: a.run, SourceKind: event.SourceProject,
		SourceRef: "w.json", Actor: agent, AtMs: 1})
	if err != nil {
		return nil, err
	}
	return a, a.commit(plan)
}

func (a *appender) commit(p manifest.Plan) error {
	return ports.WithHealthySession(context.Background(), a.locks, a.store, p.Log, a.head, ports.Skip,
		func(w ports.Witness, _ manifest.Verdict) (err error) {
			a.head, err = a.store.Append(context.Background(), w, a.head, p)
			return err
		})
}

// plan is an advance as a linear run makes it: recorded, a node with a snapshot
// that is new to the store, an edge.
func (a *appender) plan() (manifest.Plan, error) {
	a.n++
	log := manifest.SessionEvents(a.session)
	parent := a.node
	attempt := id.NextAttempt(parent, id.OpAck, 0)
	child := id.ChildNode(parent, attempt, id.OpAck)
	_, state := big.State(int64(a.n))
	data, err := state.Encode()
	if err != nil {
		return manifest.Plan{}, err
	}
	o := manifest.Object{Kind: manifest.Snapshot, Bytes: data}
	at, next := event.Scope{RunID: a.run, NodeID: parent}, a.head.Next
	add := func(i int64, sc event.Scope, p event.Payload) event.Event {
		return event.New(log.Owner, next+i, sc, agent, int64(a.n), p)
	}
	recorded := add(0, at, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
		Outcome: event.AdvancedTo(child), RequestDigest: canon.Sum(nil)})
	events := []event.Event{recorded,
		add(1, event.Scope{RunID: a.run, NodeID: child},
			event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &parent, SnapshotRef: o.Ref(),
				WorkflowHash: a.hash}),
		add(2, event.Scope{RunID: a.run}, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: parent,
			ToNodeID: child,
			Cause:    event.Cause{EventID: recorded.ID, Kind: event.IntentionalFork}})}
	a.node = child
	p := manifest.Plan{Log: log, Events: events, Objects: []manifest.Object{o}}
	if a.brief {
		p.Brief = &manifest.Brief{Runs: []manifest.BriefRun{{ID: a.run, LastAtMs: int64(a.n), LastIndex: next + 2, Open: true,
			States: []string{"in_progress"}, Workflow: "bench.big", Branches: []string{"main"}, Data: strings.Repeat("x", briefBytes)}}}
	}
	return p, nil
}

// briefBytes is about what a brief has of a run.
const briefBytes = 320

func (a *appender) append() error {
	p, err := a.plan()
	if err != nil {
		return err
	}
	return a.commit(p)
}

// linear compiles a workflow of n person steps.
func linear(n int) (compile.Compiled, error) {
	src := `{"id":"bench.linear","name":"Linear","description":"d","version":"1.0.0","steps":[`
	for i := range n {
		if i > 0 {
			src += ","
		}
		src += fmt.Sprintf(`{"id":"step-%d","title":"Step %d","prompt":"Do it."}`, i, i)
	}
	_, w, problems := compile.File("bench.json", source.SourceProject, []byte(src+"]}"))
	if source.HasErrors(problems) {
		return w, fmt.Errorf("%v", problems)
	}
	return w, nil
}

func open(dir string) (*filestore.Store, error) {
	return filestore.OpenDir(dir, filestore.Options{LockWait: 2 * time.Second})
}

// run is a run of the engine in this process.
type engineRun struct {
	g *engine.Engine
	a engine.Answer
	n int64
}

func newEngineRun(s *filestore.Store, w compile.Compiled, seed byte) (*engineRun, error) {
	r := &engineRun{g: engine.New(s)}
	a, err := r.g.Start(context.Background(), r.by(), id.Seed{seed},
		engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "bench.json"})
	r.a = a
	return r, err
}

func (r *engineRun) by() engine.Caller { r.n++; return engine.Caller{Actor: agent, AtMs: r.n} }

func (r *engineRun) step() (err error) {
	r.a, err = r.g.Advance(context.Background(), r.by(), r.a.Position(), r.a.AttemptID, advance.Request{})
	return err
}
