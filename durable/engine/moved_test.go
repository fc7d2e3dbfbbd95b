package engine_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// movingLogs are logs of which one is moved away between its reading and its confirmation.
type movingLogs struct{ enginetest.Store }

func (movingLogs) Confirm(context.Context, manifest.Log, manifest.Head) error {
	return manifest.ErrNotOnChain
}

// TestASessionMovedMeanwhile: to delete a session that another process is about to show is no
// internal error.
func TestASessionMovedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	g := enginetest.Over(movingLogs{w.process().Store})
	if _, err := g.Rehydrate(context.Background(), a.Position()); !fault.Is(err, fault.StoreConflict) {
		t.Error(err)
	}
}
