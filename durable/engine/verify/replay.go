package verify

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Replayer makes the recorded decisions of a store again.
type Replayer struct {
	e     *engine.Engine
	store ports.Logs
}

// NewReplayer returns the replayer of the store of an engine.
func NewReplayer(e *engine.Engine, s ports.Logs) *Replayer { return &Replayer{e, s} }

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
func (x *Replayer) Replay(ctx context.Context, at engine.Position) (ReplayReport, error) {
	h := x.e.NewHistory(at.Session)
	if _, err := h.OpenRun(ctx, at); err != nil {
		return ReplayReport{}, err
	}
	var r *replay
	v, err := x.store.Read(ctx, ports.ReadRequest{Log: h.Log},
		func(manifest.Head) ports.Visitor {
			r = &replay{e: x.e, session: at.Session, fold: runs.NewFold(),
				report: ReplayReport{SessionID: at.Session, Undecided: []int64{}}}
			return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
				return r.visit(ctx, seg, head)
			})
		})
	switch {
	case errors.Is(err, errDiffers):
	case err != nil:
		return ReplayReport{}, err
	case v.Health != manifest.Healthy:
		return ReplayReport{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	case r.fold.Runs[at.Run] == nil:
		_, err := session.FindRun(r.fold, at)
		return ReplayReport{}, err
	}
	r.report.RunID, r.report.OK = at.Run, r.report.Difference == nil
	return r.report, nil
}

// errDiffers ends the reading at the first difference.
var errDiffers = errors.New("a segment comes out otherwise")

// replay is a visitor that decides each segment over the fold of the segments
// before it.
type replay struct {
	e       *engine.Engine
	session id.Session
	fold    *runs.Fold
	report  ReplayReport
	// ignored hides the approvals in an interval of the log from the current decision.
	ignored imported.Span
	// renamed says of the current decision that results of checks state the attempts of another store.
	renamed bool
	// earlier decides the current attempt as earlier versions did.
	earlier bool
}

// visit compares one segment and then folds the recorded one.
func (a *replay) visit(ctx context.Context, seg manifest.Segment, head manifest.Head) error {
	skipped, err := a.skips(seg)
	if err != nil {
		return err
	}
	if skipped {
		return a.fold.Visit(seg, head)
	}
	// The segment is compared before it is folded: a decision sees the events
	// before it.
	d, cut, err := a.decide(ctx, seg)
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

// skips reports a segment of ignorable events that this version does not know: they decide nothing, and it counts
// neither as equal nor as different. SESSION_UNHEALTHY for any other event that is not known.
func (a *replay) skips(seg manifest.Segment) (bool, error) {
	foreign, ignorable := 0, 0
	for _, e := range seg.Events {
		if e.Foreign() {
			foreign++
			if e.Ignorable {
				ignorable++
			}
		}
	}
	if foreign == 0 || ignorable == len(seg.Events) {
		return foreign > 0, nil
	}
	return false, ports.Unhealthy(manifest.SessionEvents(a.session), manifest.Verdict{Health: manifest.UnknownVersion})
}

// replayPlan decides one operation again. cut reports inputs that are not known
// any more.
type replayPlan func(a *replay, ctx context.Context, seg manifest.Segment) (plan manifest.Plan, cut bool, err error)

// replayPlans has the function that decides each operation again.
var replayPlans = map[redrive.Operation]replayPlan{
	redrive.Start:      (*replay).start,
	redrive.Fork:       (*replay).fork,
	redrive.Ack:        (*replay).ack,
	redrive.Checkpoint: (*replay).checkpoint,
	redrive.Approve:    (*replay).approve,
	redrive.Cancel:     (*replay).cancel,
	redrive.Close:      (*replay).close,
	redrive.Pause:      (*replay).pause,
	redrive.Resume:     (*replay).resume,
	redrive.Turn:       (*replay).turn,
	redrive.RunEvent:   (*replay).runEvent,
	redrive.Depart:     (*replay).depart,
	redrive.HandOver:   (*replay).handOver,
	redrive.Reclaim:    (*replay).reclaim,
}

// decide compares a segment with the result of its inputs. An error is one of
// reading; what the engine refuses now is a difference.
func (a *replay) decide(ctx context.Context, seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	plan, ok := replayPlans[redrive.OperationOf(seg.Events)]
	if !ok {
		return redrive.Refused(seg, "no operation of this version records such a segment"), false, nil
	}
	d, cut, err = a.compare(ctx, plan, seg)
	if d == nil || cut || err != nil {
		return d, cut, err
	}
	if was, cut, err := a.compareEarlier(ctx, plan, seg); was == nil || cut || err != nil {
		return was, cut, err
	}
	// A replay has the results of checks of its source, which state its attempts.
	if run := a.fold.Runs[seg.Events[0].Scope.RunID]; run != nil && run.Started.ForkedFrom.IsReplay() {
		a.renamed = true
		was, cut, err := a.compare(ctx, plan, seg)
		a.renamed = false
		if was == nil || cut || err != nil {
			return was, cut, err
		}
	}
	// The session may have passed through another store by import, where
	// approvals from bundles were ignored. No bundle records which events these
	// were, so each interval of approvals is tried. An import as a new session kept
	// the artifacts, in which results of checks state the attempt.
	for _, ignored := range a.importedApprovals(ctx, seg) {
		a.ignored, a.renamed = ignored, true
		was, cut, err := a.compare(ctx, plan, seg)
		if was != nil && !cut && err == nil {
			was, cut, err = a.compareEarlier(ctx, plan, seg)
		}
		a.ignored, a.renamed = imported.Span{}, false
		if was == nil || cut || err != nil {
			return was, cut, err
		}
	}
	return d, false, nil
}

// compareEarlier compares a segment with what an earlier version records for its inputs.
func (a *replay) compareEarlier(ctx context.Context, plan replayPlan, seg manifest.Segment) (*redrive.Difference, bool,
	error) {
	a.earlier = true
	defer func() { a.earlier = false }()
	return a.compare(ctx, plan, seg)
}

// importedApprovals returns, for the approvals at the node of an imported
// segment, the intervals that another store may have ignored: none of them, then
// each contiguous part, those from the first one on before others. It is empty
// for segments that this store wrote.
func (a *replay) importedApprovals(ctx context.Context, seg manifest.Segment) (ignored []imported.Span) {
	p, err := a.position(seg.Events[0].Scope)
	if err != nil || p.Node == nil {
		return nil
	}
	ledger := a.e.Ledger()
	foreign, err := ledger.ImportedEvents(ctx, manifest.SessionEvents(a.session), ledger.NewVerifiedImports())
	if err != nil || !foreign.Has(seg.First) {
		return nil
	}
	ignored = []imported.Span{{}}
	var at []int64
	for _, o := range p.Node.Outputs {
		if o.IsDecision() && len(at) < ignoredApprovalsMax {
			at = append(at, o.Index)
		}
	}
	for i, from := range at {
		for _, last := range at[i:] {
			ignored = append(ignored, imported.Span{From: from, Events: last + 1})
		}
	}
	return ignored
}

// ignoredApprovalsMax bounds the approvals of one node of which intervals are tried: an attempt is compared once for each.
const ignoredApprovalsMax = 32

// compare runs plan and compares its events with the segment's. A refusal is a
// difference. An erased artifact sets cut: the inputs are incomplete and the
// comparison proves nothing.
func (a *replay) compare(ctx context.Context, plan replayPlan,
	seg manifest.Segment) (d *redrive.Difference, cut bool, err error) {
	now, cut, err := plan(a, ctx, seg)
	// These codes are decisions; any other error is one of reading.
	switch code := fault.CodeOf(err); {
	case code == fault.ValidationError || code == fault.RunClosed || code == fault.RunPaused || code == fault.RunWaiting ||
		code == fault.DecisionRefused || code == fault.PrincipalsUnbound || code == fault.Invariant || code == fault.TokenUnknownNode || code == fault.RunNotFound:
		return redrive.Refused(seg, "it would be refused now: "+fault.Of(err).Message), cut, nil
	case code == fault.ArtifactErased:
		return redrive.Refused(seg, fault.Of(err).Message), true, nil // undecided
	case err != nil:
		return nil, cut, err
	}
	return redrive.Compare(seg, now), cut, nil
}

// position returns the position of a segment's attempt, without the approvals
// that are ignored.
func (a *replay) position(s event.Scope) (session.Resolved, error) {
	at := engine.Position{Session: a.session, Run: s.RunID, Node: s.NodeID}
	p, err := session.Resolve(a.fold, at)
	if err == nil && !a.ignored.IsEmpty() {
		n := *p.Node
		n.Outputs = slices.DeleteFunc(slices.Clone(n.Outputs), func(o runs.Output) bool {
			return o.IsDecision() && a.ignored.Has(o.Index)
		})
		p.Node = &n
	}
	return p, err
}

// artifact reads the bytes of a recorded artifact.
func (a *replay) artifact(ctx context.Context) func(canon.Digest) ([]byte, error) {
	return func(ref canon.Digest) ([]byte, error) { return a.e.Object(ctx, manifest.Artifact, ref) }
}

// start decides the first segment of a started run again.
func (a *replay) start(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	s, hash := redrive.StartOf(a.session, seg.Events)
	w, err := a.e.Workflow(ctx, hash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Begin(w, s)
	return plan, false, err
}

// fork decides the first segment of a forked run again, from the source facts
// that the segment records; the source session is not read.
func (a *replay) fork(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	from, f, ref := redrive.ForkOf(a.session, seg.Events)
	w, err := a.e.Workflow(ctx, from.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	if from.State, err = a.e.State(ctx, &runs.Node{SnapshotRef: ref}); err != nil {
		return manifest.Plan{}, false, err
	}
	plan, _, err := advance.Branch(w, from, f)
	return plan, false, err
}

// ack decides an attempt again. cut reports that its notes were cut when they
// were recorded.
func (a *replay) ack(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	attempt, cut, err := redrive.AttemptOf(seg.Events, a.artifact(ctx))
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	if err := engine.CheckAttempt(p, attempt.ID); err != nil {
		return manifest.Plan{}, cut, err
	}
	w, facts, err := a.e.CompleteInputs(ctx, p)
	if err != nil {
		return manifest.Plan{}, cut, err
	}
	attempt.Renamed, attempt.Earlier = a.renamed, a.earlier
	decided, err := advance.Decide(w, facts, attempt)
	return decided.Plan, cut, err
}

// checkpoint decides a checkpoint again, at the parent of its node.
func (a *replay) checkpoint(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	parent, attempt, err := redrive.CheckpointOf(seg.Events, a.artifact(ctx))
	if err != nil {
		return manifest.Plan{}, false, err
	}
	p, err := a.position(event.Scope{RunID: seg.Events[0].Scope.RunID, NodeID: parent})
	if err != nil {
		return manifest.Plan{}, false, err
	}
	attempt.ID = engine.NextCheckpoint(p.Node)
	plan, err := a.e.PlanCheckpoint(ctx, p, attempt)
	return plan, false, err
}

// approve makes a person's decision again.
func (a *replay) approve(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	given, err := redrive.DecisionOf(seg.Events, a.artifact(ctx))
	if err != nil {
		return manifest.Plan{}, false, err
	}
	p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	w, facts, err := a.e.CompleteInputs(ctx, p)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.DecideStep(w, facts, given)
	return plan, false, err
}

// cancel decides a cancellation again.
func (a *replay) cancel(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Cancel(engine.EndingOf(p), redrive.CancellationOf(seg.Events))
	return plan, false, err
}

// close decides the end of a cancelled run again.
func (a *replay) close(ctx context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	plan, err := advance.Close(engine.EndingOf(p), seg.Events[0].TimestampMs)
	return plan, false, err
}

// turn counts the refusals of a node again.
func (a *replay) turn(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	t, verdict := redrive.TurnOf(seg.Events)
	return advance.NoteTurn(engine.TurnFactsOf(p, t), t, verdict), false, nil
}

// runEvent records a run event again.
func (a *replay) runEvent(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, err := a.position(seg.Events[0].Scope)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	e, by, atMs := redrive.RunEventOf(seg.Events)
	at := event.Scope{RunID: p.At.Run, NodeID: p.Node.ID}
	return advance.NoteRunEvent(p.At.Session, at, p.Fold.Next, e, by, atMs), false, nil
}

// depart records again where a replay departs. The place is an input: the source is another log.
func (a *replay) depart(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	p, err := a.runPosition(seg)
	if err != nil {
		return manifest.Plan{}, false, err
	}
	if !p.Run.Started.ForkedFrom.IsReplay() {
		return manifest.Plan{}, false, nil
	}
	return advance.Depart(advance.DepartFacts{Session: p.At.Session, Run: p.Run.ID, Root: p.Run.Root, Node: p.Run.Tip,
		Next: p.Fold.Next, Source: p.Run.Started.ForkedFrom.RunID}, redrive.DepartureOf(seg.Events)), false, nil
}

// runPosition returns the run of a segment, without a node.
func (a *replay) runPosition(seg manifest.Segment) (session.Resolved, error) {
	at := engine.Position{Session: a.session, Run: seg.Events[0].Scope.RunID}
	return session.FindRun(a.fold, at)
}
