package memstore_test

import (
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/memstore"
)

// TestWithoutChanges: a writer of the log waits, and one that has the lock excludes the call.
func TestWithoutChanges(t *testing.T) {
	t.Parallel()
	d, log := memstore.NewDisk(id.Seed{1}), manifest.SessionEvents(id.NewSession(id.Seed{2}))
	called := false
	err := d.Open(0).WithoutChanges(t.Context(), log, func() error {
		called = true
		if _, err := d.Open(0).Lock(t.Context(), log); !fault.Is(err, fault.SessionLocked) {
			t.Errorf("a writer: %v", err)
		}
		return nil
	})
	if err != nil || !called {
		t.Errorf("%v, called: %v", err, called)
	}
	unlock, err := d.Open(0).Lock(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(0).WithoutChanges(t.Context(), log, func() error { return nil }); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("under a writer: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
