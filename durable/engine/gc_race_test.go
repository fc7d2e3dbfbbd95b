package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// cleanupRace is one disk that many processes work on, each with a handle of its own.
type cleanupRace struct {
	*testing.T
	disk  *crashfs.FS
	locks *lock.Memory
	seeds uint64
	mu    sync.Mutex
	alive map[id.Session]int64 // acknowledged and not deleted: events
}

func (r *cleanupRace) process() *enginetest.Engine {
	r.mu.Lock()
	r.seeds++
	seed := r.seeds
	r.mu.Unlock()
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	s, err := filestore.Open(r.disk, filestore.Options{Locks: r.locks.On(r.disk), Boot: "boot", LockWait: time.Minute,
		Random: rand.NewChaCha8(key), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	if err != nil {
		r.Fatal(err)
	}
	return cleanupEngine(s)
}

// work starts a run and advances it; some then delete theirs for good.
func (r *cleanupRace) work(round, n int, w compile.Compiled) error {
	g, ctx := r.process(), context.Background()
	a, err := g.Start(ctx, caller(1), id.Seed{byte(round), byte(round >> 8), byte(n), 1},
		engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "x.json"})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if a, err = g.Continue(ctx, caller(2), engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken,
		Request: note("done")}); err != nil {
		return fmt.Errorf("continue: %w", err)
	}
	if n%3 == 0 {
		if _, err := g.DeleteSessions(ctx, caller(3),
			upkeep.DeleteRequest{Refs: []string{a.Session.SessionID.String()}}); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alive[a.Session.SessionID] = 1
	return nil
}

// cleanUp cleans up until done, as often as it gets the lock.
func (r *cleanupRace) cleanUp(done <-chan struct{}) (swept int64, err error) {
	g := r.process()
	for {
		select {
		case <-done:
			return swept, nil
		default:
		}
		report, err := g.GC(context.Background(), caller(4), upkeep.GCRequest{Apply: true, EmptyTrash: true})
		if err != nil && !fault.Is(err, fault.StoreLocked) {
			return swept, err
		}
		if report.SafeMode {
			return swept, fmt.Errorf("safe mode: %+v", report.Unclear)
		}
		swept += objectCount(report)
	}
}

// check verifies that everything acknowledged exists and is complete.
func (r *cleanupRace) check() {
	g := r.process()
	v, err := g.Verify(context.Background())
	if err != nil || !v.OK {
		r.Fatalf("verify: %v, %+v", err, v)
	}
	there := map[id.Session]bool{}
	for _, s := range v.Sessions {
		there[s.SessionID] = true
	}
	for s := range r.alive {
		if !there[s] {
			r.Fatalf("session %s was acknowledged and is gone", s)
		}
	}
	if len(there) != len(r.alive) {
		r.Fatalf("%d sessions, want %d", len(there), len(r.alive))
	}
}

// TestGCAmongWriters: fifty processes start, advance and delete at once while two clean up, in each
// of two hundred rounds or a sample of these. All bring the same objects, which no session requires
// when the round begins: a writer that finds one must still find it when its commit is done.
func TestGCAmongWriters(t *testing.T) {
	t.Parallel()
	rounds, writers := 0, 50
	w := newFixture(t)
	var flows []compile.Compiled // each with objects of its own
	for i := range 10 {
		flows = append(flows, w.compiled(strings.Replace(longOne, "test.long", fmt.Sprintf("test.long%d", i), 1)))
	}
	r := &cleanupRace{T: t, disk: crashfs.New(), alive: map[id.Session]int64{}}
	var total int64
	for round := range sample.OneIn(t, 20).Of(200) {
		rounds++
		// What was written is settled between rounds: a memory of every change would grow without
		// bound.
		r.disk, r.locks = r.disk.Reopen(), lock.NewMemory()
		var working, tending sync.WaitGroup
		done, errs, swept := make(chan struct{}), make(chan error, writers+2), make(chan int64, 2)
		for range 2 {
			tending.Go(func() {
				n, err := r.cleanUp(done)
				swept <- n
				errs <- err
			})
		}
		for n := range writers {
			working.Go(func() {
				// Not all at once: a cleanup has to get between them.
				time.Sleep(time.Duration(n%len(flows)) * time.Millisecond)
				errs <- r.work(round, n, flows[n%len(flows)])
			})
		}
		working.Wait()
		close(done)
		tending.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		total += <-swept + <-swept
		r.check()
		r.clear()
	}
	t.Logf("%d rounds, %d objects removed among writers", rounds, total)
	if !testing.Short() && total == 0 {
		t.Error("no object was removed while others wrote: the test tests nothing")
	}
}

// clear deletes all sessions, and leaves their objects to the next round's cleanup.
func (r *cleanupRace) clear() {
	g, ctx := r.process(), context.Background()
	var refs []string
	for s := range r.alive {
		refs = append(refs, s.String())
	}
	r.alive = map[id.Session]int64{}
	_, err := g.DeleteSessions(ctx, caller(5), upkeep.DeleteRequest{Refs: refs})
	if err == nil {
		_, err = g.EmptyTrash(ctx, caller(5))
	}
	if err != nil {
		r.Fatal(err)
	}
}
