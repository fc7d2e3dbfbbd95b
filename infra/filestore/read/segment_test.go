package read_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestHugeSegmentIsNotReadIntoMemory: a sparse file of 900 MiB occupies no disk
// space, and reading it must not allocate its size.
func TestHugeSegmentIsNotReadIntoMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := storetest.OpenDir(t, dir, time.Second)
	plan := suite.NewSessionFixture(1).Start()
	if _, err := storetest.Append(s, manifest.Head{}, plan); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, plan.Log.Root, manifest.SegmentDir, "*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.Truncate(all[0], 900<<20); err != nil {
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := s.Read(context.Background(), ports.ReadRequest{Log: plan.Log}, ports.Skip)
	runtime.ReadMemStats(&after)
	if err != nil || !v.Damaged() {
		t.Fatal(v, err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
		t.Errorf("reading allocated %d MiB; want at most 300", took)
	}
}
