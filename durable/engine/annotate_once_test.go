package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// once annotates with an idempotency key as another process would.
func (n *annotationFixture) once(by engine.Caller, key string, at engine.Position, req feedback.Request) (feedback.Annotation,
	error) {
	return n.withEveryPort().AnnotateOnce(context.Background(), by, key, at, req)
}

// recorded counts the annotations of a run in any state.
func (n *annotationFixture) recorded(a engine.Answer) int {
	n.Helper()
	all, err := n.withEveryPort().Annotations(context.Background(), a.Session.RunID.String(),
		learning.AnnotationQuery{History: true})
	must(n.T, err)
	return len(all.Annotations)
}

// TestRepeatedAnnotationIsOne: a request that is repeated with its key gets the recorded annotation, also after the process
// ended before it answered; another request under the key is refused, and another key is another annotation.
func TestRepeatedAnnotationIsOne(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a, other := n.start(twoSteps), n.start(twoSteps)
	by := n.person("ada")
	first, err := n.once(by, "k", a.Position(), remark(feedback.Rating(4)))
	must(t, err)
	for range 3 {
		by.AtMs += 1000 // the later time is not that of another annotation
		again, err := n.once(by, "k", a.Position(), remark(feedback.Rating(4)))
		if err != nil || again != first {
			t.Errorf("%+v, %v", again, err)
		}
	}
	secret := remark(feedback.Label("see ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"))
	one, err := n.once(by, "secret", a.Position(), secret)
	must(t, err)
	if two, err := n.once(by, "secret", a.Position(), secret); err != nil || two != one {
		t.Errorf("%+v, %v", two, err)
	}
	confident := remark(feedback.Flag())
	low := 0.5
	confident.Confidence = &low
	for what, c := range map[string]struct {
		by  engine.Caller
		req feedback.Request
	}{"signal": {by, remark(feedback.Rating(5))}, "kind": {by, remark(feedback.Flag())}, "target": {by, about(feedback.Target{NodeID: a.NodeID})},
		"note":   {by, feedback.Request{Create: feedback.Create{Signal: feedback.Rating(4), Note: "n"}}},
		"author": {n.person("bob"), remark(feedback.Rating(4))}, "superseded": {by, instead(first, feedback.Rating(4))}} {
		if _, err := n.once(c.by, "k", a.Position(), c.req); !fault.Is(err, fault.IdempotencyMismatch) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if got := n.recorded(a); got != 2 {
		t.Errorf("%d annotations", got)
	}
	for key, at := range map[string]engine.Position{"k2": a.Position(), "k": other.Position()} {
		if made, err := n.once(by, key, at, remark(feedback.Rating(4))); err != nil || made.AnnotationID == first.AnnotationID {
			t.Errorf("%s: %+v, %v", key, made, err)
		}
	}
	agent := caller(by.AtMs)
	made, err := n.once(agent, "confident", a.Position(), confident)
	must(t, err)
	if again, err := n.once(agent, "confident", a.Position(), confident); err != nil || again != made {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestRepeatedAnnotationAfterADay: a day later the key is that of another request, any number of times.
func TestRepeatedAnnotationAfterADay(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	by := n.person("ada")
	seen := map[id.Annotation]bool{}
	for i := range 4 {
		made, err := n.once(by, "k", a.Position(), remark(feedback.Rating(int64(1+i))))
		must(t, err)
		by.AtMs += day
		again, err := n.once(by, "k", a.Position(), remark(feedback.Rating(int64(1+i))))
		if err != nil || again != made || seen[made.AnnotationID] {
			t.Errorf("%+v, %v", again, err)
		}
		seen[made.AnnotationID] = true
		by.AtMs++
	}
}

// TestRepeatedSupersedingAnnotation: the first request superseded an annotation, which is not current when it is repeated.
func TestRepeatedSupersedingAnnotation(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	by := n.person("ada")
	old := n.note(a, remark(feedback.Rating(1)))
	made, err := n.once(by, "k", a.Position(), instead(old, feedback.Rating(5)))
	must(t, err)
	if again, err := n.once(by, "k", a.Position(), instead(old, feedback.Rating(5))); err != nil || again != made {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := n.once(by, "k2", a.Position(), instead(old, feedback.Rating(5))); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
	if _, err := n.once(by, "k3", a.Position(), about(feedback.Target{NodeID: id.RootNode(id.NewRun(id.Seed{99}))})); !fault.Is(err,
		fault.TargetNotFound) {
		t.Error(err)
	}
}

// TestAnnotationsWithOneKeyAtOnce: processes that annotate with one key at the same time record one annotation, and all get it.
func TestAnnotationsWithOneKeyAtOnce(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	by := n.person("ada")
	const processes = 6
	made, errs := make([]feedback.Annotation, processes), make([]error, processes)
	var wg sync.WaitGroup
	for i := range processes {
		g := n.withEveryPort()
		wg.Go(func() {
			made[i], errs[i] = g.AnnotateOnce(context.Background(), by, "k", a.Position(), remark(feedback.Flag()))
		})
	}
	wg.Wait()
	for i := range processes {
		if errs[i] != nil || made[i] != made[0] {
			t.Errorf("process %d: %+v, %v", i, made[i], errs[i])
		}
	}
	if v, err := n.withEveryPort().Verify(context.Background()); n.recorded(a) != 1 || err != nil || !v.OK {
		t.Errorf("%d annotations, %+v, %v", n.recorded(a), v, err)
	}
}

// TestImportedAnnotationAnswersNoKey: an annotation that came with a bundle is not the one of a request here, even with its id.
func TestImportedAnnotationAnswersNoKey(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	ctx := context.Background()
	by := n.person("ada")
	made, err := n.once(by, "k", a.Position(), remark(feedback.Flag()))
	must(t, err)
	must(t, n.g.Store.UpdateSessionControl(ctx, a.Session.SessionID, ports.ImportedFile,
		func(ports.Control) (ports.Control, error) {
			return ports.Control{V: 1, Data: imported.Mark{AtMs: 1, BundleID: "bundle_x", Events: 1, Head: canon.Sum(nil),
				Logs: map[string]int64{feedback.Table.Name: 1}}.Value()}, nil
		}))
	again, err := n.once(by, "k", a.Position(), remark(feedback.Flag()))
	if err != nil || again.AnnotationID == made.AnnotationID {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestExploreCrashesOfAnAnnotationWithAKey: in every state that a power cut leaves, the repeated request leaves one annotation,
// and answers what was answered before.
func TestExploreCrashesOfAnAnnotationWithAKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bare := crashfs.New()
	g, err := onAllPorts(bare, 1)
	must(t, err)
	a, err := startCall(newFixture(t).compiled(twoSteps))(g)
	must(t, err)
	by := engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "key:ci"}, AtMs: 9}
	annotate := func(f *crashfs.FS, seed byte) (feedback.Annotation, error) {
		g, err := onAllPorts(f, seed)
		if err != nil {
			return feedback.Annotation{}, err
		}
		return g.AnnotateOnce(ctx, by, "k", a.Position(), remark(feedback.Flag()))
	}
	answered, err := annotate(bare.Reopen(), 2)
	must(t, err)
	look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 40)}
	count := crashfs.Explore(bare.Reopen(), look, func(f *crashfs.FS) {
		_, err := annotate(f, 2)
		must(t, err)
	}, func(s crashfs.State, _ bool) bool {
		next := s.FS.Reopen()
		got, err := annotate(next, 3)
		twice, err2 := annotate(next.Reopen(), 4)
		ok := err == nil && err2 == nil && got == answered && twice == answered
		if !ok {
			t.Errorf("in the state %s: %+v, %v; %+v, %v", s.Name, got, err, twice, err2)
		}
		return ok
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}

// interposed calls a function once, before the first lock is taken.
type interposed struct {
	enginetest.Store
	before *func()
}

func (s interposed) Lock(ctx context.Context, log manifest.Log) (func() error, error) {
	if do := *s.before; do != nil {
		*s.before = nil
		do()
	}
	return s.Store.Lock(ctx, log)
}

// TestAnnotationRecordedMeanwhile: another process records the annotation of the key between the reading and the lock.
func TestAnnotationRecordedMeanwhile(t *testing.T) {
	t.Parallel()
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	by := n.person("ada")
	var theirs feedback.Annotation
	before := func() {
		var err error
		theirs, err = n.once(by, "k", a.Position(), remark(feedback.Flag()))
		must(t, err)
	}
	g := enginetest.Over(interposed{n.withEveryPort().Store, &before})
	ours, err := g.AnnotateOnce(context.Background(), by, "k", a.Position(), remark(feedback.Flag()))
	v, verifyErr := n.withEveryPort().Verify(context.Background())
	if err != nil || ours != theirs || before != nil || verifyErr != nil || !v.OK || n.recorded(a) != 1 {
		t.Errorf("%+v, %v; %+v, %v", ours, err, v, verifyErr)
	}
}
