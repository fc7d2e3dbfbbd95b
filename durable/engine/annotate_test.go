package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// annotationFixture is a store whose runs are annotated, with all ports of an engine.
type annotationFixture struct {
	*fixture
	made int
}

func newAnnotationFixture(t *testing.T) *annotationFixture {
	n := &annotationFixture{fixture: newFixture(t)}
	n.g = n.withEveryPort()
	return n
}

// withEveryPort is another process with all ports.
func (n *annotationFixture) withEveryPort() *enginetest.Engine {
	n.Helper()
	s, err := openUnsynced(n, n.dir, filestore.Options{LockWait: time.Minute})
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { _ = s.Close() })
	return withAllPorts(s)
}

// withAllPorts is an engine with all ports of a store.
func withAllPorts(s *filestore.Store) *enginetest.Engine {
	return over(s)
}

// remark is an annotation of the run as a whole.
func remark(s feedback.Signal) feedback.Request {
	return feedback.Request{Create: feedback.Create{Signal: s}}
}

func about(t feedback.Target) feedback.Request {
	r := remark(feedback.Flag())
	r.Target = t
	return r
}

func instead(of feedback.Annotation, s feedback.Signal) feedback.Request {
	r := remark(s)
	r.SupersedesAnnotationID = of.AnnotationID
	return r
}

func annotationSeed(n int) id.Seed { return id.Seed{byte(n), byte(n >> 8), byte(n >> 16), 0xa} }

// try annotates as another process would.
func (n *annotationFixture) try(by engine.Caller, at engine.Position, req feedback.Request) (feedback.Annotation,
	error) {
	n.made++
	return n.withEveryPort().Annotate(context.Background(), by, annotationSeed(n.made), at, req)
}

func (n *annotationFixture) note(a engine.Answer, req feedback.Request) feedback.Annotation {
	n.Helper()
	out, err := n.try(n.person("ada"), a.Position(), req)
	if err != nil {
		n.Fatal(err)
	}
	return out
}

func (n *annotationFixture) retract(a engine.Answer, name id.Annotation) (learning.Retracted, error) {
	return n.withEveryPort().Retract(context.Background(), n.person("ada"), a.Position(),
		learning.RetractRequest{Annotation: name, Reason: "it was wrong"})
}

func (n *annotationFixture) list(a engine.Answer, q learning.AnnotationQuery) learning.AnnotationList {
	n.Helper()
	out, err := n.withEveryPort().Annotations(context.Background(), a.Session.RunID.String(), q)
	if err != nil {
		n.Fatal(err)
	}
	return out
}

// currentIDs are the ids of a list.
func currentIDs(l learning.AnnotationList) (out []id.Annotation) {
	for _, a := range l.Annotations {
		out = append(out, a.AnnotationID)
	}
	return out
}

func (n *annotationFixture) annotationsDir(a engine.Answer) string {
	return filepath.Join(n.dir, "sessions", a.Session.SessionID.String(), "annotations")
}

// own is every byte of a session's own log.
func (n *annotationFixture) own(a engine.Answer) (out string) {
	n.Helper()
	dir := filepath.Join(n.dir, "sessions", a.Session.SessionID.String())
	names, err := filepath.Glob(filepath.Join(dir, "events", "*"))
	for _, name := range append(names, filepath.Join(dir, "manifest.jsonl")) {
		b, readErr := os.ReadFile(name)
		if err != nil || readErr != nil {
			n.Fatal(err, readErr)
		}
		out += name + string(b)
	}
	return out
}

// TestAnAnnotationIsListedAsItWasMade: the answer, the list, and the bytes on the disk agree, and
// no byte of the session's own log changes.
func TestAnAnnotationIsListedAsItWasMade(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	before := n.own(a)
	made := n.note(a, feedback.Request{Create: feedback.Create{Signal: feedback.Correction("use sk-canary0123456789"),
		Note: "token: hunter2-canary"}})
	const want = `{"annotationId":"%s","target":{"runId":"%s"},"signal":{"correction":"use [REDACTED:secret_key]","kind":"correction"},` +
		`"actor":{"principalRef":"ada"},"note":"token: [REDACTED:named_secret]","createdAt":"%s"}`
	createdAt := time.UnixMilli(n.clock).UTC().Format("2006-01-02T15:04:05.000Z")
	if got, want := asJSON(t, made), fmt.Sprintf(want, made.AnnotationID, a.Session.RunID, createdAt); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	list := n.list(a, learning.AnnotationQuery{})
	if len(list.Annotations) != 1 || asJSON(t, list.Annotations[0]) != asJSON(t, made) || list.Health != "healthy" ||
		list.ForkedFrom != nil || list.NextCursor != "" {
		t.Errorf("%+v", list)
	}
	if got, want := asJSON(t, list.About), fmt.Sprintf(`{"%s":{"nodeId":"%s","stepId":"first"}}`, made.AnnotationID,
		a.NodeID); got != want {
		t.Errorf("about %s, want %s", got, want)
	}
	if n.own(a) != before {
		t.Error("the session's own log changed")
	}
	if strings.Contains(n.log(a.Session.SessionID), "canary") {
		t.Error("a secret is on the disk")
	}
	if v, err := n.g.Verify(context.Background()); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestEndedRunsAreAnnotated: most feedback is given afterwards (docs/design.md#annotations).
func TestEndedRunsAreAnnotated(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	completed := n.must(n.must(n.start(twoSteps), note("done")), note("also done"))
	for name, a := range map[string]engine.Answer{"complete": completed, "cancelled": n.cancelled("r")} {
		before := n.own(a)
		made := n.note(a, remark(feedback.Rating(4)))
		list := n.list(a, learning.AnnotationQuery{})
		if !slices.Equal(currentIDs(list), []id.Annotation{made.AnnotationID}) || n.own(a) != before {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if about := n.list(completed, learning.AnnotationQuery{}).About; len(about) != 1 ||
		strings.Contains(asJSON(t, about), "stepId") {
		t.Errorf("of a run that is complete no step is pending: %+v", about)
	}
}

// TestAnnotatingWithoutASnapshot: which step was pending is unknown then, and nothing else changes.
func TestAnnotatingWithoutASnapshot(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(string) error{
		"lost":    os.Remove,
		"damaged": func(name string) error { return os.WriteFile(name, []byte("{}"), 0o600) },
	} {
		n := newAnnotationFixture(t)
		a := n.start(twoSteps)
		for _, file := range n.files("snapshots") {
			must(t, harm(filepath.Join(n.dir, "snapshots", file)))
		}
		made := n.note(a, remark(feedback.Flag()))
		if about := n.list(a, learning.AnnotationQuery{}).About[made.AnnotationID.String()]; about.NodeID != a.NodeID ||
			about.StepID != "" {
			t.Errorf("%s: %+v", name, about)
		}
	}
}

// TestTargets: the target of an annotation must exist.
func TestTargets(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	first := n.start(twoSteps)
	second := n.must(first, note("done"))
	other := n.start(twoSteps)
	events := func(a engine.Answer) (out map[string]id.Event) {
		all, _, err := n.g.Events(context.Background(), a.Session.RunID.String())
		must(t, err)
		out = map[string]id.Event{}
		for _, e := range all {
			out[e.Data.Kind()+fmt.Sprint(e.Scope.NodeID == first.NodeID)] = e.ID
		}
		return out
	}
	own, theirs := events(second), events(other)
	ofNode, ofRun, ofSession := own["advance_recordedtrue"], own["run_startedfalse"], own["session_createdfalse"]
	if ofNode.IsZero() || ofRun.IsZero() || ofSession.IsZero() {
		t.Fatal(own)
	}
	for _, test := range []struct {
		name   string
		target feedback.Target
		at     string // the target, or the code of the refusal
	}{
		{"the run", feedback.Target{}, second.NodeID.String() + " second"},
		{"a node", feedback.Target{NodeID: first.NodeID}, first.NodeID.String() + " first"},
		{"an event of a node", feedback.Target{EventID: ofNode}, first.NodeID.String() + " first"},
		{"an event and its node", feedback.Target{EventID: ofNode, NodeID: first.NodeID}, first.NodeID.String() +
			" first"},
		{"an event of the run", feedback.Target{EventID: ofRun}, " "},
		{"an unknown node", feedback.Target{NodeID: id.RootNode(id.NewRun(id.Seed{99}))}, "TARGET_NOT_FOUND"},
		{"another run's node", feedback.Target{NodeID: other.NodeID}, "TARGET_NOT_FOUND"},
		{"an unknown event", feedback.Target{EventID: id.EventOf("x", "y")}, "TARGET_NOT_FOUND"},
		{"another run's event", feedback.Target{EventID: theirs["run_startedfalse"]}, "TARGET_NOT_FOUND"},
		{"an event of the session", feedback.Target{EventID: ofSession}, " "},
		{"a node beside an event of the session", feedback.Target{EventID: ofSession, NodeID: first.NodeID}, "TARGET_NOT_FOUND"},
		{"a node that is not the event's", feedback.Target{EventID: ofNode, NodeID: second.NodeID}, "TARGET_NOT_FOUND"},
		{"a node beside an event of none", feedback.Target{EventID: ofRun, NodeID: first.NodeID}, "TARGET_NOT_FOUND"},
	} {
		before := len(n.list(second, learning.AnnotationQuery{}).Annotations)
		made, err := n.try(n.person("ada"), second.Position(), about(test.target))
		list := n.list(second, learning.AnnotationQuery{})
		if err != nil {
			if string(fault.CodeOf(err)) != test.at || len(list.Annotations) != before ||
				fault.ExitOf(err) != fault.ExitNotFound {
				t.Errorf("%s: %v, want %s", test.name, err, test.at)
			}
			continue
		}
		at := list.About[made.AnnotationID.String()]
		if got := at.NodeID.String() + " " + at.StepID; got != test.at || made.Target.EventID != test.target.EventID ||
			made.Target.NodeID != test.target.NodeID {
			t.Errorf("%s: at %q, want %q; %+v", test.name, got, test.at, made)
		}
	}
}

// TestOnlyAgentsGiveAConfidence: a confidence is given by agents only, and is listed with the row.
func TestOnlyAgentsGiveAConfidence(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	sure := 0.25
	req := remark(feedback.Flag())
	req.Confidence = &sure
	made, err := n.try(n.by(), a.Position(), req)
	must(t, err)
	if about := n.list(a, learning.AnnotationQuery{}).About[made.AnnotationID.String()]; about.Confidence == nil ||
		*about.Confidence != sure || made.Actor.PrincipalRef != "agent" {
		t.Errorf("%+v, %+v", about, made)
	}
	for _, kind := range []event.ActorKind{event.Human, event.Engine} {
		_, err := n.try(engine.Caller{Actor: event.Actor{Kind: kind, Ref: "ada"}, AtMs: 1}, a.Position(), req)
		if !fault.Is(err, fault.ValidationError) || fault.Of(err).Details["field"] != "/confidence" {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if list := n.list(a, learning.AnnotationQuery{History: true}); len(list.Annotations) != 1 {
		t.Errorf("a refused annotation was recorded: %+v", list)
	}
}
