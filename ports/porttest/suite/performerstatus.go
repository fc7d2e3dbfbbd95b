package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// performerStatus: a session is busy for every handle while it has a performer, and at no other moment. Asking takes
// nothing: a performer can begin, and others can ask, at the same time.
func performerStatus(t testing.TB, open func(time.Duration) Store) {
	ctx, r := context.Background(), NewSessionFixture(1)
	free := func(when string, s id.Session) {
		t.Helper()
		for range 2 {
			if err := open(0).NotPerformed(ctx, s); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	free("in a store that does not exist", r.Session)
	_, err := Gate(open(0), r.Start())
	must(t, err)
	free("without a performer", r.Session)
	free("a session that does not exist", id.NewSession(id.Seed{99}))
	must(t, ports.WithHold(ctx, open(0).Performers(), r.Session, func(ports.Hold) error {
		for range 2 {
			err := open(0).NotPerformed(ctx, r.Session)
			if !fault.Is(err, fault.RunBusy) || fault.Of(err).Details["sessionId"] != r.Session.String() {
				t.Errorf("under a performer: %v", err)
			}
		}
		return nil
	}))
	free("after the performer", r.Session)
}
