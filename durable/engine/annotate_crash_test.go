package engine_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// onAllPorts is an engine with all ports over a disk in memory, as a process of its own.
func onAllPorts(f *crashfs.FS, seed byte) (*enginetest.Engine, error) {
	s, err := filestore.Open(f, filestore.Options{Locks: lock.NewMemory().On(f), Boot: "boot",
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	if err != nil {
		return nil, err
	}
	return withAllPorts(s), nil
}

// annotationCase is one call that writes to a session's annotations.
type annotationCase struct {
	name string
	base *crashfs.FS
	at   engine.Position
	own  map[string]string // the files of the session's own log
	call func(*enginetest.Engine, byte) error
	// before and after are what a list and the audit log contain before and after the call.
	before, after string
}

func ownFiles(f *crashfs.FS, s id.Session) map[string]string {
	out := map[string]string{}
	for name, b := range f.Files() {
		if root := manifest.SessionEvents(s).Root; name == root+"/manifest.jsonl" ||
			strings.HasPrefix(name, root+"/events/") {
			out[name] = string(b)
		}
	}
	return out
}

// annotationCases are disks with a run on them: without annotations, and with some.
func annotationCases(t *testing.T) []annotationCase {
	t.Helper()
	ctx := context.Background()
	bare := crashfs.New()
	g, err := onAllPorts(bare, 1)
	must(t, err)
	a, err := startCall(newFixture(t).compiled(twoSteps))(g)
	must(t, err)
	at, last := a.Position(), id.Annotation{}
	annotate := func(req feedback.Request) func(*enginetest.Engine, byte) error {
		return func(g *enginetest.Engine, n byte) error {
			_, err := g.Annotate(ctx, caller(9), annotationSeed(int(n)), at, req)
			return err
		}
	}
	some := bare.Reopen()
	for n := range 3 {
		g, err := onAllPorts(some, byte(20+n))
		must(t, err)
		made, err := g.Annotate(ctx, caller(5), annotationSeed(100+n), at, remark(feedback.Rating(int64(1+n))))
		must(t, err)
		last = made.AnnotationID
	}
	out := []annotationCase{
		{name: "the first one", base: bare.Reopen(), call: annotate(remark(feedback.Flag()))},
		{name: "a later one", base: some.Reopen(), call: annotate(remark(feedback.Flag()))},
		{name: "in place of another", base: some.Reopen(),
			call: annotate(instead(feedback.Annotation{AnnotationID: last}, feedback.Rating(5)))},
		{name: "retract", base: some.Reopen(), call: func(g *enginetest.Engine, _ byte) error {
			_, err := g.Retract(ctx, caller(9), at, learning.RetractRequest{Annotation: last, Reason: "r"})
			return err
		}},
	}
	for i := range out {
		r := &out[i]
		r.at, r.own = at, ownFiles(r.base, at.Session)
		done := r.base.Reopen()
		g, err := onAllPorts(done, 2)
		must(t, err)
		must(t, r.call(g, 1))
		r.before, _ = r.state(t, r.base)
		r.after, _ = r.state(t, done)
		if r.before == r.after {
			t.Fatal(r.before)
		}
	}
	return out
}

// state is what the next process finds: the current annotations and their sums. ok reports that
// everything on the disk is valid.
func (r annotationCase) state(t *testing.T, f *crashfs.FS) (state string, ok bool) {
	t.Helper()
	g, err := onAllPorts(f.Reopen(), 3)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return "", false
	}
	ctx := context.Background()
	list, err := g.Annotations(ctx, r.at.Run.String(), learning.AnnotationQuery{History: true})
	if err != nil || list.Health != manifest.Healthy {
		t.Errorf("annotations: %v, %+v", err, list)
		return "", false
	}
	sum, err := g.SummarizeAnnotations(ctx, learning.SummaryQuery{})
	v, verifyErr := g.Verify(ctx)
	if err != nil || verifyErr != nil || !v.OK || len(sum.Incomplete) > 0 {
		t.Errorf("verify: %v, %v, %+v, %+v", err, verifyErr, v, sum)
		return "", false
	}
	auditLines, err := g.AuditList(ctx, verify.AuditQuery{})
	if err != nil || !auditLines.Complete {
		t.Errorf("audit: %v, %+v", err, auditLines)
		return "", false
	}
	var lines []string
	for _, e := range auditLines.Entries { // written or not: a reader completes them
		lines = append(lines, string(e.Action)+e.Details["annotationId"])
	}
	if !maps.Equal(ownFiles(f, r.at.Session), r.own) {
		t.Error("the session's own log changed")
		return "", false
	}
	current := 0
	for _, a := range list.About {
		if a.SupersededBy.IsZero() && !a.Retracted {
			current++
		}
	}
	var counted int64
	for _, row := range sum.Runs {
		counted += row.Annotations
	}
	if counted != int64(current) {
		t.Errorf("%d annotations are current, and %d are counted", current, counted)
		return "", false
	}
	return asJSON(t, list.Annotations) + asJSON(t, list.About) + strings.Join(lines, " "), true
}

// isAfter reports whether the state is the one after the call.
func (r annotationCase) isAfter(t *testing.T, f *crashfs.FS) (after, ok bool) {
	t.Helper()
	state, ok := r.state(t, f)
	if ok && state != r.before && state != r.after {
		t.Errorf("neither what was before the call nor what is after it:\n%s", state)
		ok = false
	}
	return state == r.after, ok
}

// continues adds one more annotation to what is left.
func (r annotationCase) continues(t *testing.T, f *crashfs.FS) bool {
	t.Helper()
	next := f.Reopen()
	g, err := onAllPorts(next, 4)
	if err == nil {
		_, err = g.Annotate(context.Background(), caller(11), annotationSeed(999), r.at, remark(feedback.Label("next")))
	}
	if err != nil {
		t.Errorf("the next annotation: %v", err)
		return false
	}
	state, ok := r.state(t, next)
	if !ok || !strings.Contains(state, `"label":"next"`) {
		t.Errorf("after the next annotation: %s", state)
		return false
	}
	return true
}

// TestExploreCrashesOfAnnotations: in every state that a power cut leaves of the disk, the
// session's own log is the same to the byte, an annotation exists as a whole or not at all, an
// acknowledged one exists, and the next one is accepted.
func TestExploreCrashesOfAnnotations(t *testing.T) {
	t.Parallel()
	for _, r := range annotationCases(t) {
		t.Run(r.name, func(t *testing.T) {
			look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 120)}
			count := crashfs.Explore(r.base, look, func(f *crashfs.FS) {
				g, err := onAllPorts(f, 2)
				must(t, err)
				must(t, r.call(g, 1))
			}, func(s crashfs.State, done bool) bool {
				after, ok := r.isAfter(t, s.FS)
				if ok && done && !after {
					t.Error("an acknowledged call is lost")
					ok = false
				}
				if ok = ok && r.continues(t, s.FS); !ok {
					t.Logf("in the state %s", s.Name)
				}
				return ok
			})
			t.Logf("%d operations, %d crash states", count.Ops, count.States)
		})
	}
}

// TestFaultsOfAnnotations: one operation at a time fails, tears or is the last one. An answered
// annotation is recorded, and a refused one is not, unless the error says that the outcome is
// unknown.
func TestFaultsOfAnnotations(t *testing.T) {
	t.Parallel()
	for _, r := range annotationCases(t) {
		t.Run(r.name, func(t *testing.T) {
			count := crashfs.InjectFaults(r.base, sample.OneIn(t, 40), func(f *crashfs.FS) error {
				g, err := onAllPorts(f, 2)
				if err != nil {
					return err
				}
				return r.call(g, 1)
			}, func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
				after, ok := r.isAfter(t, left)
				killed := flaw.Err == nil
				switch {
				case !ok:
				case err == nil && !after:
					t.Error("the call answered, and nothing is recorded")
					ok = false
				case err != nil && after && !killed && !fault.Is(err, fault.StoreOutcomeUnknown):
					t.Errorf("the error states that nothing is recorded, and the call is: %v", err)
					ok = false
				}
				if ok = ok && r.continues(t, left); !ok {
					t.Logf("%s %s: %v", op, flaw, err)
				}
				return ok
			})
			t.Logf("%d operations, %d faults", count.Ops, count.Faults)
		})
	}
}
