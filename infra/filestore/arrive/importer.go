// Package arrive imports sessions: it stages their files, makes them durable and moves them to their place in one
// step. Whole sessions are in import.go, more events of a session of the store in extend.go. It does not check what the
// events mean.
//
// Start with Importer, then import.go.
package arrive

import (
	"github.com/waybill/waybill/infra/filestore/commit"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/read"
)

// Importer imports sessions into a store. It is safe for concurrent use.
type Importer struct {
	d      *disk.Disk
	read   *read.Reader
	commit *commit.Committer
}

// New returns an importer into the store on d.
func New(d *disk.Disk, r *read.Reader, c *commit.Committer) *Importer { return &Importer{d, r, c} }
