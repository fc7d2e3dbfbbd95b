package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// appendUnchecked appends to a session's annotations what no use case would append.
func (n *annotationFixture) appendUnchecked(a engine.Answer, table *event.Table, events ...event.Event) {
	n.Helper()
	log := manifest.SessionSide(a.Session.SessionID, table)
	err := ports.WithHealthySession(context.Background(), n.g.Store, n.g.Store, log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			for i := range events {
				events[i].Index = v.Head.Next + int64(i)
			}
			_, err := n.g.Store.Append(context.Background(), w, v.Head, manifest.Plan{Log: log, Events: events})
			return err
		})
	if err != nil {
		n.Fatal(err)
	}
}

func line(a engine.Answer, run id.Run, p event.Payload) event.Event {
	return event.New(a.Session.SessionID.String(), 0, event.Scope{RunID: run},
		event.Actor{Kind: event.Human, Ref: "ada"}, 5, p)
}

// laterAnnotation is of another version of the table.
type laterAnnotation struct {
	AnnotationID id.Annotation `json:"annotationId"`
}

func (laterAnnotation) Kind() string { return "annotation_doubted" }
func (d laterAnnotation) DedupeKey(owner string, _ event.Scope) string {
	return "annotation_doubted:" + owner + ":" + d.AnnotationID.String()
}
func (laterAnnotation) Check(event.Scope) error { return nil }

var laterTable = event.NewTable("annotations", "sessionId",
	event.Row[feedback.Recorded](event.RunScope), event.Row[laterAnnotation](event.RunScope))

// found are the findings of a verification about annotations, "code event" each.
func (n *annotationFixture) found() (out []string) {
	n.Helper()
	v, err := n.withEveryPort().Verify(context.Background())
	if err != nil {
		n.Fatal(err)
	}
	for _, s := range v.Sessions {
		if s.Health != manifest.Healthy {
			n.Errorf("annotations report the session as %s", s.Health)
		}
		for _, f := range s.Findings {
			at := "-"
			if f.Event != nil {
				at = string('0' + rune(*f.Event))
			}
			if out = append(out, string(f.Code)+" "+at); !strings.HasSuffix(f.Path, "/annotations") &&
				!strings.Contains(f.Path, "/annotations/") {
				n.Errorf("%+v", f)
			}
			if v.OK == (f.Severity == manifest.SeverityError) && len(s.Findings) == 1 {
				n.Errorf("ok is %v: %+v", v.OK, f)
			}
		}
	}
	return out
}

// TestVerifyReadsAnnotations: the names in every record are compared with what exists, and each
// problem is one finding, which does not concern the session itself (docs/design.md#side-logs).
func TestVerifyReadsAnnotations(t *testing.T) {
	t.Parallel()
	name := func(i byte) id.Annotation { return id.NewAnnotation(id.Seed{i, 0xbb}) }
	for what, test := range map[string]struct {
		slip func(n *annotationFixture, a, next, other engine.Answer, first feedback.Annotation)
		want []string
	}{
		"nothing wrong": {func(n *annotationFixture, a, next, _ engine.Answer, first feedback.Annotation) {
			n.note(next, about(feedback.Target{NodeID: a.NodeID}))
			n.note(next, instead(first, feedback.Flag()))
		}, nil},
		"a run of another session": {func(n *annotationFixture, a, _, other engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, other.Session.RunID, feedback.Record(name(1), remark(feedback.Flag()), feedback.Location{})))
		}, []string{"broken_reference 1"}},
		"a node of another run": {func(n *annotationFixture, a, _, other engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID, feedback.Record(name(1), about(feedback.Target{NodeID: other.NodeID}),
					feedback.Location{NodeID: other.NodeID})))
		}, []string{"broken_reference 1"}},
		"a place that is none": {func(n *annotationFixture, a, _, other engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID,
					feedback.Record(name(1), remark(feedback.Flag()), feedback.Location{NodeID: other.NodeID})))
		}, []string{"broken_reference 1"}},
		"an event that is none": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID, feedback.Record(name(1), about(feedback.Target{EventID: id.EventOf("x", "y")}),
					feedback.Location{})))
		}, []string{"broken_reference 1"}},
		"an event of another node": {func(n *annotationFixture, a, next, _ engine.Answer, _ feedback.Annotation) {
			all, _, err := n.g.Events(context.Background(), a.Session.RunID.String())
			must(n.T, err)
			i := slices.IndexFunc(all, func(e event.Event) bool { return e.Scope.NodeID == a.NodeID })
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID, feedback.Record(name(1), about(feedback.Target{EventID: all[i].ID}),
					feedback.Location{NodeID: next.NodeID})))
		}, []string{"broken_reference 1"}},
		"in place of nothing": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID,
					feedback.Record(name(1), instead(feedback.Annotation{AnnotationID: name(2)}, feedback.Flag()),
						feedback.Location{})))
		}, []string{"broken_reference 1"}},
		"in place of what comes later": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID,
					feedback.Record(name(1), instead(feedback.Annotation{AnnotationID: name(2)}, feedback.Flag()),
						feedback.Location{})),
				line(a, a.Session.RunID, feedback.Record(name(2), remark(feedback.Flag()), feedback.Location{})))
		}, []string{"broken_reference 1"}},
		"retracts nothing": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table, line(a, a.Session.RunID, feedback.Retract(name(2), "")))
		}, []string{"broken_reference 1"}},
		"twice the same": {func(n *annotationFixture, a, _, _ engine.Answer, first feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table,
				line(a, a.Session.RunID, feedback.Record(first.AnnotationID, remark(feedback.Rating(1)),
					feedback.Location{})))
		}, []string{"duplicate_dedupe_key 1"}},
		"retracted twice": {func(n *annotationFixture, a, _, _ engine.Answer, first feedback.Annotation) {
			n.appendUnchecked(a, feedback.Table, line(a, a.Session.RunID, feedback.Retract(first.AnnotationID, "")),
				line(a, a.Session.RunID, feedback.Retract(first.AnnotationID, "")))
		}, []string{"duplicate_dedupe_key 2"}},
		"an id of its own": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			e := line(a, a.Session.RunID, feedback.Record(name(1), remark(feedback.Flag()), feedback.Location{}))
			e.ID = id.EventOf("x", "y")
			n.appendUnchecked(a, feedback.Table, e)
		}, []string{"event_id 1"}},
		"of a later version": {func(n *annotationFixture, a, _, _ engine.Answer, _ feedback.Annotation) {
			n.appendUnchecked(a, laterTable, line(a, a.Session.RunID, laterAnnotation{name(1)}))
		}, []string{"unknown_version 1"}},
	} {
		t.Run(what, func(t *testing.T) {
			n := newAnnotationFixture(t)
			a := n.start(twoSteps)
			next, other := n.must(a, note("done")), n.start(twoSteps)
			first := n.note(next, remark(feedback.Rating(2)))
			before := n.own(a)
			test.slip(n, a, next, other, first)
			if got := n.found(); !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
			if n.own(a) != before {
				t.Error("the session's own log changed")
			}
		})
	}
}

// TestAnnotationsAfterARepair: what a repair removed on record is not reported as missing; what was
// removed otherwise is.
func TestAnnotationsAfterARepair(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	next := n.must(n.must(a, note("done")), note("also done"))
	n.note(next, about(feedback.Target{NodeID: next.NodeID}))
	names, err := filepath.Glob(filepath.Join(n.dir, "sessions", a.Session.SessionID.String(), "events", "*"))
	must(t, err)
	must(t, os.WriteFile(names[len(names)-1], []byte("{}\n"), 0o600))
	must(t, os.RemoveAll(filepath.Join(n.dir, "cache")))
	report, err := n.withEveryPort().
		Repair(context.Background(), n.person("ada"), upkeep.RepairCall{Ref: a.Session.SessionID.String(), Apply: true})
	if err != nil || !report.Applied || len(report.Findings) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := n.found(); len(got) > 0 {
		t.Error(got)
	}
	if list := n.list(a, learning.AnnotationQuery{}); len(list.Annotations) != 1 {
		t.Errorf("%+v", list)
	}
	must(t, os.RemoveAll(filepath.Join(n.dir, "audit"))) // and with it the record of the repair
	if got := n.found(); !slices.Equal(got, []string{"broken_reference 0"}) {
		t.Error(got)
	}
}

// TestAnnotationsWithoutTheirSession: a session of which only annotations are left was lost, and is
// not one that was never begun.
func TestAnnotationsWithoutTheirSession(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	n.note(a, remark(feedback.Flag()))
	dir := filepath.Dir(n.annotationsDir(a))
	for _, name := range []string{"manifest.jsonl", "events", "cache"} {
		must(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	v, err := n.withEveryPort().Verify(context.Background())
	if err != nil || v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}
