package suite

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// PerformerStore is a store whose performers can be asked for.
type PerformerStore interface {
	ports.PerformerStatus
	Performers() ports.Performers
}

// RunPerformerStatus tests ports.PerformerStatus. open returns the store as another process has it; s is a session of it.
// Asking takes nothing: a performer can begin, and others can ask, at the same time.
func RunPerformerStatus(t *testing.T, open func() PerformerStore, s id.Session) {
	t.Helper()
	ctx := context.Background()
	for range 2 {
		if err := open().NotPerformed(ctx, s); err != nil {
			t.Errorf("without a performer: %v", err)
		}
	}
	if err := open().NotPerformed(ctx, id.NewSession(id.Seed{99})); err != nil {
		t.Errorf("a session that does not exist: %v", err)
	}
	err := ports.WithHold(ctx, open().Performers(), s, func(ports.Hold) error {
		for range 2 {
			if err := open().NotPerformed(ctx, s); !fault.Is(err, fault.RunBusy) || fault.Of(err).Details["sessionId"] != s.String() {
				t.Errorf("under a performer: %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := open().NotPerformed(ctx, s); err != nil {
		t.Errorf("after the performer: %v", err)
	}
}
