package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// TestManyAnnotateAtOnce: two processes, with many callers each. Every annotation exists once, and
// has one line in the audit log.
func TestManyAnnotateAtOnce(t *testing.T) {
	t.Parallel()
	const writers = 50
	n := newAnnotationFixture(t)
	a := n.start(twoSteps)
	processes := []*enginetest.Engine{n.withEveryPort(), n.withEveryPort()}
	var wg sync.WaitGroup
	made := make([]feedback.Annotation, writers)
	for i := range writers {
		wg.Go(func() {
			var err error
			// A lock is not fair: a caller that waited too long tries again.
			for try := 0; try == 0 || fault.Is(err, fault.SessionLocked) && try < 100; try++ {
				made[i], err = processes[i%2].Annotate(context.Background(), caller(int64(i)), annotationSeed(i),
					a.Position(), remark(feedback.Label(fmt.Sprint("of ", i))))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[id.Annotation]int{}
	for _, name := range currentIDs(n.list(a, learning.AnnotationQuery{})) {
		seen[name]++
	}
	for i, m := range made {
		if seen[m.AnnotationID] != 1 {
			t.Errorf("annotation %d exists %d times", i, seen[m.AnnotationID])
		}
	}
	// completes lines that no writer has written yet
	must(t, n.withEveryPort().Ledger().Act(context.Background(), n.by(), ofStore("gc"), nothing))
	v, err := n.withEveryPort().AuditVerify(context.Background())
	if err != nil || !v.OK || len(v.Findings) > 0 || v.Events != writers+2 || len(seen) != writers {
		t.Errorf("%d annotations, %v: %+v", len(seen), err, v)
	}
	if got := n.sumUp(learning.SummaryQuery{Run: a.Session.RunID.String()}); got != "50 of test.two; 0 incomplete" {
		t.Error(got)
	}
	if got := n.found(); len(got) > 0 {
		t.Error(got)
	}
}

// TestOneCallerRetractsAnAnnotation: of the callers that retract or supersede the same annotation,
// one succeeds, and the others get an error.
func TestOneCallerRetractsAnAnnotation(t *testing.T) {
	t.Parallel()
	for round := range 4 {
		n := newAnnotationFixture(t)
		a := n.start(twoSteps)
		first := n.note(a, remark(feedback.Flag()))
		const each = 6
		var wg sync.WaitGroup
		var mu sync.Mutex
		superseded, retracted, already := 0, 0, 0
		for i := range each {
			one, other := n.withEveryPort(), n.withEveryPort()
			wg.Go(func() {
				_, err := one.Annotate(context.Background(), caller(9), annotationSeed(100+i), a.Position(),
					instead(first, feedback.Rating(1)))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					superseded++
				} else if !fault.Is(err, fault.ValidationError) {
					t.Error(err)
				}
			})
			wg.Go(func() {
				got, err := other.Retract(context.Background(), caller(9), a.Position(),
					learning.RetractRequest{Annotation: first.AnnotationID})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && got.Already:
					already++
				case err == nil:
					retracted++
				case !fault.Is(err, fault.ValidationError):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if superseded+retracted != 1 || retracted == 1 && already != each-1 || retracted == 0 && already > 0 {
			t.Errorf("round %d: superseded %d times, retracted %d times, %d found that done", round, superseded,
				retracted, already)
		}
		if got := n.found(); len(got) > 0 {
			t.Error(got)
		}
	}
}

// TestAnnotatingASessionThatIsDeleted: the session is moved to the trash while it is annotated.
// What was acknowledged moves with it, or is restored with it, and nothing else is left behind.
func TestAnnotatingASessionThatIsDeleted(t *testing.T) {
	t.Parallel()
	for round := range 8 {
		n := newAnnotationFixture(t)
		a := n.start(twoSteps)
		if round%2 == 1 {
			n.note(a, remark(feedback.Flag()))
		}
		const writers = 4
		var wg sync.WaitGroup
		made := make([]bool, writers)
		for i := range writers {
			g := n.withEveryPort()
			wg.Go(func() {
				_, err := g.Annotate(context.Background(), caller(9), annotationSeed(100+i), a.Position(),
					remark(feedback.Rating(2)))
				made[i] = err == nil
				if err != nil && fault.ExitOf(err) != fault.ExitNotFound && !fault.Is(err, fault.StoreConflict) &&
					!fault.Is(err, fault.SessionLocked) {
					t.Errorf("%v", err)
				}
			})
		}
		g := n.withEveryPort()
		wg.Go(func() {
			_, err := g.DeleteSessions(context.Background(), caller(10),
				upkeep.DeleteRequest{Refs: []string{a.Session.SessionID.String()}})
			if err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		wg.Wait()
		if _, err := os.Stat(n.annotationsDir(a)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("round %d: a folder with annotations and no session is left: %v", round, n.files(sessionDir(a)))
		}
		// A directory that holds only a lock file is no session, and blocks nothing.
		must(t, os.RemoveAll(filepath.Dir(n.annotationsDir(a))))
		_, err := n.withEveryPort().RestoreSession(context.Background(), n.by(), a.Session.SessionID.String())
		must(t, err)
		want := round % 2
		for _, ok := range made {
			if ok {
				want++
			}
		}
		if got := len(n.list(a, learning.AnnotationQuery{}).Annotations); got != want {
			t.Errorf("round %d: %d annotations of %d were restored", round, got, want)
		}
	}
}
