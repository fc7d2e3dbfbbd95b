//go:build unix

package commit_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// counting counts syncs (flushes), groups of syncs that run at the same time (barriers), and
// listings of directories.
type counting struct {
	*osfs.Dir
	flushes, barriers, lists, together atomic.Int64
}

func (c *counting) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := c.Dir.Open(name, mode)
	return countingFile{f, c}, err
}

func (c *counting) List(name string) ([]osfs.Entry, error) {
	c.lists.Add(1)
	return c.Dir.List(name)
}

func (c *counting) SyncDir(name string, kind osfs.Sync) error {
	c.flush()
	return c.Dir.SyncDir(name, kind)
}

func (c *counting) SyncAll(syncs ...func() error) error {
	if len(syncs) > 0 {
		c.barriers.Add(1)
	}
	c.together.Add(1)
	defer c.together.Add(-1)
	return c.Dir.SyncAll(syncs...)
}

func (c *counting) flush() {
	c.flushes.Add(1)
	if c.together.Load() == 0 {
		c.barriers.Add(1)
	}
}

type countingFile struct {
	osfs.File
	c *counting
}

func (f countingFile) Sync(kind osfs.Sync) error {
	f.c.flush()
	return f.File.Sync(kind)
}

// TestAppendFlushCount checks the numbers that docs/performance.md cites.
func TestAppendFlushCount(t *testing.T) {
	t.Parallel()
	dir := osfs.NewDir(filepath.Join(t.TempDir(), "store"))
	c := &counting{Dir: dir}
	s, err := filestore.Open(c, filestore.Options{Locks: lock.Files(dir), Boot: "boot"})
	storetest.Fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	storetest.Fatal(t, err)
	for _, want := range []struct {
		name                     string
		snapshot                 bool
		flushes, barriers, lists int64
	}{
		{"3 events and a new snapshot", true, 5, 3, 0},
		{"3 events", false, 3, 3, 0},
	} {
		plan := fixture.Advance(head.Next)
		if !want.snapshot {
			plan.Objects = nil
		}
		c.flushes.Store(0)
		c.barriers.Store(0)
		c.lists.Store(0)
		head, err = storetest.Append(s, head, plan)
		storetest.Fatal(t, err)
		if c.flushes.Load() != want.flushes || c.barriers.Load() != want.barriers || c.lists.Load() != want.lists {
			t.Errorf("%s: %d flushes, %d barriers, %d listings; want %d, %d, %d", want.name,
				c.flushes.Load(), c.barriers.Load(), c.lists.Load(), want.flushes, want.barriers, want.lists)
		}
		t.Logf("%s: %d flushes in %d barriers", want.name, c.flushes.Load(), c.barriers.Load())
	}
}

// BenchmarkAppend commits 3 events and a new snapshot, with lock and gate, on an
// in-memory filesystem where the system has one, so that it measures CPU time.
func BenchmarkAppend(b *testing.B) {
	root := "/dev/shm"
	if _, err := os.Stat(root); err != nil {
		root = ""
	}
	dir, err := os.MkdirTemp(root, "waybill")
	storetest.Fatal(b, err)
	defer os.RemoveAll(dir)
	s := storetest.OpenDir(b, filepath.Join(dir, "store"), time.Second)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	storetest.Fatal(b, err)
	before := cpuTime()
	b.ReportAllocs()
	for b.Loop() {
		if head, err = storetest.Append(s, head, fixture.Advance(head.Next)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1000, "cpu-µs/op")
}

func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
