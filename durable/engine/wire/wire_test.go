package wire_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

var ctx = context.Background()

// counting is a store that counts what is read of it.
type counting struct {
	*memstore.Store
	mu       sync.Mutex
	segments int
	objects  map[manifest.ObjectKind]int
	damaged  bool // the next reading finds damage behind the first segment
}

// Read implements ports.Logs.
func (c *counting) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	v, err := c.Store.Read(ctx, r, func(from manifest.Head) ports.Visitor {
		inner := visit(from)
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			c.mu.Lock()
			c.segments++
			c.mu.Unlock()
			return inner.Visit(seg, head)
		})
	})
	if c.damaged {
		// As a store does that meets damage: it reads again from the beginning.
		c.damaged = false
		return c.Store.Read(ctx, ports.ReadRequest{Log: r.Log}, visit)
	}
	return v, err
}

// Object implements ports.Objects.
func (c *counting) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	c.mu.Lock()
	c.objects[kind]++
	c.mu.Unlock()
	return c.Store.Object(ctx, kind, ref)
}

// world is a run in a store, and other processes that read it.
type world struct {
	*testing.T
	disk  *memstore.Disk
	store *counting
	g     *enginetest.Engine
	last  engine.Answer
	atMs  int64
}

// newWorld starts a run of n steps.
func newWorld(t *testing.T, n int) *world {
	t.Helper()
	w := &world{T: t, disk: memstore.NewDisk(id.Seed{9}), atMs: 1_700_000_000_000}
	w.store = w.process()
	w.g = enginetest.InMemory(w.store.Store)
	steps := make([]string, n)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"id":"s%d","title":"S","prompt":"p"}`, i)
	}
	text := `{"id":"test.many","name":"Many","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
	_, c, problems := compile.File("test.json", source.SourceProject, []byte(text))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	var err error
	w.last, err = w.g.Start(ctx, w.by(), id.Seed{1}, engine.Start{Workflow: c, SourceKind: event.SourceProject})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// process is the store as another process opens it.
func (w *world) process() *counting {
	return &counting{Store: w.disk.Open(time.Second), objects: map[manifest.ObjectKind]int{}}
}

// reader is the use cases of a process that has read nothing.
func (w *world) reader() (*wire.Wire, *counting) {
	s := w.process()
	return wire.New(session.NewReader(s), s, wire.About{Version: "9.9", Tenancy: s}), s
}

// by is an agent at the next moment.
func (w *world) by() engine.Caller {
	w.atMs += 1000
	return engine.Caller{Actor: event.Actor{Kind: event.Agent, Ref: "ada"}, AtMs: w.atMs}
}

// ack completes the pending step.
func (w *world) ack() {
	w.Helper()
	a, err := w.g.Continue(ctx, w.by(), engine.Continue{StateToken: w.last.StateToken, AckToken: w.last.AckToken,
		Request: advance.Request{Notes: "done"}})
	if err != nil {
		w.Fatal(err)
	}
	w.last = a
}

// run is the reference to the run.
func (w *world) run() string { return w.last.Session.RunID.String() }

// all reads every event of a run with a follower.
func all(t *testing.T, f *wire.Follower) (out []openwop.RunEvent, pages int) {
	t.Helper()
	for {
		events, ended, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, events...); ended || len(events) == 0 {
			return out, pages
		}
		pages++
	}
}

// contiguous fails unless events have the sequences from a first one on.
func contiguous(t *testing.T, events []openwop.RunEvent, first int64) {
	t.Helper()
	for i, e := range events {
		if e.Sequence != first+int64(i) {
			t.Fatalf("event %d has sequence %d, want %d", i, e.Sequence, first+int64(i))
		}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAFollowerReadsPagesAndThenWhatIsNew: a long run page by page, nothing twice, and only the end of the log
// where nothing is new.
func TestAFollowerReadsPagesAndThenWhatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 200)
	for range 150 {
		w.ack()
	}
	r, s := w.reader()
	f, err := r.Follow(ctx, w.run())
	if err != nil {
		t.Fatal(err)
	}
	events, pages := all(t, f)
	contiguous(t, events, 0)
	if pages < 2 || len(events) < 1000 || f.Log().Next() != int64(len(events)) {
		t.Fatalf("%d events in %d pages", len(events), pages)
	}
	s.segments, s.objects = 0, map[manifest.ObjectKind]int{}
	for range 5 {
		if events, ended, err := f.Next(ctx); len(events) != 0 || ended || err != nil {
			t.Fatal(len(events), ended, err)
		}
	}
	if s.segments != 0 || len(s.objects) != 0 {
		t.Errorf("without anything new %d segments and objects %v were read", s.segments, s.objects)
	}
	w.ack()
	more, ended, err := f.Next(ctx)
	if err != nil || ended || len(more) == 0 || s.segments != 1 {
		t.Fatalf("%d new events, ended %v, %d segments, %v", len(more), ended, s.segments, err)
	}
	contiguous(t, more, int64(len(events)))
	if s.objects[manifest.Artifact] != 0 {
		t.Error("an artifact was read")
	}
}

// TestAFollowerEnds: the last event is returned with the end, and nothing after it.
func TestAFollowerEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r, _ := w.reader()
	f, err := r.Follow(ctx, w.run())
	if err != nil {
		t.Fatal(err)
	}
	if _, ended, err := f.Next(ctx); ended || err != nil {
		t.Fatal(ended, err)
	}
	w.ack()
	events, ended, err := f.Next(ctx)
	if err != nil || !ended || len(events) == 0 || events[len(events)-1].Type != openwop.RunCompleted {
		t.Fatalf("%d events, ended %v, %v", len(events), ended, err)
	}
	if events, ended, err = f.Next(ctx); err != nil || !ended || len(events) != 0 {
		t.Fatalf("%d events, ended %v, %v", len(events), ended, err)
	}
}

// TestALogThatIsReadAgainGivesNothingTwice: a reading that starts over, as after damage that was none.
func TestALogThatIsReadAgainGivesNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 9)
	r, s := w.reader()
	f, err := r.Follow(ctx, w.run())
	if err != nil {
		t.Fatal(err)
	}
	before, _ := all(t, f)
	w.ack()
	s.damaged = true
	after, _, err := f.Next(ctx)
	if err != nil || len(after) == 0 {
		t.Fatal(len(after), err)
	}
	contiguous(t, append(before, after...), 0)
}

// TestPolls: the events behind a sequence, bounded, with the state of the run; a caller that polls makes the
// store read what is new.
func TestPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	r, s := w.reader()
	first, err := r.Events(ctx, w.run(), -1, 1000)
	if err != nil || first.Last != int64(len(first.Events))-1 || first.Status != openwop.WaitingInput {
		t.Fatalf("%+v %v", first, err)
	}
	contiguous(t, first.Events, 0)
	w.ack()
	s.segments = 0
	second, err := r.Events(ctx, w.run(), first.Last, 1000)
	if err != nil || len(second.Events) == 0 || s.segments > 1 {
		t.Fatalf("%d events, %d segments, %v", len(second.Events), s.segments, err)
	}
	contiguous(t, second.Events, first.Last+1)
	for _, row := range []struct {
		after  int64
		limit  int
		events int
	}{{-1, 4, 4}, {2, 3, 3}, {second.Last, 10, 0}, {second.Last + 100, 10, 0}, {second.Last - 1, 10, 1}} {
		got, err := r.Events(ctx, w.run(), row.after, row.limit)
		if err != nil || len(got.Events) != row.events || got.Last != second.Last {
			t.Errorf("after %d: %d events up to %d, %v", row.after, len(got.Events), got.Last, err)
		}
		contiguous(t, got.Events, row.after+1)
	}
	if _, err := r.Events(ctx, "run_x", -1, 1); !fault.Is(err, fault.RunNotFound) {
		t.Error(err)
	}
}

// TestSnapshotsAreThoseOfTheStore: with the tenant and the version of the program.
func TestSnapshotsAreThoseOfTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r, s := w.reader()
	tenant, err := s.Tenant(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, health, err := r.Snapshot(ctx, "@last")
	if err != nil || health != manifest.Healthy || got.Owner == nil || got.Owner.Tenant != tenant || got.EngineVersion != "9.9" ||
		got.Status != openwop.WaitingInput || got.CurrentNodeID != "s0" {
		t.Fatalf("%+v %s %v", got, health, err)
	}
	w.ack()
	if got, _, err = r.Snapshot(ctx, w.run()); err != nil || got.Status != openwop.Completed || got.CurrentNodeID != "" {
		t.Fatalf("%+v %v", got, err)
	}
}

// TestManyReadersAtOnce: snapshots, polls and followers of one run while it advances.
func TestManyReadersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	r, _ := w.reader()
	run := w.run()
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		group.Go(func() {
			f, err := r.Follow(ctx, run)
			if err != nil {
				t.Error(err)
				return
			}
			next := int64(0)
			for {
				events, _, err := f.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if e.Sequence != next {
						t.Errorf("sequence %d, want %d", e.Sequence, next)
					}
					next++
				}
				if _, _, err := r.Snapshot(ctx, run); err != nil {
					t.Error(err)
				}
				if page, err := r.Events(ctx, run, next-int64(i), 5); err != nil || len(page.Events) > 5 {
					t.Error(len(page.Events), err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 20 {
		w.ack()
	}
	close(stop)
	group.Wait()
}

// TestDebugBundles: what a bundle has, and that it is bounded.
func TestDebugBundles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.ack()
	w.ack()
	r, _ := w.reader()
	shown, err := w.g.Run(ctx, w.run())
	if err != nil {
		t.Fatal(err)
	}
	note := feedback.Annotation{AnnotationID: id.NewAnnotation(id.Seed{4}), Signal: feedback.Signal{Kind: feedback.FlagKind},
		Actor: feedback.Principal{PrincipalRef: "ada"}, CreatedAt: "2026-01-01T00:00:00.000Z", Target: feedback.RunTarget{RunID: w.last.Session.RunID, NodeID: *shown.Steps[0].NodeID},
		Note: "password=correct-horse-battery"}
	b, err := r.Bundle(ctx, w.run(), "2026-01-01T00:00:00.000Z", []feedback.Annotation{note})
	if err != nil {
		t.Fatal(err)
	}
	contiguous(t, b.Events, 0)
	if b.Truncated || b.Run.Status != openwop.Completed || b.Metrics.EventCount != int64(len(b.Events)) || len(b.Annotations) != 1 ||
		b.Host.Version != "9.9" || !b.RedactionApplied {
		t.Errorf("%+v", b)
	}
	if got := b.Annotations[0]; got.At("/target/nodeId").Text() != "s0" || got.At("/note").Text() != "password=[REDACTED:named_secret]" {
		t.Errorf("annotation: %s", got.JCS())
	}
	doc, err := canon.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := openwoptest.Published(t).Check("debug-bundle", doc); err != nil {
		t.Error(err)
	}
}

// TestStoresOfOtherProgramsAndVersionsAreRead: golden stores, those of another program, and broken ones: events
// that are valid, and no error but that of damage.
func TestStoresOfOtherProgramsAndVersionsAreRead(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, root := range []string{"../../../testdata", "../../../../shared/data/workrail/stores"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // a root may be missing
			if err == nil && d.IsDir() && d.Name() == "sessions" {
				dirs = append(dirs, filepath.Dir(path))
				return filepath.SkipDir
			}
			return nil
		})
	}
	read := 0
	for _, dir := range dirs {
		s, err := filestore.OpenDir(copyOf(t, dir), filestore.Options{LockWait: time.Second})
		if err != nil {
			continue // one that no command reads
		}
		g := enginetest.Over(s)
		list, err := g.Runs(ctx)
		if err != nil {
			_ = s.Close()
			continue
		}
		for _, run := range list.Runs {
			var events []openwop.RunEvent
			page, err := g.Wire.Each(ctx, run.RunID.String(), -1, func(more []openwop.RunEvent) error {
				events = append(events, more...)
				return nil
			})
			if err != nil && page.Health == manifest.Healthy && run.Health == manifest.Healthy {
				t.Errorf("%s %s: %v", dir, run.RunID, err)
			}
			contiguous(t, events, 0)
			if err == nil && len(events) == 0 {
				t.Errorf("%s %s: no events", dir, run.RunID)
			}
			if snapshot, _, snapErr := g.Wire.Snapshot(ctx, run.RunID.String()); err == nil && (snapErr != nil || snapshot.RunID != run.RunID.String()) {
				t.Errorf("%s %s: %v", dir, run.RunID, snapErr)
			}
			read++
		}
		_ = s.Close()
	}
	if read < 10 {
		t.Fatalf("%d runs in %d stores", read, len(dirs))
	}
}

// copyOf copies a store, since opening one may write caches.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
