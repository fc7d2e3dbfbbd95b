package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestAuditOfAnImportedForeignSession: facts of another program have no lines and require none,
// once the mark states that all of them came with a bundle. Without the mark there may be more
// facts than are listed.
func TestAuditOfAnImportedForeignSession(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	foreign := overForeign(t, foreignDir, nil)
	run, err := foreign.Run(ctx, foreignRun(foreignBlocked).String())
	if err != nil {
		t.Fatal(err)
	}
	w := auditWorld(t)
	got := take(t, w.g, export(t, foreign, run.SessionID, 1), false)
	if got.Relation != travel.NewSession || got.Health != manifest.UnknownVersion {
		t.Fatalf("%+v", got)
	}
	check := func(quiet bool) {
		t.Helper()
		v, err := w.g.AuditVerify(ctx)
		if err != nil || !v.OK || (len(v.Findings) == 0) != quiet {
			t.Errorf("verified: %+v %v", v.Findings, err)
		}
		list, err := w.g.AuditList(ctx, verify.AuditQuery{})
		if err != nil || list.Complete != quiet || (len(list.Findings) == 0) != quiet {
			t.Errorf("listed: %+v %v", list, err)
		}
	}
	check(true)
	if err := os.Remove(filepath.Join(w.dir, "sessions", got.SessionID.String(), "imported.json")); err != nil {
		t.Fatal(err)
	}
	check(true) // the audit log itself records the import
	if err := os.RemoveAll(filepath.Join(w.dir, "audit")); err != nil {
		t.Fatal(err)
	}
	check(false)
}
