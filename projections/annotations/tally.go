package annotations

import (
	"errors"
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
)

// Tally counts the current annotations of each run of a session. Unlike Annotations its
// state can be saved and continued, so that a summary of many sessions does not read every
// annotation. Only sums are saved: an annotation can be subtracted only if it was visited after
// loading; see Missed.
type Tally struct {
	Head manifest.Head    // the prefix of the log that Runs was computed from
	Runs map[id.Run]*Sums // runs with current annotations

	// loaded: the state was loaded; annotations before Head are in the sums, not in known.
	loaded bool
	missed bool                                 // see Missed
	known  map[id.Annotation]*talliedAnnotation // visited annotations, by id
}

// talliedAnnotation is what is needed to subtract an annotation from the sums.
type talliedAnnotation struct {
	run     id.Run
	signal  feedback.Signal // without its correction
	unnamed bool            // its label was counted in OtherLabels
	current bool
}

// TallyFormat is the number of the form that Save writes. A changed form gets a new
// number and with it another cache file (docs/design.md#head-cache).
const TallyFormat = 1

// NewTally returns the tally of an empty log.
func NewTally() *Tally {
	return &Tally{Runs: map[id.Run]*Sums{}, known: map[id.Annotation]*talliedAnnotation{}}
}

// Visit implements ports.Visitor, for segments after Head. It counts as Annotations does provided
// that no annotation id is recorded twice. Writers never do that; a second record of an annotation
// before a loaded head would not be recognized.
func (t *Tally) Visit(seg manifest.Segment, head manifest.Head) error {
	t.Head = head
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case feedback.Recorded:
			t.record(e, p)
		case feedback.Retracted:
			t.remove(e.Scope.RunID, p.AnnotationID)
		}
	}
	return nil
}

// Missed reports that a record supersedes or retracts an annotation before the loaded head, which
// cannot be subtracted, so that the sums are wrong. The caller has to visit the whole
// log.
func (t *Tally) Missed() bool { return t.missed }

// Of returns a copy of the sums of a run, zero if the run has no current annotations.
func (t *Tally) Of(run id.Run) Sums {
	if t.Runs[run] == nil {
		return Sums{}
	}
	sums := *t.Runs[run]
	sums.Labels = maps.Clone(sums.Labels)
	return sums
}

// record counts an annotation and subtracts the one that it supersedes.
func (t *Tally) record(e event.Event, p feedback.Recorded) {
	if t.known[p.AnnotationID] != nil {
		return // as in Annotations, the first record counts
	}
	run := e.Scope.RunID
	if !p.SupersedesAnnotationID.IsZero() {
		t.remove(run, p.SupersedesAnnotationID)
	}
	if t.Runs[run] == nil {
		t.Runs[run] = &Sums{}
	}
	signal := p.Signal
	signal.Correction = "" // free text, not needed for counting
	signal = signal.Shown()
	t.known[p.AnnotationID] = &talliedAnnotation{run: run, signal: signal, unnamed: t.Runs[run].add(signal),
		current: true}
}

// remove subtracts an annotation of the run from the sums. Runs without annotations are deleted, so
// that equal tallies have one saved form.
func (t *Tally) remove(run id.Run, name id.Annotation) {
	old := t.known[name]
	switch {
	case old == nil:
		t.missed = t.missed || t.loaded
	case old.run == run && old.current:
		old.current = false
		sums := t.Runs[run]
		if sums.count(old.signal, old.unnamed, -1); sums.Count() == 0 {
			delete(t.Runs, run)
		}
	}
}

// tallyRow is the saved form of a run's sums. Labels are a list: as member names of an object, two
// labels that differ only in case could not be read back (docs/design.md#json-from-outside).
type tallyRow struct {
	Corrections int64        `json:"corrections,omitzero"`
	Flags       int64        `json:"flags,omitzero"`
	Labels      []LabelCount `json:"labels,omitzero"`
	OtherLabels int64        `json:"otherLabels,omitzero"`
	Ratings     RatingCounts `json:"ratings"`
	RunID       id.Run       `json:"runId"`
}

// savedTally is the document that Save writes; its member names are part of the form.
type savedTally struct {
	Head manifest.Head `json:"head"`
	Runs []tallyRow    `json:"runs"`
}

// Save returns the tally as canonical JSON: the sums, without the annotations. It refuses a tally
// for which Missed reports true, since its sums are wrong.
func (t *Tally) Save() ([]byte, error) {
	if t.missed {
		return nil, errors.New("projections: an incomplete tally cannot be saved")
	}
	doc := savedTally{Head: t.Head, Runs: make([]tallyRow, 0, len(t.Runs))}
	for run, s := range t.Runs {
		doc.Runs = append(doc.Runs, tallyRow{s.Corrections, s.Flags, labelCounts(s.Labels), s.OtherLabels, s.Ratings,
			run})
	}
	sorting.By(doc.Runs, func(a, b tallyRow) int { return a.RunID.Compare(b.RunID) })
	return canon.Marshal(doc)
}

// LoadTally reads what Save wrote. Data of another form is an error: duplicate runs or
// labels, negative or zero sums. The caller has to make sure that Head is on the chain of the log.
func LoadTally(data []byte) (*Tally, error) {
	var doc savedTally
	if err := canon.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	t := NewTally()
	t.Head, t.loaded = doc.Head, !doc.Head.IsZero()
	for _, r := range doc.Runs {
		sums := &Sums{Ratings: r.Ratings, Corrections: r.Corrections, Flags: r.Flags,
			OtherLabels: r.OtherLabels}
		for _, l := range r.Labels {
			sums.count(feedback.Label(l.Label), false, l.Count)
		}
		if t.Runs[r.RunID] != nil || len(sums.Labels) != len(r.Labels) || len(r.Labels) > LabelsNamedMax ||
			sums.minCount() < 0 || sums.Count() == 0 {
			return nil, errors.New("projections: not a saved tally of annotations")
		}
		t.Runs[r.RunID] = sums
	}
	return t, nil
}

// minCount returns the smallest of all counts; a negative one means a forged or damaged state.
func (s Sums) minCount() int64 {
	n := min(s.Corrections, s.Flags, s.OtherLabels, s.Ratings.One, s.Ratings.Two, s.Ratings.Three, s.Ratings.Four,
		s.Ratings.Five)
	for _, count := range s.Labels {
		n = min(n, count)
	}
	return n
}
