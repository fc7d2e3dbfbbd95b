// Package commit writes logs: it implements the commit protocol (docs/design.md#commit-protocol), removes what a crash
// left of an append, and makes durable what a caller is about to acknowledge. It does not decide which event may
// follow which.
//
// Start with Committer, then append.go.
package commit

import (
	"sync"

	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/read"
)

// Committer commits to the logs of a store. It is safe for concurrent use.
type Committer struct {
	d    *disk.Disk
	read *read.Reader

	held sync.Map // the exclusive log locks that this Committer took, *lock.Held by log root
}

// New returns a committer to the store on d.
func New(d *disk.Disk, r *read.Reader) *Committer { return &Committer{d: d, read: r} }
