package projections

import (
	"cmp"
	"math"
	"slices"

	"github.com/waybill/waybill/durable/learning/feedback"
)

// LabelsNamedMax is how many different labels are counted by their names, in a run and in
// what people see; the rest is one number. Labels are free text (R28): there may be as
// many as there are annotations.
const LabelsNamedMax = 1000

// RatingCounts is how often each number of stars was given.
type RatingCounts struct {
	One   int64 `json:"1"`
	Two   int64 `json:"2"`
	Three int64 `json:"3"`
	Four  int64 `json:"4"`
	Five  int64 `json:"5"`
}

// of is where ratings of so many stars are counted, nil where there are no such.
func (r *RatingCounts) of(stars int64) *int64 {
	all := [...]*int64{&r.One, &r.Two, &r.Three, &r.Four, &r.Five}
	if stars < feedback.RatingMin || stars > feedback.RatingMax {
		return nil
	}
	return all[stars-feedback.RatingMin]
}

func (r *RatingCounts) merge(other RatingCounts) {
	for stars := int64(feedback.RatingMin); stars <= feedback.RatingMax; stars++ {
		*r.of(stars) += *other.of(stars)
	}
}

// Count is how many ratings there are.
func (r RatingCounts) Count() int64 { return r.One + r.Two + r.Three + r.Four + r.Five }

// Sum is how many stars they come to.
func (r RatingCounts) Sum() int64 { return r.One + 2*r.Two + 3*r.Three + 4*r.Four + 5*r.Five }

// LabelCount is how often a label was given.
type LabelCount struct {
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// AnnotationSums counts the current annotations of a run by what they say.
type AnnotationSums struct {
	Ratings     RatingCounts
	Corrections int64
	Flags       int64
	Labels      map[string]int64 // at most LabelsNamedMax of them
	OtherLabels int64            // annotations whose label is not among Labels
}

// Count is how many annotations were counted.
func (s AnnotationSums) Count() int64 {
	n := s.Ratings.Count() + s.Corrections + s.Flags + s.OtherLabels
	for _, count := range s.Labels {
		n += count
	}
	return n
}

// add counts a signal, and reports a label that is not counted by its name.
func (s *AnnotationSums) add(signal feedback.Signal) (unnamed bool) {
	_, named := s.Labels[signal.Label]
	unnamed = signal.Kind == feedback.LabelKind && !named && len(s.Labels) >= LabelsNamedMax
	s.count(signal, unnamed, 1)
	return unnamed
}

// count is told whether a label is counted by its name, not to be asked: a name may have
// become free since.
func (s *AnnotationSums) count(signal feedback.Signal, unnamed bool, by int64) {
	switch signal.Kind {
	case feedback.RatingKind:
		if n := s.Ratings.of(signal.Rating); n != nil {
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
		if s.Labels[signal.Label] += by; s.Labels[signal.Label] == 0 {
			delete(s.Labels, signal.Label)
		}
	}
}

// AnnotationSummary is what people see of annotations. A mean and a share are absent where
// there is nothing to take them of.
type AnnotationSummary struct {
	Annotations    int64        `json:"annotations"`
	MeanRating     *float64     `json:"meanRating,omitzero"` // 1 to 5, two decimals
	Ratings        RatingCounts `json:"ratings"`
	Corrections    int64        `json:"corrections"`
	CorrectionRate *float64     `json:"correctionRate,omitzero"` // share of all annotations, 0 to 1, four decimals
	Flags          int64        `json:"flags"`
	FlagRate       *float64     `json:"flagRate,omitzero"` // likewise
	Labels         []LabelCount `json:"labels"`            // most frequent first, then by label
	OtherLabels    int64        `json:"otherLabels,omitzero"`
}

// Summary is the sums for people.
func (s AnnotationSums) Summary() AnnotationSummary {
	n := s.Count()
	out := AnnotationSummary{Annotations: n, MeanRating: ratio(s.Ratings.Sum(), s.Ratings.Count(), 100),
		Ratings:     s.Ratings,
		Corrections: s.Corrections, CorrectionRate: ratio(s.Corrections, n, 10_000), Flags: s.Flags,
		FlagRate: ratio(s.Flags, n, 10_000),
		Labels:   labelCounts(s.Labels), OtherLabels: s.OtherLabels}
	if len(out.Labels) > LabelsNamedMax { // of several runs
		for _, l := range out.Labels[LabelsNamedMax:] {
			out.OtherLabels += l.Count
		}
		out.Labels = out.Labels[:LabelsNamedMax]
	}
	return out
}

// labelCounts sorts labels as people see them.
func labelCounts(labels map[string]int64) []LabelCount {
	out := make([]LabelCount, 0, len(labels))
	for label, n := range labels {
		out = append(out, LabelCount{label, n})
	}
	slices.SortFunc(out, func(a, b LabelCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Label, b.Label))
	})
	return out
}

// ratio is part/whole, rounded to so many steps of one; nil of nothing.
func ratio(part, whole, steps int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := math.Round(float64(part)*float64(steps)/float64(whole)) / float64(steps)
	return &r
}

// RunsAnnotated is an AnnotationSummary of several runs, of a workflow for example.
type RunsAnnotated struct {
	AnnotationSummary
	Runs          int64 `json:"runs"`          // all of them, with and without annotations
	AnnotatedRuns int64 `json:"annotatedRuns"` // with at least one
	CorrectedRuns int64 `json:"correctedRuns"` // with at least one correction
	FlaggedRuns   int64 `json:"flaggedRuns"`   // with at least one flag
}

// MergeAnnotations sums several runs up; one without annotations is the zero
// AnnotationSums. The order of the runs makes no difference, and runs are not changed.
func MergeAnnotations(runs []AnnotationSums) RunsAnnotated {
	all, out := AnnotationSums{Labels: map[string]int64{}}, RunsAnnotated{Runs: int64(len(runs))}
	for _, r := range runs {
		all.Ratings.merge(r.Ratings)
		all.Corrections += r.Corrections
		all.Flags += r.Flags
		all.OtherLabels += r.OtherLabels
		for label, n := range r.Labels {
			all.Labels[label] += n
		}
		out.AnnotatedRuns += oneIf(r.Count() > 0)
		out.CorrectedRuns += oneIf(r.Corrections > 0)
		out.FlaggedRuns += oneIf(r.Flags > 0)
	}
	out.AnnotationSummary = all.Summary()
	return out
}

func oneIf(so bool) int64 {
	if so {
		return 1
	}
	return 0
}
