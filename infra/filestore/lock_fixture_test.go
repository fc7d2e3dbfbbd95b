package filestore_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// holdLock acquires a lock of a store as another process would.
func holdLock(t *testing.T, dir, name string) (release func()) {
	t.Helper()
	d := osfs.NewDir(dir)
	held, err := lock.Files(d).Acquire(context.Background(), name, lock.Exclusive, 0)
	fatal(t, err)
	return func() { _ = held.Unlock(); _ = d.Close() }
}
