// Package storetest has what the tests of the packages below infra/filestore share: stores in directories of a test,
// processes on a simulated disk, and locks of other processes. It is not part of the product.
package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	mark "github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Imported is the control file of an imported session.
var Imported = ports.Control{V: 1, Data: mark.Mark{BundleID: "b", Events: 6, Head: canon.Sum(nil)}.Value()}

// Fatal ends the test on an error.
func Fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// OpenDir opens the store in a directory until the test ends.
func OpenDir(t testing.TB, dir string, wait time.Duration) *filestore.Store {
	t.Helper()
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: wait})
	Fatal(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// HoldLock acquires a lock of a store as another process would.
func HoldLock(t testing.TB, dir, name string) (release func()) {
	t.Helper()
	d := osfs.NewDir(dir)
	held, err := lock.Files(d).Acquire(context.Background(), name, lock.Exclusive, 0)
	Fatal(t, err)
	return func() { _ = held.Unlock(); _ = d.Close() }
}

// Append appends as the engine does: it reads from a known head on.
func Append(s *filestore.Store, at manifest.Head, p manifest.Plan) (head manifest.Head, err error) {
	ctx := context.Background()
	err = ports.WithHealthySession(ctx, s, s, p.Log, at, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			head, err = s.Append(ctx, w, v.Head, p)
			return err
		})
	return head, err
}

// Process opens the store on a simulated disk as one process of a boot would. seed makes what it draws differ from that
// of other processes.
func Process(f *crashfs.FS, boot string, seed byte) (*filestore.Store, error) {
	return filestore.Open(f, filestore.Options{
		AllowNetworkFS: f.Vol.Network,
		Locks:          lock.NewMemory().On(f), Boot: boot,
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) },
	})
}

// Read reads a log from its beginning.
func Read(s *filestore.Store, log manifest.Log) (*suite.Seen, manifest.Verdict, error) {
	seen := &suite.Seen{}
	v, err := s.Read(context.Background(), ports.ReadRequest{Log: log}, ports.Into(&seen, suite.NewSeen))
	return seen, v, err
}

// ReplaceConfig writes a control file of the kind config without regard to its content.
func ReplaceConfig(s *filestore.Store, name string, c ports.Control) error {
	return s.UpdateControl(context.Background(), ports.ControlFile{Name: name, Kind: "config"},
		func(ports.Control) (ports.Control, error) { return c, nil })
}
