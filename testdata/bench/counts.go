package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// counting counts what passes the seam of a store.
type counting struct {
	osfs.FS
	syncs, dirSyncs, opened, listed, stats, barriers, bytes atomic.Int64
}

func (c *counting) Open(name string, m osfs.Mode) (osfs.File, error) {
	c.opened.Add(1)
	f, err := c.FS.Open(name, m)
	if err != nil {
		return nil, err
	}
	return &countedFile{f, c}, nil
}

func (c *counting) List(name string) ([]osfs.Entry, error) { c.listed.Add(1); return c.FS.List(name) }
func (c *counting) Stat(name string) (osfs.Info, error)    { c.stats.Add(1); return c.FS.Stat(name) }
func (c *counting) SyncDir(name string, k osfs.Sync) error {
	c.dirSyncs.Add(1)
	return c.FS.SyncDir(name, k)
}

// Together is one barrier: what runs side by side is waited for once.
func (c *counting) SyncAll(syncs ...func() error) error {
	if len(syncs) > 0 {
		c.barriers.Add(1)
	}
	return c.FS.SyncAll(syncs...)
}

type countedFile struct {
	osfs.File
	c *counting
}

func (f *countedFile) Write(p []byte) (int, error) {
	f.c.bytes.Add(int64(len(p)))
	return f.File.Write(p)
}
func (f *countedFile) Sync(k osfs.Sync) error { f.c.syncs.Add(1); return f.File.Sync(k) }

// counts is what one append asks of the disk.
func counts(_ int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	real := osfs.NewDir(filepath.Join(dir, "store"))
	defer real.Close()
	tree := &counting{FS: real}
	s, err := filestore.Open(tree, filestore.Options{LockWait: filestore.LockWaitDefault, Locks: lock.Files(real),
		Boot: osfs.Boot()})
	if err != nil {
		return err
	}
	ours, err := newAppender(s)
	if err != nil {
		return err
	}
	const rounds = 10
	if err := ours.append(); err != nil {
		return err
	}
	before := tree.snapshot()
	for range rounds {
		if err := ours.append(); err != nil {
			return err
		}
	}
	fmt.Printf("counts of one append: 3 events + a new snapshot\n")
	names := []string{"file syncs", "directory syncs", "barriers side by side", "files opened", "folders listed",
		"stats", "bytes written"}
	for i, v := range tree.snapshot() {
		fmt.Printf("  %-24s %6.1f\n", names[i], float64(v-before[i])/rounds)
	}
	after := tree.snapshot()
	bar("flushes", float64(after[0]+after[1]-before[0]-before[1])/rounds, 5)
	bar("barriers (side by side, then the manifest's sync)", float64(after[2]-before[2])/rounds+1, 3)
	return nil
}

func (c *counting) snapshot() []int64 {
	return []int64{c.syncs.Load(), c.dirSyncs.Load(), c.barriers.Load(), c.opened.Load(), c.listed.Load(),
		c.stats.Load(), c.bytes.Load()}
}
