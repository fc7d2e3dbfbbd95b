package filestore_test

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

// removing calls before each removal.
type removing struct {
	osfs.FS
	before func(name string)
}

func (r removing) Remove(name string) error {
	r.before(name)
	return r.FS.Remove(name)
}

// TestOneMakerAtATime: a process that makes a store must not remove folders that
// another one has made and relies on by then.
func TestOneMakerAtATime(t *testing.T) {
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
	maker := open(removing{dir, func(name string) {
		if !tried {
			tried = true
			if _, err := other.StoreID(ctx, ports.MayCreate); !fault.Is(err, fault.StoreLocked) {
				t.Errorf("beside a maker: %v", err)
			}
		}
		if _, err := dir.Stat("store.json"); err == nil {
			t.Errorf("%s is removed from a store that is there", name)
		}
	}})
	one, err := maker.StoreID(ctx, ports.MayCreate)
	if err != nil || !tried {
		t.Fatal(err, tried)
	}
	if two, err := other.StoreID(ctx, ports.MayCreate); err != nil || one != two {
		t.Errorf("%v and %v, %v", one, two, err)
	}
}
