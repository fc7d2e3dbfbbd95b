package read_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestDamagedObjectIsReportedAndRewritten: reading it is STORE_CORRUPT, and a commit with the
// same object rewrites it.
func TestDamagedObjectIsReportedAndRewritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fixture := suite.NewSessionFixture(1)
	snapshot := fixture.Snapshot(0)
	for name, damage := range map[string][]byte{
		"flipped":  append(bytes.Clone(snapshot.Bytes[:len(snapshot.Bytes)-1]), '!'),
		"cut":      snapshot.Bytes[:10],
		"extended": append(bytes.Clone(snapshot.Bytes), 'x'),
		"empty":    {},
	} {
		dir := filepath.Join(t.TempDir(), "store")
		s := storetest.OpenDir(t, dir, 0)
		file := filepath.Join(dir, "snapshots", snapshot.Ref().FileName()+".json")
		_, err := s.StoreID(ctx, true)
		storetest.Fatal(t, err)
		storetest.Fatal(t, os.WriteFile(file, damage, 0o600))
		if _, err := s.Object(ctx, manifest.Snapshot, snapshot.Ref()); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: reading returned %v; want STORE_CORRUPT", name, err)
		}
		_, err = suite.Gate(s, suite.NewSessionFixture(1).Start())
		storetest.Fatal(t, err)
		if b, err := s.Object(ctx, manifest.Snapshot, snapshot.Ref()); err != nil || !bytes.Equal(b, snapshot.Bytes) {
			t.Errorf("%s: after a commit it reads %q, %v", name, b, err)
		}
	}
}

func TestTooLargeObjectIsRejected(t *testing.T) {
	t.Parallel()
	s := storetest.OpenDir(t, filepath.Join(t.TempDir(), "store"), 0)
	plan := suite.NewSessionFixture(1).Start()
	plan.Objects = append(plan.Objects,
		manifest.Object{Kind: manifest.Snapshot, Bytes: make([]byte, limits.SnapshotBytesMax+1)})
	if _, err := suite.Gate(s, plan); !fault.Is(err, fault.StoreLimit) {
		t.Errorf("the append returned %v; want STORE_LIMIT", err)
	}
}

// TestCleanupBlocksCommits: a commit must not rely on an object that a cleanup is removing.
func TestCleanupBlocksCommits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := storetest.OpenDir(t, dir, 0)
	fixture := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, fixture.Start())
	storetest.Fatal(t, err)
	cleanup, err := lock.Files(osfs.NewDir(dir)).Acquire(context.Background(), ".use.lock", lock.Exclusive, 0)
	storetest.Fatal(t, err)
	again := *fixture
	if _, err := suite.Gate(s, fixture.Advance(head.Next)); !fault.Is(err, fault.StoreLocked) {
		t.Errorf("during a cleanup: %v", err)
	}
	storetest.Fatal(t, cleanup.Unlock())
	if _, err := suite.Gate(s, again.Advance(head.Next)); err != nil {
		t.Errorf("after the cleanup: %v", err)
	}
}

// config is a control file of the store.
var config = ports.ControlFile{Name: "config.json", Kind: "config"}

type counter struct {
	N int64 `json:"n"`
}

// TestConcurrentControlUpdatesLoseNothing: updates are atomic.
func TestConcurrentControlUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "store")
	var wg sync.WaitGroup
	for range 4 {
		s := storetest.OpenDir(t, dir, 10*time.Second)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				err := s.UpdateControl(ctx, config,
					func(old ports.Control) (ports.Control, error) {
						var c counter
						if !old.Data.IsNull() {
							if err := canon.Decode(old.Data, &c); err != nil {
								return old, err
							}
						}
						next, err := canon.ValueOf(counter{c.N + 1})
						return ports.Control{V: 1, Data: next}, err
					})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	s := storetest.OpenDir(t, dir, 0)
	doc, err := s.Control(ctx, config)
	var c counter
	if err == nil {
		err = canon.Decode(doc.Data, &c)
	}
	if err != nil || c.N != 20 {
		t.Errorf("after 20 updates: %+v, %v", c, err)
	}
	for _, name := range []string{"../store.json", "store.json", "keys/keyring.json", ""} {
		if err := storetest.ReplaceConfig(s, name, doc); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}
