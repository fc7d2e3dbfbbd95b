package disk_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// removing is a disk that calls before ahead of each removal.
type removing struct {
	osfs.FS
	before func(name string)
}

func (r removing) Remove(name string) error {
	r.before(name)
	return r.FS.Remove(name)
}

// TestStoreIsCreatedByOneProcess: a process that creates a store must not remove directories
// that another process has created and relies on.
func TestStoreIsCreatedByOneProcess(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := osfs.NewDir(filepath.Join(t.TempDir(), "store"))
	defer dir.Close()
	open := func(tree osfs.FS) *filestore.Store {
		s, err := filestore.Open(tree, filestore.Options{Locks: lock.Files(dir)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	other, tried := open(dir), false
	creator := open(removing{dir, func(name string) {
		if !tried {
			tried = true
			if _, err := other.StoreID(ctx, ports.MayCreate); !fault.Is(err, fault.StoreLocked) {
				t.Errorf("creating the store concurrently: %v; want STORE_LOCKED", err)
			}
		}
		if _, err := dir.Stat("store.json"); err == nil {
			t.Errorf("%s is removed from a store that exists", name)
		}
	}})
	one, err := creator.StoreID(ctx, ports.MayCreate)
	if err != nil || !tried {
		t.Fatal(err, tried)
	}
	if two, err := other.StoreID(ctx, ports.MayCreate); err != nil || one != two {
		t.Errorf("the processes use the stores %v and %v, %v", one, two, err)
	}
}
