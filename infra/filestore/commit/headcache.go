package commit

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
)

// StoreHead implements ports.HeadCache. Nothing is synced: readers verify the bytes, and a cache that a
// power cut removes is computed again (docs/design.md#head-cache).
//
// A store that does not exist is not created, and a store that must not be written returns its
// refusal.
func (c *Committer) StoreHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return disk.WriteFault(err)
	}
	st, err := c.d.StateToWrite()
	if err != nil || !st.Exists {
		return err // a cache does not create a store
	}
	name := layout.HeadPath(log, format)
	temp, err := c.d.TempName(path.Dir(name))
	if err != nil {
		return err
	}
	err = c.d.WriteUnsynced(temp, data)
	if errors.Is(err, fs.ErrNotExist) {
		// Only the cache directory is created: the session's own must exist already.
		if err = c.d.Mkdir(path.Dir(name)); err == nil || errors.Is(err, fs.ErrExist) {
			err = c.d.WriteUnsynced(temp, data)
		}
	}
	if err == nil {
		err = c.d.Replace(temp, name)
	}
	if err != nil {
		_ = c.d.Remove(temp)
	} else if _, ofSession := id.ParseSession(log.Owner); ofSession != nil {
		c.removeOldHeads(log, format)
	}
	return disk.WriteFault(err)
}

// removeOldHeads removes the head caches of a log of the store that are more than one format older. The one before is
// left: the version of the program that uses it may be installed too. The caches of sessions are small, and go with
// their sessions.
func (c *Committer) removeOldHeads(log manifest.Log, format int) {
	for old := 1; old < format-1; old++ {
		_ = c.d.Remove(layout.HeadPath(log, old))
	}
}
