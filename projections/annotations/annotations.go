// Package annotations folds the annotations of a session into current, superseded and retracted
// ones (Log), and their sums by run and by workflow (Sums, Tally). See docs/design.md#annotations.
//
// A saved Tally equals, after loading, a fold of the whole log. The package knows no runs: the
// caller supplies which workflow a run belongs to.
package annotations

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// State is the closed set of states of an annotation (docs/design.md#annotations).
type State string

// The annotation states. An annotation starts as current and never returns to an earlier state.
const (
	Current    State = "current"
	Superseded State = "superseded" // a newer annotation replaces it
	Retracted  State = "retracted"  // withdrawn by a retraction record
)

// Entry is one annotation with the state that later records of the log gave it.
type Entry struct {
	feedback.Annotation
	Details feedback.Details // details of the record, with what superseded or retracted it
	State   State
	AtMs    int64    // when it was recorded, in milliseconds since 1970 UTC
	EventID id.Event // of the recording event; zero where the stored id has another program's form
	Index   int64    // event index of the recording event
}

// Log folds the annotations log of one session. The whole log has to be visited: an
// annotation is current only if no later record supersedes or retracts it.
type Log struct {
	Entries []Entry // in the order of the log
	Head    manifest.Head
	// Skipped counts the records that had no effect: kinds and forms that this version does not
	// read, a second record of an annotation, and retractions of one that is unknown or retracted
	// already.
	Skipped int64

	// Indices into Entries, by annotation and by run.
	at   map[id.Annotation]int
	runs map[id.Run][]int
}

// NewLog returns the fold of an empty log.
func NewLog() *Log { return &Log{at: map[id.Annotation]int{}, runs: map[id.Run][]int{}} }

// Visit implements ports.Visitor. It never returns an error: records that cannot be read are
// reported by the log's verdict. A record of any program counts if its data can be read; otherwise
// an annotation that a later version retracted would be shown as current here.
func (a *Log) Visit(seg manifest.Segment, head manifest.Head) error {
	a.Head = head
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case feedback.Recorded:
			a.record(e, p)
		case feedback.Retracted:
			a.retract(e.Scope.RunID, p)
		default:
			a.Skipped++
		}
	}
	return nil
}

// record adds an annotation and marks the one that it supersedes, if that one is current. Of two
// records with one id the first counts.
func (a *Log) record(e event.Event, p feedback.Recorded) {
	wire, about, ok := feedback.AnnotationOf(e)
	if _, exists := a.at[p.AnnotationID]; exists || !ok {
		a.Skipped++
		return
	}
	if old := a.entry(e.Scope.RunID, p.SupersedesAnnotationID); old != nil && old.State == Current {
		old.State, old.Details.SupersededBy = Superseded, p.AnnotationID
	}
	at := len(a.Entries)
	a.at[p.AnnotationID] = at
	a.runs[e.Scope.RunID] = append(a.runs[e.Scope.RunID], at)
	a.Entries = append(a.Entries, Entry{Annotation: wire, Details: about, State: Current,
		AtMs: e.TimestampMs, EventID: e.ID, Index: e.Index})
}

// retract marks an annotation as retracted, a superseded one too. An annotation that it superseded
// does not become current again: retracting the newer one does not confirm the older one.
func (a *Log) retract(run id.Run, p feedback.Retracted) {
	old := a.entry(run, p.AnnotationID)
	if old == nil || old.State == Retracted {
		a.Skipped++
		return
	}
	old.State, old.Details.Retracted, old.Details.RetractedReason = Retracted, true, p.ShownReason()
}

// entry returns the entry of an annotation of the run, nil if the run has no annotation of that id.
// Records of one run therefore cannot change annotations of another.
func (a *Log) entry(run id.Run, name id.Annotation) *Entry {
	at, ok := a.at[name]
	if !ok || a.Entries[at].Target.RunID != run {
		return nil
	}
	return &a.Entries[at]
}

// Find returns the entry of an annotation in any state; ok is false if the log has none of that id.
func (a *Log) Find(name id.Annotation) (entry Entry, ok bool) {
	at, ok := a.at[name]
	if ok {
		entry = a.Entries[at]
	}
	return entry, ok
}

// Current lists the current annotations of a run, in the order of the log.
func (a *Log) Current(run id.Run) []Entry {
	return slices.DeleteFunc(a.History(run), func(e Entry) bool { return e.State != Current })
}

// History lists all annotations of a run in any state, in the order of the log.
func (a *Log) History(run id.Run) (out []Entry) {
	for _, at := range a.runs[run] {
		out = append(out, a.Entries[at])
	}
	return out
}
