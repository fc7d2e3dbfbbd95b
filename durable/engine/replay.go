package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// ReplayReport is the document "replay": whether what callers sent comes to the
// same events, byte by byte, when it is decided once more (R23).
type ReplayReport struct {
	RunID     id.Run     `json:"runId"`
	SessionID id.Session `json:"sessionId"`
	OK        bool       `json:"ok"`
	Segments  int64      `json:"segments"` // that came out the same
	Events    int64      `json:"events"`   // in these
	// Undecided are attempts, by the index of their first event, of which it is not
	// known any more what they were held against: notes that are kept cut and make the
	// difference, or an artifact that was erased. They count as neither.
	Undecided  []int64             `json:"undecided"`
	Difference *redrive.Difference `json:"difference"` // the first one; null: none
}

// Replay decides everything in the session of a run once more, in memory, from what
// is on record of each call, and stops at the first difference. It writes nothing.
// The session must be healthy; objects that cannot be read are errors.
func (g *Engine) Replay(ctx context.Context, at Position) (ReplayReport, error) {
	if _, err := g.openRun(ctx, at, projections.NewFold()); err != nil {
		return ReplayReport{}, err
	}
	again := &again{g: g, ctx: ctx, session: at.Session}
	again.Reset()
	v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(at.Session)}, again)
	switch {
	case errors.Is(err, errDiffers):
	case err != nil:
		return ReplayReport{}, err
	case v.Health != manifest.Healthy:
		return ReplayReport{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	case again.fold.Runs[at.Run] == nil:
		_, err := findRun(again.fold, at)
		return ReplayReport{}, err
	}
	again.report.RunID, again.report.OK = at.Run, again.report.Difference == nil
	return again.report, nil
}

var errDiffers = errors.New("a segment comes out otherwise")

// again is a reading that decides each segment anew over the fold of those before.
type again struct {
	g       *Engine
	ctx     context.Context
	session id.Session
	fold    *projections.Fold
	report  ReplayReport
	// without: approvals in front of this event do not count in the decision under way.
	without int64
}

// Reset starts over.
func (a *again) Reset() {
	a.fold = projections.NewFold()
	a.report = ReplayReport{SessionID: a.session, Undecided: []int64{}}
}

// Visit decides one more segment.
func (a *again) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if e.Foreign() {
			return ports.Unhealthy(manifest.SessionEvents(a.session), manifest.Verdict{Health: manifest.UnknownVersion})
		}
	}
	d, cut, err := a.decide(seg)
	switch {
	case err != nil:
		return err
	case d != nil && !cut:
		a.report.Difference = d
		return errDiffers
	case d != nil:
		a.report.Undecided = append(a.report.Undecided, seg.First)
	default:
		a.report.Segments++
		a.report.Events += int64(len(seg.Events))
	}
	return a.fold.Visit(seg, head)
}

// redriven is how each operation is decided once more.
var redriven = map[redrive.Operation]func(*again, manifest.Segment) (plan manifest.Plan, cut bool, err error){
	redrive.Start:      (*again).start,
	redrive.Fork:       (*again).fork,
	redrive.Ack:        (*again).ack,
	redrive.Checkpoint: (*again).checkpoint,
	redrive.Approve:    (*again).approve,
	redrive.Cancel:     (*again).cancel,
	redrive.Close:      (*again).close,
}

// decide compares a segment with what its inputs come to. An error is the world's:
// what the engine refuses now is a difference.
func (a *again) decide(seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	plan, ok := redriven[redrive.OperationOf(seg.Events)]
	if !ok {
		return redrive.Refused(seg, "no operation of this version records such a segment"), false, nil
	}
	d, cut, err = a.compare(plan, seg)
	if d == nil || cut || err != nil {
		return d, cut, err
	}
	// The session may have been imported before it came here, by a store in which
	// approvals that it brought did not count: up to which event no bundle tells.
	for _, end := range a.approvals(seg) {
		a.without = end
		was, cut, err := a.compare(plan, seg)
		a.without = 0
		if was == nil || cut || err != nil {
			return was, cut, err
		}
	}
	return d, false, nil
}

// approvals are where approvals end that stand at the node of a segment and came with a
// bundle, as the segment did.
func (a *again) approvals(seg manifest.Segment) (ends []int64) {
	_, p, err := a.at(seg.Events[0].Scope)
	if err != nil || p.node == nil || p.node.Approvals == 0 {
		return nil
	}
	if foreign, err := a.g.broughtIn(a.ctx, a.session); err != nil || seg.First >= foreign {
		return nil
	}
	for _, o := range p.node.Outputs {
		if o.Payload.ArtifactKind == advance.ApprovalKind {
			ends = append(ends, o.Index+1)
		}
	}
	return ends
}

func (a *again) compare(plan func(*again, manifest.Segment) (manifest.Plan, bool, error),
	seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	now, cut, err := plan(a, seg)
	switch code := fault.CodeOf(err); {
	case code == fault.ValidationError || code == fault.RunClosed || code == fault.RunWaiting ||
		code == fault.Invariant || code == fault.TokenUnknownNode || code == fault.RunNotFound:
		return redrive.Refused(seg, "it would be refused now: "+fault.Of(err).Message), cut, nil
	case code == fault.ArtifactErased:
		return redrive.Refused(seg, fault.Of(err).Message), true, nil // undecided
	case err != nil:
		return nil, cut, err
	}
	return redrive.Compare(seg, now), cut, nil
}

// at is the position that a segment's attempt is made at.
func (a *again) at(s event.Scope) (Position, place, error) {
	at := Position{a.session, s.RunID, s.NodeID}
	p, err := find(a.fold, at)
	if err == nil && a.without > 0 {
		n := *p.node
		n.Outputs = slices.DeleteFunc(slices.Clone(n.Outputs), func(o projections.Output) bool {
			return o.Payload.ArtifactKind == advance.ApprovalKind && o.Index < a.without
		})
		p.node = &n
	}
	return at, p, err
}

func (a *again) artifact(ref canon.Digest) ([]byte, error) {
	return a.g.Objects.Object(a.ctx, manifest.Artifact, ref)
}

func (a *again) start(seg manifest.Segment) (manifest.Plan, bool, error) {
	s, hash := redrive.StartOf(a.session, seg.Events)
	w, err := a.g.workflow(a.ctx, hash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Begin(w, s)
	return plan, false, err
}

func (a *again) fork(seg manifest.Segment) (manifest.Plan, bool, error) {
	from, f, ref := redrive.ForkOf(a.session, seg.Events)
	w, err := a.g.workflow(a.ctx, from.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	if from.State, err = a.g.state(a.ctx, &projections.Node{SnapshotRef: ref}); err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Branch(w, from, f)
	return plan, false, err
}

func (a *again) ack(seg manifest.Segment) (manifest.Plan, bool, error) {
	attempt, cut, err := redrive.AttemptOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	at, p, err := a.at(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	if err := mayAttempt(p, attempt.ID); err != nil {
		return manifest.Plan{}, cut, err
	}
	facts, err := a.g.wholeFacts(a.ctx, at, p)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	w, err := a.g.workflow(a.ctx, p.run.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	decided, err := advance.Decide(w, facts, attempt)
	return decided.Plan, cut, err
}

func (a *again) checkpoint(seg manifest.Segment) (manifest.Plan, bool, error) {
	parent, attempt, err := redrive.CheckpointOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	at, p, err := a.at(event.Scope{RunID: seg.Events[0].Scope.RunID, NodeID: parent})
	if err != nil {
		return manifest.Plan{}, false, err
	}
	attempt.ID = nextCheckpoint(p.node)
	plan, err := a.g.planCheckpoint(a.ctx, p, at, attempt)
	return plan, false, err
}

func (a *again) approve(seg manifest.Segment) (manifest.Plan, bool, error) {
	given, err := redrive.ApprovalOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	at, p, err := a.at(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	facts, err := a.g.wholeFacts(a.ctx, at, p)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	w, err := a.g.workflow(a.ctx, p.run.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Approve(w, facts, given)
	return plan, false, err
}

func (a *again) cancel(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.run(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Cancel(ending(at, p), redrive.CancellationOf(seg.Events))
	return plan, false, err
}

func (a *again) close(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.run(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Close(ending(at, p), seg.Events[0].TimestampMs)
	return plan, false, err
}

func (a *again) run(seg manifest.Segment) (Position, place, error) {
	at := Position{Session: a.session, Run: seg.Events[0].Scope.RunID}
	p, err := findRun(a.fold, at)
	return at, p, err
}
