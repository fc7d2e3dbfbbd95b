package engine_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/crashfs"
)

// diskCosts counts what a process requests of the disk.
type diskCosts struct {
	osfs.FS
	opens, lists, calls int
	read, written       int64
}

func (c *diskCosts) Open(name string, mode osfs.Mode) (osfs.File, error) {
	c.calls++
	f, err := c.FS.Open(name, mode)
	if err == nil {
		c.opens++
		f = costsOfFile{f, c}
	}
	return f, err
}

func (c *diskCosts) List(name string) ([]osfs.Entry, error) {
	c.calls++
	c.lists++
	return c.FS.List(name)
}

func (c *diskCosts) Stat(name string) (osfs.Info, error) {
	c.calls++
	return c.FS.Stat(name)
}

type costsOfFile struct {
	osfs.File
	c *diskCosts
}

func (f costsOfFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.c.calls++
	f.c.read += int64(n)
	return n, err
}

func (f costsOfFile) Write(p []byte) (int, error) {
	f.c.calls++
	f.c.written += int64(len(p))
	return f.File.Write(p)
}

// oneStep is a process that finds the run, rehydrates it and advances it; it returns the cost.
func oneStep(t *testing.T, disk *crashfs.FS, l *longRun) diskCosts {
	t.Helper()
	c := &diskCosts{FS: disk}
	g := over(storeOver(t, disk, c))
	at, err := g.Locate(context.Background(), l.run.String()[:12])
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.Rehydrate(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	l.clock++
	if _, err = g.Advance(context.Background(), caller(l.clock), at, a.AttemptID,
		note("ok, and all went well")); err != nil {
		t.Fatal(err)
	}
	g.Flush(context.Background())
	return *c
}

// TestStepCostDoesNotGrowWithTheRun counts what one process opens and reads at the 10th step and at
// the 500th. Time is not measured: it differs by machine.
func TestStepCostDoesNotGrowWithTheRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a long run is made without -short only")
	}
	w := newFixture(t)
	l := newLongRunOf(t, w, 1, 600)
	at := map[int]diskCosts{}
	for i := 1; i <= 500; i++ {
		if i == 10 || i == 100 || i == 500 {
			at[i] = oneStep(t, l.disk, l)
			t.Logf("step %d: %+v", i, at[i])
			continue
		}
		if i%50 == 0 { // processes that stay for long leave caches as well
			l.process()
		}
		l.attempt(l.tip(), "ok, and all went well")
		if i == 9 || i == 99 || i == 499 {
			l.process()
		}
	}
	l.process()
	finding := &diskCosts{FS: l.disk}
	if _, err := over(storeOver(t, l.disk, finding)).Locate(context.Background(), engine.Last); err != nil {
		t.Fatal(err)
	}
	// store.json, the keyring, and of the session the cache's first line and a group.
	if finding.opens > 4 || finding.read > 8<<10 {
		t.Errorf("finding the run opens %d files and reads %d bytes", finding.opens, finding.read)
	}
	few, many := at[10], at[500]
	if many.opens != few.opens || many.lists != few.lists || many.calls != few.calls {
		t.Errorf("step 500 opens %d files, lists %d folders, asks %d times; step 10: %d, %d, %d", many.opens,
			many.lists, many.calls, few.opens, few.lists, few.calls)
	}
	// What grows is bounded: the window, up to 64 nodes, and the snapshot's list of completed
	// steps.
	window := int64(1200 * 64)
	if many.read > few.read+window || many.written > few.written+window {
		t.Errorf("step 500 reads %d bytes and writes %d; step 10: %d and %d", many.read, many.written, few.read,
			few.written)
	}
	if again := at[100]; many.read > again.read*12/10+8*500*3 {
		t.Errorf("step 500 reads %d bytes, step 100 %d", many.read, again.read)
	}
}
