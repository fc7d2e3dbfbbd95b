package repair_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestRepairKeepsDamagedBytesInQuarantine: a dry run plans what the repair does, and the bytes that it removes are in
// the quarantine.
func TestRepairKeepsDamagedBytesInQuarantine(t *testing.T) {
	t.Parallel()
	ctx, dir, fixture := context.Background(), t.TempDir(), suite.NewSessionFixture(1)
	s := storetest.OpenDir(t, dir, 0)
	_, err := storetest.Append(s, manifest.Head{}, fixture.Start())
	storetest.Fatal(t, err)
	name := filepath.Join(dir, filepath.FromSlash(fixture.Log.Root), manifest.FileName)
	damaged, err := os.ReadFile(name)
	storetest.Fatal(t, err)
	damaged[20] ^= 1
	storetest.Fatal(t, os.WriteFile(name, damaged, 0o600))
	r := ports.LogRepair{Log: fixture.Log, By: event.Actor{Kind: event.Human}, AtMs: 1_760_000_000_123, DryRun: true}
	planned, err := s.RepairLog(ctx, r)
	storetest.Fatal(t, err)
	if still, err := os.ReadFile(name); err != nil || !bytes.Equal(still, damaged) {
		t.Errorf("the dry run changed the manifest: %v", err)
	}
	r.DryRun = false
	done, err := s.RepairLog(ctx, r)
	storetest.Fatal(t, err)
	if len(done.Steps) < 2 || len(done.Steps) != len(planned.Steps) {
		t.Fatalf("planned %+v, did %+v", planned.Steps, done.Steps)
	}
	last := done.Steps[len(done.Steps)-1]
	kept, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(last.To)))
	if err != nil || !bytes.Equal(kept, damaged) {
		t.Errorf("the manifest is not in the quarantine: %+v, %v", last, err)
	}
	if _, v, err := storetest.Read(s, fixture.Log); err != nil || v.Damaged() {
		t.Errorf("after the repair: %+v, %v", v, err)
	}
}
