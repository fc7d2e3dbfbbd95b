package annotations_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/projections/annotations"
)

// The saved form of a tally must not change without a new TallyFormat.
func TestSavedTallyForm(t *testing.T) {
	tally := annotations.NewTally()
	visitLines(tally, 0, []record{{n: 1, signal: feedback.Rating(4)}, {n: 2, signal: feedback.Label("b")},
		{n: 3, signal: feedback.Label("a")},
		{n: 4, signal: feedback.Label("a")}, {n: 5, signal: feedback.Correction("c")}, flagged(1, 6), flagged(0, 7),
		{n: 8, signal: feedback.Label("A")}})
	tally.Head.GroupAt = 7
	want := `{"head":{"bytes":7,"digest":"sha256:ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879","groupAt":7,"next":8,"nextRecord":7},"runs":[` +
		`{"corrections":1,"flags":1,"labels":[{"count":2,"label":"a"},{"count":1,"label":"A"},{"count":1,"label":"b"}],` +
		`"ratings":{"1":0,"2":0,"3":0,"4":1,"5":0},"runId":"run_ajbo4y5vdkojnpgdxn6nks7zdq"},` +
		`{"flags":1,"ratings":{"1":0,"2":0,"3":0,"4":0,"5":0},"runId":"run_q2n2wcwby6j3nokndwzemiadti"}]}`
	if got := string(savedTally(t, tally)); got != want {
		t.Errorf("the members of a tally have changed. Raise AnnotationTallyFormat if a version with the old form was "+
			"released:\n%s\n%s", got, want)
	}
}

func TestLoadAnnotationTallyRejectsOtherData(t *testing.T) {
	run := `"runId":"` + annotatedRuns[0].String() + `"`
	ratings := `"ratings":{"1":1,"2":0,"3":0,"4":0,"5":0}`
	head := `"head":{"bytes":0,"groupAt":0,"next":0,"nextRecord":0}`
	doc := func(rows string) []byte { return []byte(`{` + head + `,"runs":[` + rows + `]}`) }
	good := `{` + ratings + `,` + run + `}`
	if _, err := annotations.LoadTally(doc(good)); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]string{
		"a run twice":          good + `,` + good,
		"no run":               `{` + ratings + `,"runId":""}`,
		"less than none":       `{"flags":-1,` + ratings + `,` + run + `}`,
		"fewer than no stars":  `{"flags":5,"ratings":{"1":-1,"2":0,"3":0,"4":0,"5":0},` + run + `}`,
		"fewer than no labels": `{"labels":[{"count":-1,"label":"x"}],` + ratings + `,` + run + `}`,
		"a label twice": `{"labels":[{"count":1,"label":"x"},{"count":1,"label":"x"}],` + ratings + `,` + run +
			`}`,
		"a run without annotations": `{"ratings":{"1":0,"2":0,"3":0,"4":0,"5":0},` + run + `}`,
		"a member more":             `{"more":1,` + ratings + `,` + run + `}`,
	} {
		if _, err := annotations.LoadTally(doc(rows)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
	if _, err := annotations.LoadTally(nil); err == nil {
		t.Error("empty data: loaded")
	}
}

// Labels over LabelsNamedMax are counted in OtherLabels and subtracted from it again.
func TestLabelsOverTheLimitAreCountedTogether(t *testing.T) {
	const over = 5
	var all []record
	for n := 1; n <= annotations.LabelsNamedMax+over; n++ {
		all = append(all, record{n: n, signal: feedback.Label(fmt.Sprint("label ", n))})
	}
	check := func(tally *annotations.Tally, named int, other, count int64) {
		t.Helper()
		if s := tally.Of(annotatedRuns[0]); len(s.Labels) != named || s.OtherLabels != other || s.Count() != count {
			t.Errorf("%d named, %d other, %d in all", len(s.Labels), s.OtherLabels, s.Count())
		}
	}
	tally := annotations.NewTally()
	visitLines(tally, 0, all)
	check(tally, annotations.LabelsNamedMax, over, 1005)
	all = append(all, record{n: 2000, signal: feedback.Label("label 1")},
		record{n: 2001, signal: feedback.Label("label 1003")})
	visitLines(tally, len(all)-2, all)
	check(tally, annotations.LabelsNamedMax, over+1, 1007)
	if n := tally.Of(annotatedRuns[0]).Labels["label 1"]; n != 2 {
		t.Errorf("a label with a name was counted %d times", n)
	}
	// A named label is removed; labels counted in OtherLabels remain there.
	all = append(all, retract(0, 2), record{n: 2002, signal: feedback.Label("label 1003")}, retract(0, 2001),
		retract(0, 1003))
	visitLines(tally, len(all)-4, all)
	check(tally, annotations.LabelsNamedMax, over-1, 1005)
	loaded, err := annotations.LoadTally(savedTally(t, tally))
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, record{n: 2003, signal: feedback.Label("one more")})
	for _, each := range []*annotations.Tally{tally, loaded} {
		visitLines(each, len(all)-1, all)
		check(each, annotations.LabelsNamedMax, over, 1006)
	}
	mine := tally.Of(annotatedRuns[0])
	mine.Labels["label 1"] = 77
	if tally.Of(annotatedRuns[0]).Labels["label 1"] == 77 {
		t.Error("the sums of a run are shared")
	}
}

func TestAnnotationSummary(t *testing.T) {
	for _, test := range []struct {
		sums annotations.Sums
		want string
	}{
		{annotations.Sums{},
			`{"annotations":0,"corrections":0,"flags":0,"labels":[],"ratings":{"1":0,"2":0,"3":0,"4":0,"5":0}}`},
		{annotations.Sums{Flags: 1},
			`{"annotations":1,"correctionRate":0,"corrections":0,"flagRate":1,"flags":1,"labels":[],"ratings":{"1":0,"2":0,"3":0,"4":0,"5":0}}`},
		{annotations.Sums{Ratings: annotations.RatingCounts{One: 1, Five: 2}, Corrections: 1, Flags: 2,
			OtherLabels: 1, Labels: map[string]int64{"b": 1, "a": 1, "c": 3}},
			`{"annotations":12,"correctionRate":0.0833,"corrections":1,"flagRate":0.1667,"flags":2,"labels":[{"count":3,"label":"c"},{"count":1,"label":"a"},{"count":1,"label":"b"}],` +
				`"meanRating":3.67,"otherLabels":1,"ratings":{"1":1,"2":0,"3":0,"4":0,"5":2}}`},
		{annotations.Sums{Ratings: annotations.RatingCounts{One: 1, Two: 1, Three: 1, Four: 1, Five: 1}},
			`{"annotations":5,"correctionRate":0,"corrections":0,"flagRate":0,"flags":0,"labels":[],"meanRating":3,"ratings":{"1":1,"2":1,"3":1,"4":1,"5":1}}`},
	} {
		if got, err := canon.Marshal(test.sums.Summary()); err != nil || string(got) != test.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
		}
	}
}

func TestMergeAnnotations(t *testing.T) {
	runs := []annotations.Sums{
		{},
		{Flags: 2, Labels: map[string]int64{"a": 1}},
		{Corrections: 1, Flags: 1, OtherLabels: 2, Labels: map[string]int64{"a": 1, "b": 3}},
		{Ratings: annotations.RatingCounts{Four: 1}},
	}
	want := `{"annotatedRuns":3,"annotations":12,"correctedRuns":1,"correctionRate":0.0833,"corrections":1,"flagRate":0.25,"flaggedRuns":2,"flags":3,` +
		`"labels":[{"count":3,"label":"b"},{"count":2,"label":"a"}],"meanRating":4,"otherLabels":2,"ratings":{"1":0,"2":0,"3":0,"4":1,"5":0},"runs":4}`
	if got, err := canon.Marshal(annotations.Merge(runs)); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if runs[1].Labels["a"] != 1 {
		t.Error("a run was changed by merging it")
	}
	many := make([]annotations.Sums, 2)
	for n := range 2 * annotations.LabelsNamedMax {
		if many[n%2].Labels == nil {
			many[n%2].Labels = map[string]int64{}
		}
		many[n%2].Labels[fmt.Sprintf("label %04d", n)] = 1
	}
	many[0].Labels["often"] = 9
	all := annotations.Merge(many)
	if len(all.Labels) != annotations.LabelsNamedMax || all.Labels[0].Label != "often" ||
		all.OtherLabels != annotations.LabelsNamedMax+1 || all.Annotations != 2*annotations.LabelsNamedMax+9 {
		t.Errorf("%d labels, %d other, of %d", len(all.Labels), all.OtherLabels, all.Annotations)
	}
}

// Merging runs in any order gives the sums that one run with all of their annotations would have.
func TestMergeEqualsCountingInOneRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []annotations.Sums
		together := annotations.NewLog()
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			a := annotations.NewLog()
			visitLines(a, 0, randomLines(t))
			current := slices.Concat(a.Current(annotatedRuns[0]), a.Current(annotatedRuns[1]))
			runs = append(runs, sumsOf(current))
			together.Entries = append(together.Entries, current...)
		}
		got := annotations.Merge(runs)
		if want := sumsOf(together.Entries).Summary(); !reflect.DeepEqual(got.Summary, want) {
			t.Fatalf("%+v\n%+v", got, want)
		}
		if again := annotations.Merge(rapid.Permutation(runs).Draw(t, "order")); !reflect.DeepEqual(got,
			again) {
			t.Fatalf("%+v\n%+v", got, again)
		}
	})
}
