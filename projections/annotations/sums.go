package annotations

import (
	"cmp"
	"math"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/sorting"
)

// LabelsNamedMax is the number of distinct labels that are counted by name, for a run and in a
// summary; the other labels share one number. Labels are free text (docs/design.md#annotations), so
// a run may have as many labels as annotations.
const LabelsNamedMax = 1000

// RatingCounts is the number of ratings for each number of stars.
type RatingCounts struct {
	One   int64 `json:"1"`
	Two   int64 `json:"2"`
	Three int64 `json:"3"`
	Four  int64 `json:"4"`
	Five  int64 `json:"5"`
}

// counter returns the counter for a number of stars, nil outside of RatingMin to RatingMax.
func (r *RatingCounts) counter(stars int64) *int64 {
	all := [...]*int64{&r.One, &r.Two, &r.Three, &r.Four, &r.Five}
	if stars < feedback.RatingMin || stars > feedback.RatingMax {
		return nil
	}
	return all[stars-feedback.RatingMin]
}

// merge adds the counts of other to r.
func (r *RatingCounts) merge(other RatingCounts) {
	for stars := int64(feedback.RatingMin); stars <= feedback.RatingMax; stars++ {
		*r.counter(stars) += *other.counter(stars)
	}
}

// Count returns the number of ratings.
func (r RatingCounts) Count() int64 { return r.One + r.Two + r.Three + r.Four + r.Five }

// Sum returns the total number of stars, from which the mean is taken.
func (r RatingCounts) Sum() int64 { return r.One + 2*r.Two + 3*r.Three + 4*r.Four + 5*r.Five }

// LabelCount is the number of annotations with one label.
type LabelCount struct {
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// Sums counts the current annotations of a run by kind and value. The zero value is a run
// without annotations.
type Sums struct {
	Ratings     RatingCounts
	Corrections int64
	Flags       int64
	Labels      map[string]int64 // by label, at most LabelsNamedMax
	OtherLabels int64            // annotations with a label that is not in Labels
}

// Count returns the number of annotations that were counted.
func (s Sums) Count() int64 {
	n := s.Ratings.Count() + s.Corrections + s.Flags + s.OtherLabels
	for _, count := range s.Labels {
		n += count
	}
	return n
}

// add counts a signal. unnamed reports that its label was counted in OtherLabels since Labels is
// full; the caller stores it for the later removal.
func (s *Sums) add(signal feedback.Signal) (unnamed bool) {
	_, named := s.Labels[signal.Label]
	unnamed = signal.Kind == feedback.LabelKind && !named && len(s.Labels) >= LabelsNamedMax
	s.count(signal, unnamed, 1)
	return unnamed
}

// count adds by, which is negative for a removal, to the counter of a signal. unnamed is a
// parameter and not computed here: at a removal Labels may have room again, and the signal has to
// be subtracted from the counter that it was added to.
func (s *Sums) count(signal feedback.Signal, unnamed bool, by int64) {
	switch signal.Kind {
	case feedback.RatingKind:
		if n := s.Ratings.counter(signal.Rating); n != nil {
			*n += by
		}
	case feedback.CorrectionKind:
		s.Corrections += by
	case feedback.FlagKind:
		s.Flags += by
	case feedback.LabelKind:
		if unnamed {
			s.OtherLabels += by
			return
		}
		if s.Labels == nil {
			s.Labels = map[string]int64{}
		}
		// Labels without annotations are removed, so that a new label can be counted by name.
		if s.Labels[signal.Label] += by; s.Labels[signal.Label] == 0 {
			delete(s.Labels, signal.Label)
		}
	}
}

// Summary is the form of the sums that reports and commands show. Mean and rates are
// absent where their denominator is 0.
type Summary struct {
	Annotations    int64        `json:"annotations"`         // current ones
	MeanRating     *float64     `json:"meanRating,omitzero"` // 1 to 5, two decimals
	Ratings        RatingCounts `json:"ratings"`
	Corrections    int64        `json:"corrections"`
	CorrectionRate *float64     `json:"correctionRate,omitzero"` // share of all annotations, 0 to 1, four decimals
	Flags          int64        `json:"flags"`
	FlagRate       *float64     `json:"flagRate,omitzero"` // likewise
	Labels         []LabelCount `json:"labels"`            // most frequent first, then by label
	OtherLabels    int64        `json:"otherLabels,omitzero"`
}

// Summary computes mean and rates and sorts the labels.
func (s Sums) Summary() Summary {
	n := s.Count()
	out := Summary{Annotations: n, MeanRating: ratio(s.Ratings.Sum(), s.Ratings.Count(), 100),
		Ratings:     s.Ratings,
		Corrections: s.Corrections, CorrectionRate: ratio(s.Corrections, n, 10_000), Flags: s.Flags,
		FlagRate: ratio(s.Flags, n, 10_000),
		Labels:   labelCounts(s.Labels), OtherLabels: s.OtherLabels}
	if len(out.Labels) > LabelsNamedMax { // only for sums merged from several runs
		for _, l := range out.Labels[LabelsNamedMax:] {
			out.OtherLabels += l.Count
		}
		out.Labels = out.Labels[:LabelsNamedMax]
	}
	return out
}

// labelCounts sorts labels by descending count, then by name, so that equal sums have one spelling. Sums that
// another version saved may have labels that are not redacted.
func labelCounts(labels map[string]int64) []LabelCount {
	shown := make(map[string]int64, len(labels))
	for label, n := range labels {
		shown[feedback.Signal{Label: label}.Shown().Label] += n
	}
	out := make([]LabelCount, 0, len(shown))
	for label, n := range shown {
		out = append(out, LabelCount{label, n})
	}
	sorting.By(out, func(a, b LabelCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Label, b.Label))
	})
	return out
}

// ratio returns part/whole rounded to multiples of 1/steps, nil if whole is 0.
func ratio(part, whole, steps int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := math.Round(float64(part)*float64(steps)/float64(whole)) / float64(steps)
	return &r
}

// RunSums is the Summary of several runs, such as those of a workflow, with the
// number of runs that have annotations.
type RunSums struct {
	Summary
	Runs          int64 `json:"runs"`          // all of them, with and without annotations
	AnnotatedRuns int64 `json:"annotatedRuns"` // with at least one
	CorrectedRuns int64 `json:"correctedRuns"` // with at least one correction
	FlaggedRuns   int64 `json:"flaggedRuns"`   // with at least one flag
}

// Merge adds up the sums of several runs. A run without annotations is passed as the
// zero Sums and counts in Runs. The result does not depend on the order of runs, and runs
// is not modified.
func Merge(runs []Sums) RunSums {
	all, out := Sums{Labels: map[string]int64{}}, RunSums{Runs: int64(len(runs))}
	for _, r := range runs {
		all.Ratings.merge(r.Ratings)
		all.Corrections += r.Corrections
		all.Flags += r.Flags
		all.OtherLabels += r.OtherLabels
		for label, n := range r.Labels {
			all.Labels[label] += n
		}
		out.AnnotatedRuns += boolToInt(r.Count() > 0)
		out.CorrectedRuns += boolToInt(r.Corrections > 0)
		out.FlaggedRuns += boolToInt(r.Flags > 0)
	}
	out.Summary = all.Summary()
	return out
}

func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
