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
	r := &replayer{g: g, ctx: ctx, session: at.Session}
	r.Reset()
	v, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(at.Session)}, r)
	switch {
	case errors.Is(err, errDiffers):
	case err != nil:
		return ReplayReport{}, err
	case v.Health != manifest.Healthy:
		return ReplayReport{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	case r.fold.Runs[at.Run] == nil:
		_, err := findRun(r.fold, at)
		return ReplayReport{}, err
	}
	r.report.RunID, r.report.OK = at.Run, r.report.Difference == nil
	return r.report, nil
}

var errDiffers = errors.New("a segment comes out otherwise")

// again is a reading that decides each segment anew over the fold of those before.
type replayer struct {
	g       *Engine
	ctx     context.Context
	session id.Session
	fold    *projections.Fold
	report  ReplayReport
	// without: approvals in front of this event do not count in the decision under way.
	ignoreBefore int64
}

// Reset starts over.
func (a *replayer) Reset() {
	a.fold = projections.NewFold()
	a.report = ReplayReport{SessionID: a.session, Undecided: []int64{}}
}

// Visit decides one more segment.
func (a *replayer) Visit(seg manifest.Segment, head manifest.Head) error {
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
var replayPlans = map[redrive.Operation]func(*replayer, manifest.Segment) (plan manifest.Plan, cut bool, err error){
	redrive.Start:      (*replayer).start,
	redrive.Fork:       (*replayer).fork,
	redrive.Ack:        (*replayer).ack,
	redrive.Checkpoint: (*replayer).checkpoint,
	redrive.Approve:    (*replayer).approve,
	redrive.Cancel:     (*replayer).cancel,
	redrive.Close:      (*replayer).close,
}

// decide compares a segment with what its inputs come to. An error is the world's:
// what the engine refuses now is a difference.
func (a *replayer) decide(seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	plan, ok := replayPlans[redrive.OperationOf(seg.Events)]
	if !ok {
		return redrive.Refused(seg, "no operation of this version records such a segment"), false, nil
	}
	d, cut, err = a.compare(plan, seg)
	if d == nil || cut || err != nil {
		return d, cut, err
	}
	// The session may have been imported before it came here, by a store in which
	// approvals that it brought did not count: up to which event no bundle tells.
	for _, end := range a.importedApprovals(seg) {
		a.ignoreBefore = end
		was, cut, err := a.compare(plan, seg)
		a.ignoreBefore = 0
		if was == nil || cut || err != nil {
			return was, cut, err
		}
	}
	return d, false, nil
}

// approvals are where approvals end that stand at the node of a segment and came with a
// bundle, as the segment did.
func (a *replayer) importedApprovals(seg manifest.Segment) (ends []int64) {
	_, p, err := a.position(seg.Events[0].Scope)
	if err != nil || p.node == nil || p.node.Approvals == 0 {
		return nil
	}
	if foreign, err := a.g.importedSessionEvents(a.ctx, a.session); err != nil || seg.First >= foreign {
		return nil
	}
	for _, o := range p.node.Outputs {
		if o.Payload.ArtifactKind == advance.ApprovalKind {
			ends = append(ends, o.Index+1)
		}
	}
	return ends
}

func (a *replayer) compare(plan func(*replayer, manifest.Segment) (manifest.Plan, bool, error),
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
func (a *replayer) position(s event.Scope) (Position, resolvedPosition, error) {
	at := Position{a.session, s.RunID, s.NodeID}
	p, err := resolvePosition(a.fold, at)
	if err == nil && a.ignoreBefore > 0 {
		n := *p.node
		n.Outputs = slices.DeleteFunc(slices.Clone(n.Outputs), func(o projections.Output) bool {
			return o.Payload.ArtifactKind == advance.ApprovalKind && o.Index < a.ignoreBefore
		})
		p.node = &n
	}
	return at, p, err
}

func (a *replayer) artifact(ref canon.Digest) ([]byte, error) {
	return a.g.Objects.Object(a.ctx, manifest.Artifact, ref)
}

func (a *replayer) start(seg manifest.Segment) (manifest.Plan, bool, error) {
	s, hash := redrive.StartOf(a.session, seg.Events)
	w, err := a.g.workflow(a.ctx, hash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Begin(w, s)
	return plan, false, err
}

func (a *replayer) fork(seg manifest.Segment) (manifest.Plan, bool, error) {
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

func (a *replayer) ack(seg manifest.Segment) (manifest.Plan, bool, error) {
	attempt, cut, err := redrive.AttemptOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	at, p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	if err := checkAttempt(p, attempt.ID); err != nil {
		return manifest.Plan{}, cut, err
	}
	facts, err := a.g.completeFacts(a.ctx, at, p)
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

func (a *replayer) checkpoint(seg manifest.Segment) (manifest.Plan, bool, error) {
	parent, attempt, err := redrive.CheckpointOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	at, p, err := a.position(event.Scope{RunID: seg.Events[0].Scope.RunID, NodeID: parent})
	if err != nil {
		return manifest.Plan{}, false, err
	}
	attempt.ID = nextCheckpoint(p.node)
	plan, err := a.g.planCheckpoint(a.ctx, p, at, attempt)
	return plan, false, err
}

func (a *replayer) approve(seg manifest.Segment) (manifest.Plan, bool, error) {
	given, err := redrive.ApprovalOf(seg.Events, a.artifact)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	at, p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	facts, err := a.g.completeFacts(a.ctx, at, p)
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

func (a *replayer) cancel(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Cancel(endingOf(at, p), redrive.CancellationOf(seg.Events))
	return plan, false, err
}

func (a *replayer) close(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Close(endingOf(at, p), seg.Events[0].TimestampMs)
	return plan, false, err
}

func (a *replayer) runPosition(seg manifest.Segment) (Position, resolvedPosition, error) {
	at := Position{Session: a.session, Run: seg.Events[0].Scope.RunID}
	p, err := findRun(a.fold, at)
	return at, p, err
}
