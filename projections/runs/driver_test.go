package runs_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/projections/runs"
)

// driver runs attempts of a workflow without a store: package advance decides, commit checks and
// folds the plan. The tests of this package build their logs with it.
type driver struct {
	t      testing.TB
	w      compile.Compiled
	fold   *runs.Session
	events []event.Event
	states map[canon.Digest]snapshot.State
	run    id.Run
	clock  int64
}

const gated = `{"id":"test.gated","name":"Gated","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","prompt":"p","validationCriteria":[{"type":"contains","value":"ok","message":"say ok"}]},
 {"id":"two","title":"Two","prompt":"p","inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"the ticket"}]},
 {"id":"three","title":"Three","prompt":"p","notesRequired":true}]}`

func newDriver(t testing.TB, workflowText string) *driver {
	t.Helper()
	_, w, problems := compile.File("test.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	d := &driver{t: t, w: w, fold: runs.NewSession(), states: map[canon.Digest]snapshot.State{},
		run: id.NewRun(id.Seed{2}), clock: 1000}
	plan, _, err := advance.Begin(w, advance.Start{Session: id.NewSession(id.Seed{1}), Run: d.run,
		SourceKind: event.SourceProject,
		SourceRef:  "test.json", Actor: event.Actor{Kind: event.Human}, AtMs: d.clock})
	if err != nil {
		t.Fatal(err)
	}
	d.commit(plan)
	return d
}

// commit checks a plan as a store does and folds it.
func (d *driver) commit(plan manifest.Plan) {
	d.t.Helper()
	if _, err := manifest.EncodeSegment(plan.Log, plan.Events); err != nil {
		d.t.Fatal(err)
	}
	for _, o := range plan.Objects {
		if o.Kind != manifest.Snapshot {
			continue
		}
		s, err := snapshot.Decode(o.Bytes)
		if err != nil {
			d.t.Fatal(err)
		}
		d.states[o.Ref()] = s
	}
	for _, e := range plan.Events {
		d.events = append(d.events, e)
		d.fold.Apply(e)
	}
}

func (d *driver) r() *runs.Run { return d.fold.Runs[d.run] }

func (d *driver) facts(n *runs.Node) advance.Facts {
	session, _ := id.ParseSession(d.fold.ID)
	f := advance.Facts{Session: session, Run: d.run, Node: n.ID, Next: d.fold.Next, State: d.states[n.SnapshotRef],
		Preferences: n.Preferences, Context: n.Context, HasChild: n.AckedChildren > 0}
	for _, g := range n.OpenGaps {
		f.OpenGaps = append(f.OpenGaps, advance.OpenGap{ID: g.ID, Reason: g.Reason, Pointer: g.Pointer,
			Severity: g.Severity})
	}
	for _, o := range n.Outputs {
		f.Outputs = append(f.Outputs, advance.Output{ID: o.ID, Payload: o.Payload})
	}
	return f
}

// try records the next attempt at a node and returns its outcome.
func (d *driver) try(nodeID id.Node, req advance.Request) event.AdvanceOutcome {
	d.t.Helper()
	n := d.r().Node(nodeID)
	d.clock += 10
	plan, err := advance.Decide(d.w, d.facts(n), advance.Attempt{ID: n.NextAttempt(), Request: req,
		Actor: event.Actor{Kind: event.Agent}, AtMs: d.clock})
	if err != nil {
		d.t.Fatal(err)
	}
	d.commit(plan.Plan)
	return plan.Events[0].Data.(event.AdvanceRecorded).Outcome
}

// must advances from a node, or fails the test.
func (d *driver) must(nodeID id.Node, req advance.Request) id.Node {
	d.t.Helper()
	o := d.try(nodeID, req)
	if o.Kind != event.Advanced {
		d.t.Fatalf("blocked: %+v", o.Blockers)
	}
	return *o.ToNodeID
}

func (d *driver) status() runs.Status {
	tip := d.r().Tip
	return d.r().StatusAt(tip, runs.TipState{Complete: d.states[d.r().Node(tip).SnapshotRef].IsComplete()})
}

func notes(format string, args ...any) advance.Request {
	return advance.Request{Notes: fmt.Sprintf(format, args...)}
}

func context(pairs ...string) canon.Value {
	v := canon.OfMembers()
	for i := 0; i < len(pairs); i += 2 {
		v = v.With(pairs[i], canon.OfString(pairs[i+1]))
	}
	return v
}
