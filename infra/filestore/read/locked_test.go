package read_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// lookedUp is a directory that calls before ahead of each Stat of a name.
type lookedUp struct {
	*osfs.Dir
	name   string
	before func()
}

func (l lookedUp) Stat(name string) (osfs.Info, error) {
	if name == l.name {
		l.before()
	}
	return l.Dir.Stat(name)
}

// TestWithoutChangesWaitsForALogThatAppears: a log that is moved to its place while it is locked is locked itself.
func TestWithoutChangesWaitsForALogThatAppears(t *testing.T) {
	t.Parallel()
	dir, f := filepath.Join(t.TempDir(), "store"), suite.NewSessionFixture(1)
	_, err := suite.Gate(storetest.OpenDir(t, dir, 0), f.Start())
	storetest.Fatal(t, err)
	root, away := filepath.Join(dir, f.Log.Root), filepath.Join(dir, "away")
	storetest.Fatal(t, os.Rename(root, away))
	d := osfs.NewDir(dir)
	defer d.Close()
	appears := func() { _ = os.Rename(away, root) } // at the first look
	s, err := filestore.Open(lookedUp{d, layout.LockName(f.Log), appears},
		filestore.Options{Locks: lock.Files(d), LockWait: time.Second})
	storetest.Fatal(t, err)
	calls, wrong := 0, errors.New("wrong")
	err = s.WithoutChanges(context.Background(), f.Log, func() error {
		calls++
		if _, err := os.Stat(root); err != nil {
			t.Errorf("the log does not exist: %v", err)
		}
		if _, err := lock.Files(d).Acquire(context.Background(), layout.LockName(f.Log), lock.Exclusive, 0); err == nil {
			t.Error("another process can lock the log")
		}
		return wrong
	})
	if calls != 1 || !errors.Is(err, wrong) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestWithoutChangesIsBusyWhileAWriterIs: the lock of a writer is waited for, and then reported.
func TestWithoutChangesIsBusyWhileAWriterIs(t *testing.T) {
	t.Parallel()
	dir, f := filepath.Join(t.TempDir(), "store"), suite.NewSessionFixture(1)
	s := storetest.OpenDir(t, dir, 0)
	_, err := suite.Gate(s, f.Start())
	storetest.Fatal(t, err)
	release := storetest.HoldLock(t, dir, layout.LockName(f.Log))
	called := func() error { t.Error("called"); return nil }
	if err := s.WithoutChanges(context.Background(), f.Log, called); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("%v; want SESSION_LOCKED", err)
	}
	release()
	// A log that does not exist is kept from appearing: no process may move one to its place.
	none := suite.NewSessionFixture(2).Log
	err = s.WithoutChanges(context.Background(), none, func() error {
		if _, err := lock.Files(osfs.NewDir(dir)).Acquire(context.Background(), layout.UseLock, lock.Exclusive, 0); err == nil {
			t.Error("another process can move sessions")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
