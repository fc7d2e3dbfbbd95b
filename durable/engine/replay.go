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
	"github.com/waybill/waybill/projections/runs"
)

// ReplayReport is the document "replay": whether the recorded inputs of callers
// result in the same events, byte by byte, when they are decided again
// (docs/design.md#ends-and-branches).
type ReplayReport struct {
	RunID     id.Run     `json:"runId"`
	SessionID id.Session `json:"sessionId"`
	OK        bool       `json:"ok"`
	// Segments counts those with the same result.
	Segments int64 `json:"segments"`
	// Events counts the events in these segments.
	Events int64 `json:"events"`
	// Undecided are segments, by their first event index, whose original inputs
	// are not known any more: notes that were cut when they were recorded, or
	// an erased artifact. They count neither as equal nor as different.
	Undecided []int64 `json:"undecided"`
	// Difference is the first one; null without any.
	Difference *redrive.Difference `json:"difference"`
}

// Replay decides every segment in the session of a run again, in memory, from
// the recorded inputs, and stops at the first difference. It appends nothing.
// The session must be healthy: SESSION_UNHEALTHY otherwise. Objects that cannot
// be read are errors, RUN_NOT_FOUND is an unknown run.
func (g *Engine) Replay(ctx context.Context, at Position) (ReplayReport, error) {
	if _, err := g.openRun(ctx, at, runs.NewFold()); err != nil {
		return ReplayReport{}, err
	}
	r := &replayer{g: g, ctx: ctx, session: at.Session}
	r.Reset()
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(at.Session)}, r)
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

// errDiffers ends the reading at the first difference.
var errDiffers = errors.New("a segment comes out otherwise")

// replayer is a visitor that decides each segment over the fold of the segments
// before it.
type replayer struct {
	g       *Engine
	ctx     context.Context
	session id.Session
	fold    *runs.Fold
	report  ReplayReport
	// ignoreBefore hides approvals with a smaller event index from the current
	// decision; 0 hides none.
	ignoreBefore int64
}

// Reset implements ports.Visitor.
func (a *replayer) Reset() {
	a.fold = runs.NewFold()
	a.report = ReplayReport{SessionID: a.session, Undecided: []int64{}}
}

// Visit implements ports.Visitor. It compares one segment and then folds the
// recorded one.
func (a *replayer) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if e.Foreign() {
			return ports.Unhealthy(manifest.SessionEvents(a.session), manifest.Verdict{Health: manifest.UnknownVersion})
		}
	}
	// The segment is compared before it is folded: a decision sees the events
	// before it.
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

// replayPlans has the function that decides each operation again.
var replayPlans = map[redrive.Operation]func(*replayer, manifest.Segment) (plan manifest.Plan, cut bool, err error){
	redrive.Start:      (*replayer).start,
	redrive.Fork:       (*replayer).fork,
	redrive.Ack:        (*replayer).ack,
	redrive.Checkpoint: (*replayer).checkpoint,
	redrive.Approve:    (*replayer).approve,
	redrive.Cancel:     (*replayer).cancel,
	redrive.Close:      (*replayer).close,
}

// decide compares a segment with the result of its inputs. An error is one of
// reading; what the engine refuses now is a difference.
func (a *replayer) decide(seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	plan, ok := replayPlans[redrive.OperationOf(seg.Events)]
	if !ok {
		return redrive.Refused(seg, "no operation of this version records such a segment"), false, nil
	}
	d, cut, err = a.compare(plan, seg)
	if d == nil || cut || err != nil {
		return d, cut, err
	}
	// The session may have passed through another store by import, where
	// approvals from bundles were ignored. No bundle records up to which event,
	// so each approval is tried as that bound.
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

// importedApprovals returns, for the approvals at the node of an imported
// segment, the index behind each one. It is empty for segments that this store
// wrote.
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

// compare runs plan and compares its events with the segment's. A refusal is a
// difference. An erased artifact sets cut: the inputs are incomplete and the
// comparison proves nothing.
func (a *replayer) compare(plan func(*replayer, manifest.Segment) (manifest.Plan, bool, error),
	seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	now, cut, err := plan(a, seg)
	// These codes are decisions; any other error is one of reading.
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

// position returns the position of a segment's attempt, without the approvals
// that ignoreBefore hides.
func (a *replayer) position(s event.Scope) (Position, resolvedPosition, error) {
	at := Position{a.session, s.RunID, s.NodeID}
	p, err := resolvePosition(a.fold, at)
	if err == nil && a.ignoreBefore > 0 {
		n := *p.node
		n.Outputs = slices.DeleteFunc(slices.Clone(n.Outputs), func(o runs.Output) bool {
			return o.Payload.ArtifactKind == advance.ApprovalKind && o.Index < a.ignoreBefore
		})
		p.node = &n
	}
	return at, p, err
}

// artifact reads the bytes of a recorded artifact.
func (a *replayer) artifact(ref canon.Digest) ([]byte, error) {
	return a.g.Objects.Object(a.ctx, manifest.Artifact, ref)
}

// start decides the first segment of a started run again.
func (a *replayer) start(seg manifest.Segment) (manifest.Plan, bool, error) {
	s, hash := redrive.StartOf(a.session, seg.Events)
	w, err := a.g.workflow(a.ctx, hash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Begin(w, s)
	return plan, false, err
}

// fork decides the first segment of a forked run again, from the source facts
// that the segment records; the source session is not read.
func (a *replayer) fork(seg manifest.Segment) (manifest.Plan, bool, error) {
	from, f, ref := redrive.ForkOf(a.session, seg.Events)
	w, err := a.g.workflow(a.ctx, from.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	if from.State, err = a.g.state(a.ctx, &runs.Node{SnapshotRef: ref}); err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Branch(w, from, f)
	return plan, false, err
}

// ack decides an attempt again. cut reports that its notes were cut when they
// were recorded.
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

// checkpoint decides a checkpoint again, at the parent of its node.
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

// approve decides an approval again.
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

// cancel decides a cancellation again.
func (a *replayer) cancel(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Cancel(endingOf(at, p), redrive.CancellationOf(seg.Events))
	return plan, false, err
}

// close decides the end of a cancelled run again.
func (a *replayer) close(seg manifest.Segment) (manifest.Plan, bool, error) {
	at, p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Close(endingOf(at, p), seg.Events[0].TimestampMs)
	return plan, false, err
}

// runPosition returns the run of a segment, without a node.
func (a *replayer) runPosition(seg manifest.Segment) (Position, resolvedPosition, error) {
	at := Position{Session: a.session, Run: seg.Events[0].Scope.RunID}
	p, err := findRun(a.fold, at)
	return at, p, err
}
