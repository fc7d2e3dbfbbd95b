// Package upkeep changes what is not a log: the trash, tombstones, control files and the keyring. It also removes what
// a cleanup no longer needs. What to remove is decided by the caller.
//
// Start with Keeper, then sweeper.go and trash.go.
package upkeep

import (
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/read"
)

// Keeper keeps the store of a Disk in order. It is safe for concurrent use.
type Keeper struct {
	d    *disk.Disk
	read *read.Reader
}

// New returns a keeper of the store on d.
func New(d *disk.Disk, r *read.Reader) *Keeper { return &Keeper{d, r} }
