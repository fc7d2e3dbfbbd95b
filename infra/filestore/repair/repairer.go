// Package repair makes damaged logs and control files usable again. Everything that it removes is in the quarantine
// first; whether to repair is decided by the caller.
//
// Start with Repairer, then repair.go.
package repair

import (
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/read"
)

// Repairer repairs the files of a store. It is safe for concurrent use.
type Repairer struct {
	d    *disk.Disk
	read *read.Reader
}

// New returns a repairer of the store on d.
func New(d *disk.Disk, r *read.Reader) *Repairer { return &Repairer{d, r} }
