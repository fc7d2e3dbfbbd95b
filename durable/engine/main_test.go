package engine

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/waybill/waybill/ports/porttest/pgtest"
)

// TestMain collects garbage less often than a program does: each crash state is a copy of a small disk, and
// collection is a third of the time of the tests otherwise.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(pgtest.Main(m))
}
