package projections

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// AnnotationState is the closed set of what became of an annotation (R28).
type AnnotationState string

// The states.
const (
	AnnotationCurrent    AnnotationState = "current"
	AnnotationSuperseded AnnotationState = "superseded" // another stands in its place
	AnnotationRetracted  AnnotationState = "retracted"  // somebody took it back
)

// AnnotationEntry is one annotation and what later records made of it.
type AnnotationEntry struct {
	feedback.Annotation
	About   feedback.About
	State   AnnotationState
	AtMs    int64
	EventID id.Event // of the line; zero where its spelling is not ours
	Index   int64    // of the line in the log
}

// Annotations folds the annotations of a session, all of them: nobody can tell what is
// current without what supersedes and retracts it.
type Annotations struct {
	Entries []AnnotationEntry // in the order of the log
	Head    manifest.Head
	// Passed is how many lines say nothing here: of kinds and shapes that this version
	// does not read, or of an annotation that already stands.
	Passed int64

	at   map[id.Annotation]int
	runs map[id.Run][]int
}

// NewAnnotations starts with an empty log.
func NewAnnotations() *Annotations {
	a := &Annotations{}
	a.Reset()
	return a
}

// Reset implements ports.Visitor.
func (a *Annotations) Reset() {
	*a = Annotations{at: map[id.Annotation]int{}, runs: map[id.Run][]int{}}
}

// Visit implements ports.Visitor. It never fails: what a line says that cannot be read
// is for the log's verdict to tell. Data that can be read counts whoever wrote the line,
// so that what somebody took back with a later version is not shown by this one.
func (a *Annotations) Visit(seg manifest.Segment, head manifest.Head) error {
	a.Head = head
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case feedback.Recorded:
			a.record(e, p)
		case feedback.Retracted:
			a.retract(e.Scope.RunID, p)
		default:
			a.Passed++
		}
	}
	return nil
}

func (a *Annotations) record(e event.Event, p feedback.Recorded) {
	wire, about, ok := feedback.Of(e)
	if _, twice := a.at[p.AnnotationID]; twice || !ok {
		a.Passed++
		return
	}
	if old := a.of(e.Scope.RunID, p.SupersedesAnnotationID); old != nil && old.State == AnnotationCurrent {
		old.State, old.About.SupersededBy = AnnotationSuperseded, p.AnnotationID
	}
	at := len(a.Entries)
	a.at[p.AnnotationID] = at
	a.runs[e.Scope.RunID] = append(a.runs[e.Scope.RunID], at)
	a.Entries = append(a.Entries, AnnotationEntry{Annotation: wire, About: about, State: AnnotationCurrent,
		AtMs: e.TimestampMs, EventID: e.ID, Index: e.Index})
}

// retract hides an annotation, a superseded one too. What it superseded itself does not
// come back: whoever took the newer one back did not say that the older one is right.
func (a *Annotations) retract(run id.Run, p feedback.Retracted) {
	old := a.of(run, p.AnnotationID)
	if old == nil || old.State == AnnotationRetracted {
		a.Passed++
		return
	}
	old.State, old.About.Retracted, old.About.RetractedReason = AnnotationRetracted, true, p.Reason
}

// of is the entry of an annotation of the run, nil where the run has none of that id.
func (a *Annotations) of(run id.Run, name id.Annotation) *AnnotationEntry {
	at, ok := a.at[name]
	if !ok || a.Entries[at].Target.RunID != run {
		return nil
	}
	return &a.Entries[at]
}

// Find is the entry of an annotation, whatever became of it.
func (a *Annotations) Find(name id.Annotation) (entry AnnotationEntry, ok bool) {
	at, ok := a.at[name]
	if ok {
		entry = a.Entries[at]
	}
	return entry, ok
}

// Current lists what stands of a run's annotations, in the order of the log.
func (a *Annotations) Current(run id.Run) (out []AnnotationEntry) {
	for _, at := range a.runs[run] {
		if e := a.Entries[at]; e.State == AnnotationCurrent {
			out = append(out, e)
		}
	}
	return out
}

// History lists all annotations of a run, in the order of the log.
func (a *Annotations) History(run id.Run) (out []AnnotationEntry) {
	for _, at := range a.runs[run] {
		out = append(out, a.Entries[at])
	}
	return out
}
