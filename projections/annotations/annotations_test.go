package annotations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
)

var (
	feedbackSession = id.NewSession(id.Seed{2})
	person          = event.Actor{Kind: event.Human, Ref: "ada"}
)

var annotatedRuns = []id.Run{id.NewRun(id.Seed{1}), id.NewRun(id.Seed{2})}

var _, _ ports.Visitor = annotations.NewLog(), annotations.NewTally()

func annotation(n int) id.Annotation { return id.NewAnnotation(id.Seed{byte(n), byte(n >> 8)}) }

// record is one record: annotation n, or its retraction if retracts is set.
type record struct {
	run        int
	n          int
	signal     feedback.Signal
	supersedes int // 0: none
	retracts   bool
}

func (r record) payload() event.Payload {
	if r.retracts {
		return feedback.Retract(annotation(r.n), fmt.Sprint("reason ", r.n))
	}
	asked := feedback.Request{Create: feedback.Create{Signal: r.signal}}
	if r.supersedes > 0 {
		asked.SupersedesAnnotationID = annotation(r.supersedes)
	}
	return feedback.Record(annotation(r.n), asked, feedback.Location{NodeID: id.RootNode(annotatedRuns[r.run]),
		StepID: "s"})
}

// visitLines visits the lines from index i on, each in its own segment.
func visitLines(v ports.Visitor, i int, all []record) {
	for ; i < len(all); i++ {
		e := event.New(feedbackSession.String(), int64(i), event.Scope{RunID: annotatedRuns[all[i].run]}, person,
			int64(1000+i), all[i].payload())
		head := manifest.Head{Digest: canon.Sum([]byte{byte(i)}), Next: int64(i + 1), Bytes: int64(i),
			NextRecord: int64(i)}
		if err := v.Visit(manifest.Segment{First: int64(i), Last: int64(i), Events: []event.Event{e}},
			head); err != nil {
			panic(err)
		}
	}
}

func flagged(run, n int) record {
	return record{run: run, n: n, signal: feedback.Flag()}
}
func retract(run, n int) record { return record{run: run, n: n, retracts: true} }

func (r record) superseding(n int) record {
	r.supersedes = n
	return r
}

func TestAnnotationStates(t *testing.T) {
	for _, test := range []struct {
		name   string
		all    []record
		want   string // of each entry its number and state, by what
		passed int64
	}{
		{"no records", nil, "", 0},
		{"two", []record{flagged(0, 1), flagged(0, 2)}, "1 current, 2 current", 0},
		{"a newer one", []record{flagged(0, 1), flagged(0, 2).superseding(1)}, "1 superseded by 2, 2 current", 0},
		{"of another run", []record{flagged(0, 1), flagged(1, 2).superseding(1)}, "1 current, 2 current", 0},
		{"superseding an unknown one", []record{flagged(0, 2).superseding(1)}, "2 current", 0},
		{"of what comes later", []record{flagged(0, 2).superseding(1), flagged(0, 1)}, "2 current, 1 current", 0},
		{"the first to supersede counts", []record{flagged(0, 1), flagged(0, 2).superseding(1), flagged(0, 3).
			superseding(1)}, "1 superseded by 2, 2 current, 3 current", 0},
		{"a chain", []record{flagged(0, 1), flagged(0, 2).superseding(1), flagged(0, 3).superseding(2)},
			"1 superseded by 2, 2 superseded by 3, 3 current", 0},
		{"retracted", []record{flagged(0, 1), retract(0, 1)}, "1 retracted", 0},
		{"retracted twice", []record{flagged(0, 1), retract(0, 1), retract(0, 1)}, "1 retracted", 1},
		{"retracted in another run", []record{flagged(0, 1), retract(1, 1)}, "1 current", 1},
		{"retracted before it was recorded", []record{retract(0, 1), flagged(0, 1)}, "1 current", 1},
		{"the older one does not come back", []record{flagged(0, 1), flagged(0, 2).superseding(1), retract(0, 2)},
			"1 superseded by 2, 2 retracted", 0},
		{"a superseded one is hidden too", []record{flagged(0, 1), flagged(0, 2).superseding(1), retract(0, 1)},
			"1 retracted by 2, 2 current", 0},
		{"a retracted one is not superseded", []record{flagged(0, 1), retract(0, 1), flagged(0, 2).superseding(1)},
			"1 retracted, 2 current", 0},
		{"twice the same", []record{flagged(0, 1), flagged(0, 1)}, "1 current", 1},
		{"twice the same, in place of another", []record{flagged(0, 1), flagged(0, 2), flagged(0, 1).superseding(2)},
			"1 current, 2 current", 1},
	} {
		a := annotations.NewLog()
		visitLines(a, 0, test.all)
		numbers := map[id.Annotation]int{}
		for n := range 5 {
			numbers[annotation(n)] = n
		}
		var got []string
		for _, e := range a.Entries {
			text := fmt.Sprint(numbers[e.AnnotationID], " ", e.State)
			if !e.Details.SupersededBy.IsZero() {
				text += fmt.Sprint(" by ", numbers[e.Details.SupersededBy])
			}
			got = append(got, text)
			if e.Details.Retracted != (e.State == annotations.Retracted) ||
				e.Details.Retracted != (e.Details.RetractedReason != "") {
				t.Errorf("%s: %+v", test.name, e)
			}
		}
		tally := annotations.NewTally()
		visitLines(tally, 0, test.all)
		for _, run := range annotatedRuns {
			if n := tally.Of(run).Count(); n != int64(len(a.Current(run))) {
				t.Errorf("%s: %d in the tally of %s, and %d are current", test.name, n, run, len(a.Current(run)))
			}
		}
		if strings.Join(got, ", ") != test.want || a.Skipped != test.passed {
			t.Errorf("%s: %s with %d skipped, want %s with %d", test.name, strings.Join(got, ", "), a.Skipped,
				test.want, test.passed)
		}
	}
}

func TestFindAndHistoryOfAnnotations(t *testing.T) {
	a := annotations.NewLog()
	visitLines(a, 0, []record{flagged(0, 1), flagged(1, 2), flagged(0, 3).superseding(1), flagged(0, 4), retract(1, 2)})
	list := func(all []annotations.Entry) (out []int64) {
		for _, e := range all {
			out = append(out, e.Index)
		}
		return out
	}
	for name, got := range map[string]struct{ got, want []int64 }{
		"current of the first":  {list(a.Current(annotatedRuns[0])), []int64{2, 3}},
		"history of the first":  {list(a.History(annotatedRuns[0])), []int64{0, 2, 3}},
		"current of the second": {list(a.Current(annotatedRuns[1])), nil},
		"history of the second": {list(a.History(annotatedRuns[1])), []int64{1}},
		"of no run":             {list(a.History(id.Run{})), nil},
	} {
		if !slices.Equal(got.got, got.want) {
			t.Errorf("%s: %v, want %v", name, got.got, got.want)
		}
	}
	e, ok := a.Find(annotation(3))
	if !ok || e.AtMs != 1002 || e.CreatedAt != "1970-01-01T00:00:01.002Z" ||
		e.Details.SupersedesAnnotationID != annotation(1) || e.Details.StepID != "s" ||
		e.Target.RunID != annotatedRuns[0] || e.Actor.PrincipalRef != "ada" || e.EventID.IsZero() {
		t.Errorf("%v, %+v", ok, e)
	}
	if _, ok := a.Find(annotation(9)); ok || a.Head.Next != 5 {
		t.Error("found an unknown annotation, or the head did not advance")
	}
}

// An additional member does not make a retracted annotation current, and records that cannot be
// read are counted.
func TestForeignAnnotationsAreReadWhereKnown(t *testing.T) {
	line := func(p event.Payload, was, is string) event.Event {
		text, err := feedback.Table.AppendLine(nil,
			event.New(feedbackSession.String(), 0, event.Scope{RunID: annotatedRuns[0]}, person, 1, p))
		if err != nil || !strings.Contains(string(text), was) {
			t.Fatal(err, string(text))
		}
		e, err := feedback.Table.DecodeLine([]byte(strings.TrimSuffix(strings.Replace(string(text), was, is, 1), "\n")))
		if err != nil || e.Foreign() != (was != is) {
			t.Fatal(err, e)
		}
		return e
	}
	given, taken := flagged(0, 1).payload(), retract(0, 1).payload()
	for _, test := range []struct {
		name   string
		e      event.Event
		state  annotations.State
		passed int64
		count  int64
	}{
		{"own form", line(taken, "", ""), annotations.Retracted, 0, 0},
		{"a member more", line(taken, `"data":{`, `"data":{"also":1,`), annotations.Retracted, 0, 0},
		{"a kind more", line(taken, `"kind":"annotation_retracted"`, `"kind":"annotation_doubted"`),
			annotations.Current, 1, 1},
		{"no id", line(taken, `"annotationId":"ann_`, `"annotationId":"x`), annotations.Current, 1, 1},
	} {
		a, tally := annotations.NewLog(), annotations.NewTally()
		for _, v := range []ports.Visitor{a, tally} {
			if err := v.Visit(manifest.Segment{Events: []event.Event{line(given, `"data":{`, `"data":{"Also":1,`),
				test.e}}, manifest.Head{Next: 2}); err != nil {
				t.Error(err)
			}
		}
		if a.Entries[0].State != test.state || a.Skipped != test.passed || tally.Of(annotatedRuns[0]).
			Count() != test.count {
			t.Errorf("%s: %+v, %+v", test.name, a, tally.Of(annotatedRuns[0]))
		}
	}
}
