package diagnose

import (
	"context"
	"path/filepath"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// Folder is the place of a store in a directory. It implements ports.StorePlace.
type Folder struct{ Dir string }

var _ ports.StorePlace = Folder{}

// Describe implements ports.StorePlace; see DescribePath.
func (f Folder) Describe() doctor.Store { return DescribePath(f.Dir) }

// Probe implements ports.StorePlace: inside the store if it can be opened, else in the nearest existing directory above it,
// which usually is on the same filesystem. Nothing is written into a directory that is not a store of Waybill.
func (f Folder) Probe(ctx context.Context) doctor.Probes {
	inStore := f.Describe().Kind == doctor.Directory
	if inStore {
		s, err := filestore.OpenDir(f.Dir, filestore.Options{AllowNetworkFS: true})
		if err == nil {
			_ = s.Close()
		}
		inStore = err == nil && HasStoreFile(f.Dir)
	}
	at := f.Dir
	if !inStore {
		at = NearestDirectory(filepath.Dir(f.Dir))
	}
	out := Probe(ctx, at)
	// A failure outside of the store is weaker evidence, so the report must know.
	out.InStore = inStore
	return out
}

// InUse implements ports.StorePlace; see the function InUse.
func (f Folder) InUse(ctx context.Context) (held bool, pid int) { return InUse(ctx, f.Dir) }

// Leftovers implements ports.StorePlace; see the function Leftovers.
func (f Folder) Leftovers() doctor.Leftovers { return Leftovers(f.Dir) }

// HasSessions implements ports.StorePlace; see the function HasSessions.
func (f Folder) HasSessions() bool { return HasSessions(f.Dir) }
