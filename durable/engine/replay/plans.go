package replay

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// plans has the function that decides each operation again. Hand-overs concern the source alone.
var plans = map[redrive.Operation]func(d *drive, ctx context.Context, in manifest.Segment) (manifest.Plan, bool, error){
	redrive.Start: func(d *drive, ctx context.Context, in manifest.Segment) (manifest.Plan, bool, error) {
		plan, err := d.start(ctx, in)
		return plan, false, err
	},
	redrive.Ack: (*drive).ack, redrive.Checkpoint: (*drive).checkpoint, redrive.Approve: (*drive).approve,
	redrive.Cancel: (*drive).cancel, redrive.Close: (*drive).close, redrive.Turn: (*drive).turn,
	redrive.Pause: holding(advance.Pause), redrive.Resume: holding(advance.Resume), redrive.RunEvent: (*drive).runEvent,
}

// start decides the first segment of the source again, as that of the replay. Who asked for the replay is its actor.
func (d *drive) start(ctx context.Context, in manifest.Segment) (manifest.Plan, error) {
	s, hash := redrive.StartOf(d.at.Session, in.Events)
	w, err := d.e.Workflow(ctx, hash)
	if err != nil {
		return manifest.Plan{}, err
	}
	s.Run, s.Actor, s.ForkedFrom = d.at.Run, d.by, &d.from
	options := event.RunOptions{}
	if s.Options != nil {
		options = *s.Options
	}
	if options.RequestDigest = d.request; options.IsZero() {
		s.Options = nil
	} else {
		s.Options = &options
	}
	plan, _, err := advance.Begin(w, s)
	return plan, err
}

// resolve returns the place in the replay that a node of the source has there; ok is false for one that it does not have.
func (d *drive) resolve(of id.Node) (p session.Resolved, ok bool, err error) {
	node, ok := d.nodes[of]
	if !ok {
		return p, false, nil
	}
	p, err = session.Resolve(d.h.Fold, engine.Position{Session: d.at.Session, Run: d.at.Run, Node: node})
	return p, err == nil, err
}

// artifact reads the bytes of a recorded artifact.
func (d *drive) artifact(ctx context.Context) func(canon.Digest) ([]byte, error) {
	return func(ref canon.Digest) ([]byte, error) { return d.e.Object(ctx, manifest.Artifact, ref) }
}

// ack decides an attempt again. lost: its notes were cut when they were recorded.
func (d *drive) ack(ctx context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	p, ok, err := d.resolve(in.Events[0].Scope.NodeID)
	if !ok || err != nil {
		return plan, false, err
	}
	attempt, lost, err := redrive.AttemptOf(in.Events, d.artifact(ctx))
	if err != nil || lost {
		return plan, lost, err
	}
	// The results of checks state the attempts of the source.
	attempt.ID, attempt.Renamed = p.Node.NextAttempt(), true
	if d.alter != nil {
		d.alter(redrive.Ack, &attempt)
	}
	if err := engine.CheckAttempt(p, attempt.ID); err != nil {
		return plan, false, err
	}
	w, facts, err := d.e.CompleteInputs(ctx, p)
	if err != nil {
		return plan, false, err
	}
	decided, err := advance.Decide(w, facts, attempt)
	return decided.Plan, false, err
}

// checkpoint decides a checkpoint again, at the parent of its node.
func (d *drive) checkpoint(ctx context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	parent, attempt, err := redrive.CheckpointOf(in.Events, d.artifact(ctx))
	if err != nil {
		return plan, false, err
	}
	p, ok, err := d.resolve(parent)
	if !ok || err != nil {
		return plan, false, err
	}
	attempt.ID = engine.NextCheckpoint(p.Node)
	plan, err = d.e.PlanCheckpoint(ctx, p, attempt)
	return plan, false, err
}

// approve makes a person's decision again.
func (d *drive) approve(ctx context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	p, ok, err := d.resolve(in.Events[0].Scope.NodeID)
	if !ok || err != nil {
		return plan, false, err
	}
	given, err := redrive.DecisionOf(in.Events, d.artifact(ctx))
	if err != nil {
		return plan, false, err
	}
	w, facts, err := d.e.CompleteInputs(ctx, p)
	if err != nil {
		return plan, false, err
	}
	plan, err = advance.DecideStep(w, facts, given)
	return plan, false, err
}

// cancel decides a cancellation again.
func (d *drive) cancel(_ context.Context, in manifest.Segment) (manifest.Plan, bool, error) {
	p, err := session.FindRun(d.h.Fold, d.at)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Cancel(engine.EndingOf(p), redrive.CancellationOf(in.Events))
	return plan, false, err
}

// close decides the end of a cancelled run again.
func (d *drive) close(_ context.Context, in manifest.Segment) (manifest.Plan, bool, error) {
	p, err := session.FindRun(d.h.Fold, d.at)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Close(engine.EndingOf(p), in.Events[0].TimestampMs)
	return plan, false, err
}

// holding returns the function that decides a pause again, or its end.
func holding(decide func(advance.PauseFacts, advance.Hold) (manifest.Plan, error)) func(*drive, context.Context,
	manifest.Segment) (manifest.Plan, bool, error) {
	return func(d *drive, _ context.Context, in manifest.Segment) (manifest.Plan, bool, error) {
		p, err := session.FindRun(d.h.Fold, d.at)
		if err != nil {
			return manifest.Plan{}, false, err
		}
		plan, err := decide(pausing.FactsOf(p), redrive.HoldOf(in.Events))
		return plan, false, err
	}
}

// runEvent records a run event again that a test sent.
func (d *drive) runEvent(_ context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	p, ok, err := d.resolve(in.Events[0].Scope.NodeID)
	if !ok || err != nil {
		return plan, false, err
	}
	e, by, atMs := redrive.RunEventOf(in.Events)
	at := event.Scope{RunID: d.at.Run, NodeID: p.Node.ID}
	return advance.NoteRunEvent(d.at.Session, at, p.Fold.Next, e, by, atMs), false, nil
}

// turn counts the refusals of a node again.
func (d *drive) turn(_ context.Context, in manifest.Segment) (plan manifest.Plan, lost bool, err error) {
	p, ok, err := d.resolve(in.Events[0].Scope.NodeID)
	if !ok || err != nil {
		return plan, false, err
	}
	t, verdict := redrive.TurnOf(in.Events)
	return advance.NoteTurn(engine.TurnFactsOf(p, t), t, verdict), false, nil
}

// decoded is a snapshot of a plan.
func decoded(data []byte) (snapshot.State, error) { return snapshot.Decode(data) }
