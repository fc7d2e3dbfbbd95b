package annotations_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/projections/annotations"
)

// randomLines draws a log as writers produce it: each annotation once; the annotation that a line
// supersedes or retracts may be of another run or missing.
func randomLines(t *rapid.T) (all []record) {
	signals := []feedback.Signal{feedback.Flag(), feedback.Correction("c"), feedback.Rating(1), feedback.Rating(4),
		feedback.Rating(5), feedback.Label("A"), feedback.Label("a"), feedback.Label("é")}
	next := 1
	for range rapid.IntRange(0, 30).Draw(t, "lines") {
		r := record{run: rapid.IntRange(0, 1).Draw(t, "run"), n: next}
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

// sumsOf counts current annotations without the code of the tally.
func sumsOf(current []annotations.Entry) annotations.Sums {
	var s annotations.Sums
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
	s.Ratings = annotations.RatingCounts{One: stars[1], Two: stars[2], Three: stars[3], Four: stars[4], Five: stars[5]}
	if len(labels) > 0 {
		s.Labels = labels
	}
	return s
}

func sameSums(a, b annotations.Sums) bool {
	if len(a.Labels)+len(b.Labels) == 0 {
		a.Labels, b.Labels = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// A tally equals the sums of the current annotations. One that was saved, loaded and continued is
// equal too, or reports that it missed an annotation.
func TestTallyEqualsAnnotationsAfterReload(t *testing.T) {
	continued, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := randomLines(t)
		whole, a := annotations.NewTally(), annotations.NewLog()
		visitLines(whole, 0, all)
		visitLines(a, 0, all)
		for _, run := range annotatedRuns {
			if got, want := whole.Of(run), sumsOf(a.Current(run)); !sameSums(got, want) ||
				got.Count() != int64(len(a.Current(run))) {
				t.Fatalf("%+v\n%+v", got, want)
			}
		}
		if whole.Missed() {
			t.Fatal("a tally of the whole log reports Missed")
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		part := annotations.NewTally()
		visitLines(part, 0, all[:cut])
		doc := savedTally(t, part)
		loaded, err := annotations.LoadTally(doc)
		if err != nil || string(savedTally(t, loaded)) != string(doc) {
			t.Fatalf("%v, %s", err, doc)
		}
		visitLines(loaded, cut, all)
		// Missed must be true exactly if a record names an annotation from before the load.
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
				t.Fatal("an incomplete tally was saved")
			}
			loaded = annotations.NewTally()
			visitLines(loaded, 0, all)
		} else if cut > 0 && cut < len(all) {
			continued++
		}
		if loaded.Missed() || string(savedTally(t, loaded)) != string(savedTally(t, whole)) {
			t.Fatalf("%s\n%s", savedTally(t, loaded), savedTally(t, whole))
		}
	})
	if !testing.Short() && (continued == 0 || missed == 0) {
		t.Errorf("%d continued, %d missed: the test covers too few cases", continued, missed)
	}
}

func savedTally(t interface{ Fatal(...any) }, tally *annotations.Tally) []byte {
	doc, err := tally.Save()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
