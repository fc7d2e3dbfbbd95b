// Package read reads a store: its logs, objects, tombstones, keyring, control files and caches. It verifies the
// bytes that it returns and changes nothing; the findings about a whole store are those of package inspect.
//
// Start with Reader, then read.go.
package read

import "github.com/waybill/waybill/infra/filestore/disk"

// Reader reads the store of a Disk. It is safe for concurrent use.
type Reader struct{ d *disk.Disk }

// New returns a reader of the store on d.
func New(d *disk.Disk) *Reader { return &Reader{d} }
