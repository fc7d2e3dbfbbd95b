package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/infra/filestore"
)

// TestALogWithoutItsManifestIsFound: a side log whose manifest is gone still exists. Verification
// reports it, and repair, which the error suggests, recovers it.
func TestALogWithoutItsManifestIsFound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
	must(t, err)
	defer s.Close()
	w.g = audited(s)
	w.start(twoSteps)
	must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
	must(t, os.Remove(filepath.Join(w.dir, "audit", "manifest.jsonl")))
	if err := w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing); err == nil {
		t.Fatal("the log was begun again")
	}
	if v, err := w.g.Verify(ctx); err != nil || v.OK {
		t.Errorf("%+v, %v", v.Findings, err)
	}
	if r, err := w.g.Repair(ctx, w.by(), upkeep.RepairCall{Apply: true}); err != nil || len(r.Steps) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if v, err := w.g.Verify(ctx); err != nil || !v.OK {
		t.Errorf("%+v, %v", v.Findings, err)
	}
	must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
}
