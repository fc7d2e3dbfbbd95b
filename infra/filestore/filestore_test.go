package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// The explorations allocate much and retain little: collecting garbage less often saves a third of
// their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

func TestPorts(t *testing.T) { suite.Run(t, storetest.Directory) }

// TestPortsWithPowerCuts: the cases that cut the power, and all others once more on the simulated disk.
func TestPortsWithPowerCuts(t *testing.T) {
	for _, c := range suite.Cases() {
		if c.Name != "invalid imports are rejected" { // it writes as much as an artifact may have
			t.Run(c.Name, func(t *testing.T) { c.Run(t, storetest.Crash(t)) })
		}
	}
}

// TestOldCachesOfTheStoreAreRemoved: a saved ledger of the audit log removes those that are more than one format older,
// and no other file.
func TestOldCachesOfTheStoreAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir, 0)
	store, err := s.StoreID(t.Context(), ports.MayCreate)
	fatal(t, err)
	for format := range 6 {
		fatal(t, os.MkdirAll(filepath.Join(dir, "cache"), 0o700))
		fatal(t, os.WriteFile(filepath.Join(dir, "cache", fmt.Sprintf("audit-%d", format+1)), []byte("old"), 0o600))
	}
	fatal(t, s.StoreHead(t.Context(), audit.LogOf(store), 4, []byte("new")))
	entries, err := os.ReadDir(filepath.Join(dir, "cache"))
	fatal(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"audit-3", "audit-4", "audit-5", "audit-6"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// What the tests of this package share with those of its parts.
var (
	fatal      = storetest.Fatal
	openDir    = storetest.OpenDir
	holdLock   = storetest.HoldLock
	onBoot     = storetest.Process
	read       = storetest.Read
	appendPlan = storetest.Append
	imported   = storetest.Imported
)
