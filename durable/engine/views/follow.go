package views

import (
	"context"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Follower reads the new events of one run repeatedly. It is for one goroutine
// at a time.
type Follower struct {
	v       *Views
	Session id.Session
	Run     id.Run
	fold    *runs.Fold
	// branches are those of the events before.
	branches *runs.Branches
	// begun is the run when the follower was made.
	begun *runs.Run
	// wholeFold reports that a window of the fold did not suffice.
	wholeFold bool
	// seen is the head behind which events are passed.
	seen manifest.Head
	// annotationsHead is the head behind which annotations are reported.
	annotationsHead manifest.Head
}

// Follow begins to follow a run behind its current events, or from its first event if whole is set. Annotations are reported
// from now on in either case: they are notifications and not part of the run's history (docs/design.md#annotations). Errors:
// RUN_NOT_FOUND, RUN_AMBIGUOUS, SESSION_UNHEALTHY.
func (o *Views) Follow(ctx context.Context, ref string, whole bool) (*Follower, error) {
	found, err := session.Find(ctx, o.r, ref)
	if err != nil {
		return nil, err
	}
	var branches *runs.Branches
	fold, v, err := session.ReadEach(ctx, o.r, found.Session, func() func(event.Event) {
		branches = runs.NewBranches()
		return func(e event.Event) {
			if ofRun(e, found.Run) {
				branches.Mark(&runs.TimelineEntry{}, e)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if run := fold.Runs[found.Run]; run == nil || run.Tip.IsZero() {
		return nil, found.NotRead()
	}
	f := &Follower{v: o, Session: found.Session, Run: found.Run, fold: fold, branches: branches,
		begun: fold.Runs[found.Run], seen: fold.Head}
	if whole {
		f.fold, f.branches, f.seen = runs.NewFold(), runs.NewBranches(), manifest.Head{}
	}
	// An unreadable log of annotations is reported by the first call for them.
	if t, _, err := o.r.Tally(ctx, found.Session); err == nil {
		f.annotationsHead = t.Head
	}
	if v.Damaged() {
		return nil, ports.Unhealthy(manifest.SessionEvents(found.Session), v)
	}
	return f, nil
}

// Fact is one event with its description in words.
type Fact struct {
	Event  event.Event
	Moment runs.TimelineEntry
}

// Next passes the events since the last call, some at a time and each once, and returns how many there were. If
// the log is another history than before, it is reported from its beginning. SESSION_UNHEALTHY for a damaged log,
// after the events of its valid beginning. After an error of session.Unavailable the next call continues.
func (f *Follower) Next(ctx context.Context, each func([]Fact) error) (count int, err error) {
	log := manifest.SessionEvents(f.Session)
	v, err := f.read(ctx, each, &count)
	if errors.Is(err, errAnotherHistory) {
		f.fold, f.seen = runs.NewFold(), manifest.Head{}
		v, err = f.read(ctx, each, &count)
	}
	if errors.Is(err, errMissedNode) {
		f.fold, f.wholeFold = runs.NewFold(), true
		v, err = f.read(ctx, each, &count)
	}
	if err == nil && v.Damaged() {
		err = ports.Unhealthy(log, v)
	}
	return count, err
}

// errAnotherHistory reports a log that does not have the segments that were passed.
var errAnotherHistory = errors.New("the log is another history than before")

// read continues the fold, and passes what is behind f.seen. errAnotherHistory: f.seen is not on the log's chain.
func (f *Follower) read(ctx context.Context, each func([]Fact) error, count *int) (manifest.Verdict, error) {
	return ports.Continue(ctx, f.v.store, ports.ReadRequest{Log: manifest.SessionEvents(f.Session), From: f.fold.Head},
		func(from manifest.Head) ports.Visitor {
			if from.IsZero() {
				f.fold, f.branches = runs.NewFold(), runs.NewBranches()
			}
			var fold ports.Visitor = f.fold
			if !f.wholeFold {
				fold = session.NewWindowed(f.fold)
			}
			met := from == f.seen
			return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
				_ = fold.Visit(seg, head) // always nil
				if f.fold.Missed() {
					return errMissedNode
				}
				if !met {
					f.mark(seg)
					if met = head == f.seen; !met && head.Next >= f.seen.Next {
						return errAnotherHistory
					}
					return nil
				}
				before := f.v.store.Failures()
				facts := f.facts(ctx, seg)
				if err := session.Unavailable(f.v.store, before); err != nil {
					f.fold = runs.NewFold() // the next reading passes the segment
					return err
				}
				f.seen = head
				if *count += len(facts); len(facts) == 0 {
					return nil
				}
				return each(facts)
			})
		})
}

// mark takes the events of a segment that were passed before into account.
func (f *Follower) mark(seg manifest.Segment) {
	for _, e := range seg.Events {
		if ofRun(e, f.Run) {
			f.branches.Mark(&runs.TimelineEntry{}, e)
		}
	}
}

// facts describes the events of a segment that are of the run or of none.
func (f *Follower) facts(ctx context.Context, seg manifest.Segment) []Fact {
	var events []event.Event
	for _, e := range seg.Events {
		if ofRun(e, f.Run) {
			events = append(events, e)
		}
	}
	obs, run := &observer{v: f.v}, f.fold.Runs[f.Run]
	var w compile.View
	if run != nil {
		w, _ = obs.workflow(ctx, run.Started.WorkflowHash) // without it steps have no titles
	}
	moments := runs.Timeline(events, stepInfo(ctx, obs, w, run, events))
	out := make([]Fact, len(moments))
	for i := range moments {
		f.branches.Mark(&moments[i], events[i])
		out[i] = Fact{events[i], moments[i]}
	}
	return out
}

// Ended reports that no events will follow except after a rewind: the run is
// complete at its preferred tip, or closed.
func (f *Follower) Ended(ctx context.Context) (bool, error) {
	run := f.fold.Runs[f.Run]
	if run == nil {
		return false, nil
	}
	if run.Closed != nil {
		return true, nil
	}
	tip := run.Node(run.Tip)
	if tip == nil {
		return false, nil
	}
	s, err := (&observer{v: f.v}).snapshot(ctx, tip.SnapshotRef)
	return s.IsComplete(), err
}

// Reached reports that the run has a status after the events that Next passed last. A run that is complete with open gaps
// is complete. RUN_CLOSED: the run has ended in another way.
func (f *Follower) Reached(ctx context.Context, wanted runs.Status) (bool, error) {
	run := f.fold.Runs[f.Run]
	if run == nil || run.Node(run.Tip) == nil {
		return false, nil // before its first node
	}
	status, err := (&observer{v: f.v}).status(ctx, run)
	if err != nil || status == wanted || wanted == runs.CompleteStatus && status == runs.CompleteWithGaps {
		return err == nil, err
	}
	over, err := f.Ended(ctx)
	if err != nil || !over {
		return false, err
	}
	return false, fault.New(fault.RunClosed, "run %s has ended and is %s: it will not be %s", f.Run,
		strings.ReplaceAll(string(status), "_", " "), wanted).Suggest("Show it with %s.", fault.Command{"runs", "show", f.Run.String()})
}
