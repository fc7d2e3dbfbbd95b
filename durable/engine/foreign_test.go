package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/filestore"
)

// TestStoresOfAnotherProgram: every read works as far as the facts are known, and
// nothing writes (R14). The stores are data that lies beside the checkout.
func TestStoresOfAnotherProgram(t *testing.T) {
	const beside = "../../../shared/data/workrail/stores"
	if _, err := os.Stat(beside); err != nil {
		t.Skip("no stores of another program lie beside the checkout")
	}
	for name, events := range map[string]int64{"tiny": 20, "fork-blocked-checkpoint": 49, "loop-artifact": 56} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(beside, name))); err != nil {
				t.Fatal(err)
			}
			s, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			g := over(s)
			v, err := g.Verify(context.Background())
			if err != nil || !v.OK || len(v.Sessions) != 1 || v.Sessions[0].Health != manifest.UnknownVersion || v.Sessions[0].Events != events {
				t.Fatalf("%+v, %v", v, err)
			}
			list, err := g.Runs(context.Background())
			if err != nil || len(list.Runs) != 1 || list.Runs[0].Progress.Completed == 0 {
				t.Fatalf("%+v, %v", list, err)
			}
			if _, err := g.Run(context.Background(), engine.Last); err != nil {
				t.Error(err)
			}
			at, err := g.Locate(context.Background(), engine.Last)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Rehydrate(context.Background(), at); !fault.Is(err, fault.SessionUnhealthy) {
				t.Error("handed out for going on:", err)
			}
			w := newWorld(t)
			if _, err := g.Start(context.Background(), w.by(), id.Seed{1}, engine.Start{Workflow: w.compiled(longOne), SourceKind: "project", SourceRef: "x"}); !fault.Is(err, fault.StoreForeign) {
				t.Error("written to:", err)
			}
		})
	}
}
