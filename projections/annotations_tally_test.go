package projections_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/projections"
)

// remarks is a log as writers write it: every annotation once; what is superseded or
// retracted may be of another run, or not there.
func remarks(t *rapid.T) (all []remark) {
	signals := []feedback.Signal{feedback.Flag(), feedback.Correction("c"), feedback.Rating(1), feedback.Rating(4),
		feedback.Rating(5), feedback.Label("A"), feedback.Label("a"), feedback.Label("é")}
	next := 1
	for range rapid.IntRange(0, 30).Draw(t, "lines") {
		r := remark{run: rapid.IntRange(0, 1).Draw(t, "run"), n: next}
		if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
			r.retracts, r.n = true, rapid.IntRange(1, next+1).Draw(t, "retracted")
		} else {
			r.signal = rapid.SampledFrom(signals).Draw(t, "signal")
			if rapid.IntRange(0, 2).Draw(t, "how") == 0 {
				r.supersedes = rapid.IntRange(0, next-1).Draw(t, "superseded")
			}
			next++
		}
		all = append(all, r)
	}
	return all
}

// sumsOf counts what stands, by other means than the tally.
func sumsOf(current []projections.AnnotationEntry) projections.AnnotationSums {
	var s projections.AnnotationSums
	stars, labels := map[int64]int64{}, map[string]int64{}
	for _, e := range current {
		switch e.Signal.Kind {
		case "rating":
			stars[e.Signal.Rating]++
		case "correction":
			s.Corrections++
		case "flag":
			s.Flags++
		case "label":
			labels[e.Signal.Label]++
		}
	}
	s.Ratings = projections.RatingCounts{One: stars[1], Two: stars[2], Three: stars[3], Four: stars[4], Five: stars[5]}
	if len(labels) > 0 {
		s.Labels = labels
	}
	return s
}

func sameSums(a, b projections.AnnotationSums) bool {
	if len(a.Labels)+len(b.Labels) == 0 {
		a.Labels, b.Labels = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// TestTalliesAreFolds: a tally is what the annotations that stand come to; one that was
// saved, loaded and gone on with is the same, or says that it missed something.
func TestTalliesAreFolds(t *testing.T) {
	continued, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := remarks(t)
		whole, a := projections.NewAnnotationTally(), projections.NewAnnotations()
		remarked(whole, 0, all)
		remarked(a, 0, all)
		for _, run := range annotatedRuns {
			if got, want := whole.Of(run), sumsOf(a.Current(run)); !sameSums(got, want) ||
				got.Count() != int64(len(a.Current(run))) {
				t.Fatalf("%+v\n%+v", got, want)
			}
		}
		if whole.Missed() {
			t.Fatal("a tally from the start missed something")
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		part := projections.NewAnnotationTally()
		remarked(part, 0, all[:cut])
		doc := saved(t, part)
		loaded, err := projections.LoadAnnotationTally(doc)
		if err != nil || string(saved(t, loaded)) != string(doc) {
			t.Fatalf("%v, %s", err, doc)
		}
		remarked(loaded, cut, all)
		// It must be missed exactly where something is named that was not visited since.
		since, wants := map[int]bool{}, false
		for _, r := range all[cut:] {
			wants = wants || cut > 0 && (r.retracts && !since[r.n] || r.supersedes > 0 && !since[r.supersedes])
			since[r.n] = since[r.n] || !r.retracts
		}
		if loaded.Missed() != wants {
			t.Fatalf("missed: %v, want %v", loaded.Missed(), wants)
		}
		if loaded.Missed() {
			missed++
			if _, err := loaded.Save(); err == nil {
				t.Fatal("a tally that missed something was saved")
			}
			loaded.Reset()
			remarked(loaded, 0, all)
		} else if cut > 0 && cut < len(all) {
			continued++
		}
		if loaded.Missed() || string(saved(t, loaded)) != string(saved(t, whole)) {
			t.Fatalf("%s\n%s", saved(t, loaded), saved(t, whole))
		}
	})
	if continued == 0 || missed == 0 {
		t.Errorf("%d were gone on with, %d missed something: the test tests nothing", continued, missed)
	}
}

func saved(t interface{ Fatal(...any) }, tally *projections.AnnotationTally) []byte {
	doc, err := tally.Save()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
