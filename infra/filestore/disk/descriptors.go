package disk

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// counted is a tree that counts the operations which failed because no file descriptor was left.
type counted struct {
	osfs.FS
	n atomic.Int64
}

// note counts err, if it is such a failure, and returns it.
func (c *counted) note(err error) error {
	if osfs.IsTooManyFiles(err) {
		c.n.Add(1)
	}
	return err
}

// Open implements osfs.FS, as the methods below.
func (c *counted) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := c.FS.Open(name, mode)
	return f, c.note(err)
}

func (c *counted) Place(from, to string) error { return c.note(c.FS.Place(from, to)) }

func (c *counted) Replace(from, to string) error { return c.note(c.FS.Replace(from, to)) }

func (c *counted) Remove(name string) error { return c.note(c.FS.Remove(name)) }

func (c *counted) Mkdir(name string) error { return c.note(c.FS.Mkdir(name)) }

func (c *counted) List(name string) ([]osfs.Entry, error) {
	entries, err := c.FS.List(name)
	return entries, c.note(err)
}

func (c *counted) Stat(name string) (osfs.Info, error) {
	info, err := c.FS.Stat(name)
	return info, c.note(err)
}

func (c *counted) SyncDir(name string, kind osfs.Sync) error { return c.note(c.FS.SyncDir(name, kind)) }

// Failures implements ports.Availability.
func (d *Disk) Failures() ports.Failures { return ports.Failures{Descriptors: d.files.n.Load()} }

// Acquire takes a lock file of the store; errors are those of lock.Locks.
func (d *Disk) Acquire(ctx context.Context, name string, mode lock.Mode, wait time.Duration) (*lock.Held, error) {
	held, err := d.Locks.Acquire(ctx, name, mode, wait)
	return held, d.files.note(err)
}
