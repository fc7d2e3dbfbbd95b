// Package inspect reads a store as a whole: it reports what is wrong outside the logs, and lists what is stored and how
// large it is. It changes nothing, and does not verify logs, which is what package read does.
//
// Start with Inspector, then inspect.go.
package inspect

import (
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/read"
)

// Inspector inspects the store of a Disk. It is safe for concurrent use.
type Inspector struct {
	d    *disk.Disk
	read *read.Reader
}

// New returns an inspector of the store on d.
func New(d *disk.Disk, r *read.Reader) *Inspector { return &Inspector{d, r} }
