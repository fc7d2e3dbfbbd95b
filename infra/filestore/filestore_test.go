package filestore_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/storetest"
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

func TestPorts(t *testing.T) { suite.Run(t, absentDirStore) }

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
