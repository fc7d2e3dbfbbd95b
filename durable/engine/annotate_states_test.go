package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestAnAnnotationIsSupersededOrRetractedOnce: one that is no longer current can be neither
// superseded nor retracted.
func TestAnAnnotationIsSupersededOrRetractedOnce(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a, other := n.start(twoSteps), n.start(twoSteps)
	first := n.note(a, remark(feedback.Rating(2)))
	elsewhere := n.note(other, remark(feedback.Flag()))
	second := n.note(a, instead(first, feedback.Rating(3)))
	refused := func(what string, err error, code fault.Code, words string) {
		t.Helper()
		if !fault.Is(err, code) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %s %q", what, err, code, words)
		}
	}
	supersede := func(of feedback.Annotation) error {
		_, err := n.try(n.person("bob"), a.Position(), instead(of, feedback.Flag()))
		return err
	}
	retract := func(of feedback.Annotation) error { _, err := n.retract(a, of.AnnotationID); return err }
	absent := feedback.Annotation{AnnotationID: id.NewAnnotation(id.Seed{0xee})}
	before := n.log(a.Session.SessionID)
	refused("supersede twice", supersede(first), fault.ValidationError, second.AnnotationID.String()+
		" superseded it")
	refused("retract what was superseded", retract(first), fault.ValidationError, second.AnnotationID.String()+
		" superseded it")
	for name, of := range map[string]feedback.Annotation{"another run's": elsewhere, "an unknown one": absent} {
		refused("supersede "+name, supersede(of), fault.AnnotationNotFound, of.AnnotationID.String())
		refused("retract "+name, retract(of), fault.AnnotationNotFound, of.AnnotationID.String())
	}
	if n.log(a.Session.SessionID) != before {
		t.Error("a refused call wrote something")
	}
	got, err := n.retract(a, second.AnnotationID)
	if err != nil || got.Already || got.AnnotationID != second.AnnotationID {
		t.Errorf("%+v, %v", got, err)
	}
	before = n.log(a.Session.SessionID)
	if got, err := n.retract(a, second.AnnotationID); err != nil || !got.Already ||
		asJSON(t, got.Annotation) != asJSON(t, second) {
		t.Errorf("once more: %+v, %v", got, err)
	}
	refused("supersede what was retracted", supersede(second), fault.ValidationError, "it was retracted")
	if n.log(a.Session.SessionID) != before {
		t.Error("a call that changes nothing wrote something")
	}
	if list := n.list(a, learning.AnnotationQuery{}); len(list.Annotations) > 0 {
		t.Errorf("a retracted annotation is shown: %+v", list)
	}
	list := n.list(a, learning.AnnotationQuery{History: true})
	one, two := list.About[first.AnnotationID.String()], list.About[second.AnnotationID.String()]
	if !slices.Equal(currentIDs(list), []id.Annotation{first.AnnotationID, second.AnnotationID}) ||
		one.SupersededBy != second.AnnotationID || one.Retracted ||
		two.SupersedesAnnotationID != first.AnnotationID || !two.Retracted || two.RetractedReason != "it was wrong" {
		t.Errorf("%+v", list)
	}
	if v, err := n.g.Verify(context.Background()); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestARefusedFirstAnnotationLeavesNothing: not even the directory of its log.
func TestARefusedFirstAnnotationLeavesNothing(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	absent := feedback.Annotation{AnnotationID: id.NewAnnotation(id.Seed{0xee})}
	for name, req := range map[string]feedback.Request{
		"in place of nothing": instead(absent, feedback.Flag()),
		"about nothing":       about(feedback.Target{EventID: id.EventOf("x", "y")}),
		"no signal":           {},
	} {
		if _, err := n.try(n.person("ada"), a.Position(), req); err == nil {
			t.Errorf("%s is recorded", name)
		}
	}
	if _, err := n.retract(a, absent.AnnotationID); !fault.Is(err, fault.AnnotationNotFound) {
		t.Error(err)
	}
	long := learning.RetractRequest{Annotation: absent.AnnotationID, Reason: strings.Repeat("x", 513)}
	if _, err := n.g.Retract(context.Background(), n.by(), a.Position(), long); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
	if _, err := os.Stat(n.annotationsDir(a)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was made:", err)
	}
}

// TestStoresRevealNothingOfEachOther: of an id that another store holds, a store answers what it
// answers of an unknown one (docs/design.md#tenants), to the byte except for the id.
func TestStoresRevealNothingOfEachOther(t *testing.T) {
	t.Parallel()
	mine, theirs := newAnnotationFixture(t), newAnnotationFixture(t)
	theirs.seeds, theirs.made = 100, 100
	a, b := mine.start(twoSteps), theirs.start(twoSteps)
	own, foreign := mine.note(a, remark(feedback.Flag())), theirs.note(b, remark(feedback.Flag()))
	unknown := engine.Position{Session: id.NewSession(id.Seed{0xee}), Run: id.NewRun(id.Seed{0xee})}
	unknown.Node = id.RootNode(unknown.Run)
	none := id.NewAnnotation(id.Seed{0xee})
	ctx, g := context.Background(), mine.withEveryPort()
	calls := map[string]func(engine.Position, id.Annotation) error{
		"annotate": func(at engine.Position, _ id.Annotation) error {
			_, err := mine.try(mine.by(), at, remark(feedback.Flag()))
			return err
		},
		"annotate a node": func(at engine.Position, _ id.Annotation) error {
			_, err := mine.try(mine.by(), at, about(feedback.Target{NodeID: at.Node}))
			return err
		},
		"a node, known run": func(at engine.Position, _ id.Annotation) error {
			_, err := mine.try(mine.by(), a.Position(), about(feedback.Target{NodeID: at.Node}))
			return err
		},
		"a run, known place": func(at engine.Position, _ id.Annotation) error {
			at.Session = a.Session.SessionID
			_, err := mine.try(mine.by(), at, remark(feedback.Flag()))
			return err
		},
		"locate": func(at engine.Position, _ id.Annotation) error {
			_,
				err := g.Locate(ctx, at.Run.String())
			return err
		},
		"list": func(at engine.Position, _ id.Annotation) error {
			_, err := g.Annotations(ctx, at.Run.String(), learning.AnnotationQuery{})
			return err
		},
		"sum up": func(at engine.Position, _ id.Annotation) error {
			_, err := g.SummarizeAnnotations(ctx, learning.SummaryQuery{Run: at.Run.String()})
			return err
		},
		"retract": func(at engine.Position, name id.Annotation) error {
			_, err := g.Retract(ctx, mine.by(), at, learning.RetractRequest{Annotation: name})
			return err
		},
		"retract in a run": func(_ engine.Position, name id.Annotation) error {
			_,
				err := mine.retract(a, name)
			return err
		},
		"retract one of ours": func(at engine.Position, _ id.Annotation) error {
			_, err := g.Retract(ctx, mine.by(), at, learning.RetractRequest{Annotation: own.AnnotationID})
			return err
		},
		"supersede": func(_ engine.Position, name id.Annotation) error {
			_, err := mine.try(mine.by(), a.Position(),
				instead(feedback.Annotation{AnnotationID: name}, feedback.Flag()))
			return err
		},
	}
	before := snapshotOf(t, mine.dir)
	for name, call := range calls {
		supersededMessage := func(at engine.Position, of id.Annotation) string {
			err := call(at, of)
			if fault.ExitOf(err) != fault.ExitNotFound {
				t.Errorf("%s: %v", name, err)
			}
			text := asJSON(t, fault.Of(err))
			for _, word := range []string{at.Session.String(), at.Run.String(), at.Node.String(), of.String()} {
				text = strings.ReplaceAll(text, word, "ID")
			}
			return text
		}
		if got, want := supersededMessage(b.Position(), foreign.AnnotationID),
			supersededMessage(unknown, none); got != want {
			t.Errorf("%s: the answer about an id of another store is\n%s\nand about an unknown id\n%s", name, got, want)
		}
	}
	if string(snapshotOf(t, mine.dir)) != string(before) {
		t.Error("a request for an unknown run left files behind")
	}
}

// TestDamagedAnnotationsAreListedUpToTheDamage: the list gives its health, nothing is appended to a
// damaged log, and the run continues (docs/design.md#side-logs).
func TestDamagedAnnotationsAreListedUpToTheDamage(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	first := n.note(a, remark(feedback.Flag()))
	n.note(a, remark(feedback.Flag()))
	names, err := filepath.Glob(filepath.Join(n.annotationsDir(a), "events", "*"))
	must(t, err)
	must(t, os.WriteFile(names[1], []byte("{}\n"), 0o600))
	list := n.list(a, learning.AnnotationQuery{})
	if list.Health != manifest.CorruptTail || !slices.Equal(currentIDs(list), []id.Annotation{first.AnnotationID}) {
		t.Errorf("%+v", list)
	}
	sum, err := n.withEveryPort().SummarizeAnnotations(context.Background(), learning.SummaryQuery{})
	if err != nil || !slices.Equal(sum.Incomplete, []id.Session{a.Session.SessionID}) {
		t.Errorf("%+v, %v", sum, err)
	}
	for name, call := range map[string]func() error{
		"annotate": func() error { _, err := n.try(n.by(), a.Position(), remark(feedback.Flag())); return err },
		"supersede": func() error {
			_,
				err := n.try(n.by(), a.Position(), instead(first, feedback.Flag()))
			return err
		},
		"retract": func() error { _, err := n.retract(a, first.AnnotationID); return err },
	} {
		if err := call(); !fault.Is(err, fault.SessionUnhealthy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n.must(n.must(a, note("done")), note("also done"))
	v, err := n.g.Verify(context.Background())
	if err != nil || v.OK || v.Sessions[0].Health != manifest.Healthy {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestDisabledAnnotations: every call is refused, nothing is written, and earlier annotations are
// listed once they are enabled again.
func TestDisabledAnnotations(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	made := n.note(a, remark(feedback.Flag()))
	turn := func(to string) {
		must(t, n.g.Set(context.Background(), "feedback", to))
	}
	turn("off")
	before := snapshotOf(t, n.dir)
	ctx, g := context.Background(), n.withEveryPort()
	for name, call := range map[string]func() error{
		"annotate": func() error {
			_, err := g.Annotate(ctx, n.by(), annotationSeed(9), a.Position(), remark(feedback.Flag()))
			return err
		},
		"annotate wrongly": func() error {
			_, err := g.Annotate(ctx, n.by(), annotationSeed(9), engine.Position{}, feedback.Request{})
			return err
		},
		"retract": func() error { _, err := n.retract(a, made.AnnotationID); return err },
		"list": func() error {
			_, err := g.Annotations(ctx, "no run", learning.AnnotationQuery{Cursor: "none"})
			return err
		},
		"sum up": func() error { _, err := g.SummarizeAnnotations(ctx, learning.SummaryQuery{}); return err },
		"sum one up": func() error {
			_,
				err := g.SummarizeAnnotations(ctx, learning.SummaryQuery{Run: "no run"})
			return err
		},
		"without a run": func() error { _, err := g.Annotations(ctx, "", learning.AnnotationQuery{}); return err },
	} {
		err := call()
		if !fault.Is(err, fault.CapabilityNotProvided) || fault.ExitOf(err) != 1 ||
			fault.Of(err).Details["capability"] != "feedback" || fault.Of(err).Suggestion.String() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if string(snapshotOf(t, n.dir)) != string(before) {
		t.Error("something was written")
	}
	turn("on")
	if list := n.list(a, learning.AnnotationQuery{}); len(list.Annotations) != 1 {
		t.Errorf("%+v", list)
	}
}
