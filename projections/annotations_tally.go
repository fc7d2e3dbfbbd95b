package projections

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// AnnotationTally counts the current annotations of each run of a session. Unlike
// Annotations it can be saved and gone on with, so that a summary of many sessions does
// not read every annotation that was ever made. What is saved are sums: whoever takes an
// annotation out of them has to have visited it.
type AnnotationTally struct {
	Head manifest.Head              // the prefix of the log that Runs are the sums of
	Runs map[id.Run]*AnnotationSums // runs with current annotations

	loaded bool // what lies before the first visit was not seen
	missed bool
	known  map[id.Annotation]*tallied
}

// tallied is what taking an annotation out of the sums takes.
type tallied struct {
	run     id.Run
	signal  feedback.Signal // without its correction
	unnamed bool            // its label was not counted by its name
	current bool
}

// AnnotationTallyFormat is that of Save; a change of it is another file (R11).
const AnnotationTallyFormat = 1

// NewAnnotationTally is the tally of an empty log.
func NewAnnotationTally() *AnnotationTally {
	t := &AnnotationTally{}
	t.Reset()
	return t
}

// Reset implements ports.Visitor.
func (t *AnnotationTally) Reset() {
	*t = AnnotationTally{Runs: map[id.Run]*AnnotationSums{}, known: map[id.Annotation]*tallied{}}
}

// Visit implements ports.Visitor, from Head on. It counts as Annotations does, as long as
// no annotation is recorded twice: no writer does that, and a second one behind the head
// that was loaded is not known as such.
func (t *AnnotationTally) Visit(seg manifest.Segment, head manifest.Head) error {
	t.Head = head
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case feedback.Recorded:
			t.record(e, p)
		case feedback.Retracted:
			t.takeOut(e.Scope.RunID, p.AnnotationID)
		}
	}
	return nil
}

// Missed reports that a record was met about an annotation that lies before what was
// visited, so that the sums are wrong: whoever asks for them has to Reset and read all.
func (t *AnnotationTally) Missed() bool { return t.missed }

// Of is the sums of a run as they are now, zero where it has no annotations.
func (t *AnnotationTally) Of(run id.Run) AnnotationSums {
	if t.Runs[run] == nil {
		return AnnotationSums{}
	}
	sums := *t.Runs[run]
	sums.Labels = maps.Clone(sums.Labels)
	return sums
}

func (t *AnnotationTally) record(e event.Event, p feedback.Recorded) {
	if t.known[p.AnnotationID] != nil {
		return // the first one stands, as in Annotations
	}
	run := e.Scope.RunID
	if !p.SupersedesAnnotationID.IsZero() {
		t.takeOut(run, p.SupersedesAnnotationID)
	}
	if t.Runs[run] == nil {
		t.Runs[run] = &AnnotationSums{}
	}
	signal := p.Signal
	signal.Correction = "" // long, and only counted
	t.known[p.AnnotationID] = &tallied{run: run, signal: signal, unnamed: t.Runs[run].add(signal), current: true}
}

// takeOut no longer counts an annotation of the run.
func (t *AnnotationTally) takeOut(run id.Run, name id.Annotation) {
	old := t.known[name]
	if old == nil {
		t.missed = t.missed || t.loaded
		return
	}
	if old.run != run || !old.current {
		return
	}
	old.current = false
	sums := t.Runs[run]
	if sums.count(old.signal, old.unnamed, -1); sums.Count() == 0 {
		delete(t.Runs, run)
	}
}

// tallyRow is what is kept of a run. Labels are a list: as names of members, two that
// differ only in case could not be read back (R5).
type tallyRow struct {
	Corrections int64        `json:"corrections,omitzero"`
	Flags       int64        `json:"flags,omitzero"`
	Labels      []LabelCount `json:"labels,omitzero"`
	OtherLabels int64        `json:"otherLabels,omitzero"`
	Ratings     RatingCounts `json:"ratings"`
	RunID       id.Run       `json:"runId"`
}

type savedTally struct {
	Head manifest.Head `json:"head"`
	Runs []tallyRow    `json:"runs"`
}

// Save is the tally as JCS: the sums, and no single annotation. One that missed something
// is refused.
func (t *AnnotationTally) Save() ([]byte, error) {
	if t.missed {
		return nil, errors.New("projections: a tally that missed something is not saved")
	}
	doc := savedTally{Head: t.Head, Runs: make([]tallyRow, 0, len(t.Runs))}
	for run, s := range t.Runs {
		doc.Runs = append(doc.Runs, tallyRow{s.Corrections, s.Flags, labelCounts(s.Labels), s.OtherLabels, s.Ratings,
			run})
	}
	slices.SortFunc(doc.Runs, func(a, b tallyRow) int { return cmp.Compare(a.RunID.String(), b.RunID.String()) })
	return canon.Marshal(doc)
}

// LoadAnnotationTally undoes Save. What is not of its form is an error; that the sums are
// those of their log is for the caller to make sure of.
func LoadAnnotationTally(data []byte) (*AnnotationTally, error) {
	var doc savedTally
	if err := canon.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	t := NewAnnotationTally()
	t.Head, t.loaded = doc.Head, !doc.Head.IsZero()
	for _, r := range doc.Runs {
		sums := &AnnotationSums{Ratings: r.Ratings, Corrections: r.Corrections, Flags: r.Flags,
			OtherLabels: r.OtherLabels}
		for _, l := range r.Labels {
			sums.count(feedback.Label(l.Label), false, l.Count)
		}
		if t.Runs[r.RunID] != nil || len(sums.Labels) != len(r.Labels) || len(r.Labels) > LabelsNamedMax ||
			sums.least() < 0 || sums.Count() == 0 {
			return nil, errors.New("projections: no saved tally of annotations")
		}
		t.Runs[r.RunID] = sums
	}
	return t, nil
}

// least is the least of all counts.
func (s AnnotationSums) least() int64 {
	n := min(s.Corrections, s.Flags, s.OtherLabels, s.Ratings.One, s.Ratings.Two, s.Ratings.Three, s.Ratings.Four,
		s.Ratings.Five)
	for _, count := range s.Labels {
		n = min(n, count)
	}
	return n
}
