package engine_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestAForkStartsWithoutAnnotations: it names the run in which its source's annotations are found
// (docs/design.md#annotations).
func TestAForkStartsWithoutAnnotations(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	next := n.must(a, note("done"))
	made := n.note(next, about(feedback.Target{NodeID: a.NodeID}))
	fork := n.mustFork(a.Position(), "again")
	list := n.list(fork, learning.AnnotationQuery{History: true})
	want := learning.Origin{SessionID: a.Session.SessionID, RunID: a.Session.RunID, NodeID: a.NodeID}
	if len(list.Annotations) > 0 || list.ForkedFrom == nil || *list.ForkedFrom != want {
		t.Errorf("%+v", list)
	}
	own := n.note(fork, remark(feedback.Rating(5)))
	if got := currentIDs(n.list(fork, learning.AnnotationQuery{})); !slices.Equal(got,
		[]id.Annotation{own.AnnotationID}) {
		t.Errorf("%v", got)
	}
	if got := currentIDs(n.list(a, learning.AnnotationQuery{})); !slices.Equal(got, []id.Annotation{made.AnnotationID}) {
		t.Errorf("of the source: %v", got)
	}
	if _, err := n.retract(fork, made.AnnotationID); err == nil {
		t.Error("the fork retracts an annotation of its source")
	}
}

// judged is a run with annotations of every kind of target, one superseded, one retracted.
func judged(n *annotationFixture) engine.Answer {
	n.Helper()
	a := n.start(twoSteps)
	next := n.must(a, note("done"))
	all, _, err := n.g.Events(context.Background(), a.Session.RunID.String())
	must(n.T, err)
	i := slices.IndexFunc(all, func(e event.Event) bool { return e.Scope.NodeID == a.NodeID })
	first := n.note(next, remark(feedback.Rating(2)))
	n.note(next, instead(first, feedback.Rating(3)))
	n.note(next, about(feedback.Target{NodeID: a.NodeID}))
	gone := n.note(next, about(feedback.Target{EventID: all[i].ID}))
	n.note(next, about(feedback.Target{EventID: all[i].ID, NodeID: a.NodeID}))
	_, err = n.retract(next, gone.AnnotationID)
	must(n.T, err)
	return next
}

// sortedJSON is a document with the members of each object in order.
func sortedJSON(t *testing.T, text string) string {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	must(t, err)
	return string(v.JCS())
}

// listed is the whole list of a run.
func listed(t *testing.T, g *enginetest.Engine, ref string) learning.AnnotationList {
	t.Helper()
	list, err := g.Annotations(context.Background(), ref, learning.AnnotationQuery{History: true})
	must(t, err)
	return list
}

// unmarked is a list of imported annotations without their marks; each has one.
func unmarked(t *testing.T, list learning.AnnotationList) learning.AnnotationList {
	t.Helper()
	for name, about := range list.About {
		if !about.Imported {
			t.Errorf("%s is not marked as imported", name)
		}
		about.Imported = false
		list.About[name] = about
	}
	return list
}

// TestAnnotationsTravel: a bundle holds them unchanged. Under new ids their targets are the new
// nodes and events, and a second import adds nothing.
func TestAnnotationsTravel(t *testing.T) {
	t.Parallel()
	from, to := newAnnotationFixture(t), newAnnotationFixture(t)
	a := judged(from)
	bundle := export(t, from.g, a.Session.SessionID, 1)
	was := listed(t, from.g, a.Session.RunID.String())
	if got := take(t, to.g, bundle, false); got.Relation != travel.NewSession {
		t.Fatalf("%+v", got)
	}
	if is := unmarked(t, listed(t, to.g, a.Session.RunID.String())); asJSON(t, is) != asJSON(t, was) || len(is.Annotations) != 5 {
		t.Errorf("%s\nwant\n%s", asJSON(t, is), asJSON(t, was))
	}
	if again := take(t, to.g, bundle, false); again.Relation != travel.Same {
		t.Errorf("once more: %+v", again)
	}
	fresh := take(t, to.g, bundle, true)
	if fresh.Relation != travel.NewSession || take(t, to.g, bundle, true).Relation != travel.Same {
		t.Fatalf("%+v", fresh)
	}
	run := fresh.Runs[0].RunID.String()
	is := unmarked(t, listed(t, to.g, run))
	text, want := asJSON(t, is), asJSON(t, was)
	for i, row := range is.Annotations {
		if old := was.Annotations[i].AnnotationID; old == row.AnnotationID {
			t.Errorf("annotation %s has its old id", old)
		} else {
			want = strings.ReplaceAll(want, old.String(), row.AnnotationID.String())
		}
	}
	// In the order of the new ids.
	if sorted := sortedJSON(t, want); nameless(sortedJSON(t, text)) != nameless(sorted) {
		t.Errorf("under new ids:\n%s\nwant\n%s", text, sorted)
	}
	events, _, err := to.g.Events(context.Background(), run)
	must(t, err)
	for i, row := range is.Annotations {
		old, about := was.Annotations[i].Target, is.About[row.AnnotationID.String()]
		hasEvent, hasNode := row.Target.EventID.IsZero(), about.NodeID.IsZero()
		for _, e := range events {
			hasEvent = hasEvent || e.ID == row.Target.EventID
			hasNode = hasNode || e.Scope.NodeID == about.NodeID
		}
		if row.Target.RunID.String() != run || !hasEvent || !hasNode || !old.EventID.IsZero() &&
			old.EventID == row.Target.EventID || !old.NodeID.IsZero() && old.NodeID == row.Target.NodeID {
			t.Errorf("%+v came as %+v at %+v", old, row.Target, about)
		}
	}
	if v, err := to.g.Verify(context.Background()); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	// Imported annotations are continued here.
	at, err := to.g.Locate(context.Background(), run)
	must(t, err)
	to.made = 70
	_, err = to.try(to.by(), at, instead(is.Annotations[1], feedback.Rating(4)))
	must(t, err)
	if got := to.sumUp(learning.SummaryQuery{Run: run}); got != "3 of test.two; 0 incomplete" {
		t.Error(got)
	}
}

// TestExportRedactsAnnotations: a secret in an imported annotation is not exported again.
func TestExportRedactsAnnotations(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	raw := feedback.Record(id.NewAnnotation(id.Seed{1}), remark(feedback.Correction("x")),
		feedback.Location{NodeID: a.NodeID})
	raw.Note, raw.Signal.Correction = "use sk-canary0123456789", "token: hunter2-canary"
	other := feedback.Record(id.NewAnnotation(id.Seed{2}), remark(feedback.Label("x")),
		feedback.Location{NodeID: a.NodeID})
	other.Signal.Label = "ghp_canary0123456789012345678901234567890"
	taken := feedback.Retract(other.AnnotationID, "x")
	taken.Reason = "password=canary-canary"
	n.appendUnchecked(a, feedback.Table, line(a, a.Session.RunID, raw), line(a, a.Session.RunID, other),
		line(a, a.Session.RunID, taken))
	if text := n.log(a.Session.SessionID); strings.Count(text, "canary") != 5 {
		t.Fatal(text)
	}
	var out bytes.Buffer
	done, err := n.g.Export(context.Background(), id.Seed{1}, travel.ExportRequest{Ref: a.Session.SessionID.String(),
		ExportedAt: "at 1", AppVersion: "1", Redact: true}, &out)
	if err != nil || strings.Contains(out.String(), "canary") || len(done.Redacted) < 3 {
		t.Errorf("%v, %+v:\n%s", err, done, out.String())
	}
	to := newAnnotationFixture(t)
	if got := take(t, to.g, out.Bytes(), false); got.Relation != travel.NewSession {
		t.Errorf("%+v", got)
	}
	list := listed(t, to.g, a.Session.RunID.String())
	if len(list.Annotations) != 2 || !strings.Contains(list.Annotations[0].Note, "[REDACTED:") ||
		!list.About[other.AnnotationID.String()].Retracted {
		t.Errorf("%+v", list)
	}
	if got := to.found(); len(got) > 0 {
		t.Error(got)
	}
}
