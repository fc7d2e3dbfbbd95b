package commit_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestHeadCacheIsNotSynced: the caller writes it after the commit, while the user waits for
// the answer.
func TestHeadCacheIsNotSynced(t *testing.T) {
	t.Parallel()
	disk := crashfs.New()
	s, err := storetest.Process(disk, "boot", 1)
	storetest.Fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	_, err = suite.Gate(s, fixture.Start())
	storetest.Fatal(t, err)
	_, err = s.Keys(context.Background(), ports.MayCreate)
	storetest.Fatal(t, err)
	var done []string
	disk.Before = func(op crashfs.Op) { done = append(done, op.Action) }
	for range 2 {
		storetest.Fatal(t, s.StoreHead(context.Background(), fixture.Log, 1, []byte("x")))
	}
	for _, do := range done {
		if strings.HasPrefix(do, "sync") {
			t.Errorf("the head cache is synced: %v", done)
		}
	}
	disk.Before = nil
	found, err := s.Inspect(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("Inspect reports the head cache: %v, %v", found, err)
	}
}

// TestHeadCacheRejectsLink: its target may be outside the store.
func TestHeadCacheRejectsLink(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "store")
	dir := osfs.NewDir(root)
	s, err := filestore.Open(dir, filestore.Options{Locks: lock.Files(dir)})
	storetest.Fatal(t, err)
	fixture := suite.NewSessionFixture(1)
	_, err = suite.Gate(s, fixture.Start())
	storetest.Fatal(t, err)
	storetest.Fatal(t, s.StoreHead(context.Background(), fixture.Log, 1, []byte("x")))
	storetest.Fatal(t, os.Symlink(filepath.Join(root, "store.json"), filepath.Join(root, "sessions", fixture.Session.String(),
		"cache", "head-2")))
	if b, err := s.CachedHead(context.Background(), fixture.Log, 2, 100); err == nil || len(b) > 0 {
		t.Errorf("a link was followed: %q, %v", b, err)
	}
}
