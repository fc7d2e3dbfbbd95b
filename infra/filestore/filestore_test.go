package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// The explorations allocate much and retain little: collecting garbage less often saves a third of
// their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// absentDirStore returns the opener of a store that does not exist yet, in a directory of the test.
func absentDirStore(t *testing.T) func(time.Duration) suite.Store {
	dir := filepath.Join(t.TempDir(), "home", "local")
	return func(wait time.Duration) suite.Store { return openDir(t, dir, wait) }
}

func openDir(t testing.TB, dir string, wait time.Duration) *filestore.Store {
	t.Helper()
	s, err := filestore.OpenDir(dir, filestore.Options{LockWait: wait})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPorts(t *testing.T) { suite.Run(t, absentDirStore) }

// appendPlan appends as the engine does: it reads from a known head on.
func appendPlan(s *filestore.Store, at manifest.Head, p manifest.Plan) (head manifest.Head, err error) {
	ctx := context.Background()
	err = ports.WithHealthySession(ctx, s, s, p.Log, at, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			head, err = s.Append(ctx, w, v.Head, p)
			return err
		})
	return head, err
}
