package enginetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/replay"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/hosts"
)

// refusedAs fails the test unless an error reports a lost lease.
func refusedAs(t *testing.T, name string, err error) {
	t.Helper()
	if f := fault.Of(err); err == nil || f.Code != fault.RunBusy || f.Details["leaseLost"] != true {
		t.Errorf("%s: %v; want RUN_BUSY for a lost lease", name, err)
	}
}

// TestAppendsUnderALostLease: what appends as the performer is refused, by the store where this process does not know of
// the loss, and without any call of a port where it does.
func TestAppendsUnderALostLease(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, g *enginetest.Engine, h ports.Hold, a engine.Answer) error{
		"perform": func(ctx context.Context, g *enginetest.Engine, h ports.Hold, a engine.Answer) error {
			_, err := g.Perform(ctx, h, person, a.Position(), a.AttemptID, advance.Request{Notes: "done"})
			return err
		},
		"fail": func(ctx context.Context, g *enginetest.Engine, h ports.Hold, a engine.Answer) error {
			_, err := g.Fail(ctx, h, person, a.Position(), "no")
			return err
		},
	} {
		for _, known := range []bool{false, true} {
			w := hosts.New(id.Seed{9})
			s, ctx := w.Open(time.Second), context.Background()
			g := enginetest.InMemory(s)
			a, err := begin(t, g, "")
			if err != nil {
				t.Fatal(err)
			}
			before := logsOf(t, s)
			_ = ports.WithHold(ctx, s.Performers(), a.Session.SessionID, func(h ports.Hold) error {
				s.Stop()
				w.Pass(2 * time.Minute)
				if known {
					s.Continue()
				}
				calls := s.Calls()
				refusedAs(t, name, call(ctx, g, h, a))
				if called := s.Calls() != calls; called == known {
					t.Errorf("%s: a loss that is known (%v) is found by the store: %v", name, known, called)
				}
				return nil
			})
			if logsOf(t, s) != before {
				t.Errorf("%s: something was recorded", name)
			}
		}
	}
}

// TestCancelWithALostLease: a cancellation takes the lease to close a run. One that hangs with it records nothing, and can
// be repeated.
func TestCancelWithALostLease(t *testing.T) {
	w := hosts.New(id.Seed{9})
	s, ctx := w.Open(time.Second), context.Background()
	g := enginetest.InMemory(s)
	a, err := begin(t, g, "")
	if err != nil {
		t.Fatal(err)
	}
	before := logsOf(t, s)
	_, err = g.Cancel(ctx, person, hanging{s, w}, a.Position(), engine.CancelRequest{Reason: "no"})
	refusedAs(t, "cancel", err)
	if logsOf(t, s) != before {
		t.Error("something was recorded")
	}
	other := w.Open(time.Second)
	if got, err := enginetest.InMemory(other).Cancel(ctx, person, other.Performers(), a.Position(),
		engine.CancelRequest{Reason: "no"}); err != nil || got.Status != "cancelled" {
		t.Errorf("%+v, %v", got, err)
	}
}

// hanging are performers that hang with the lease that they were granted.
type hanging struct {
	s *memstore.Store
	w *hosts.Hosts
}

// Hold implements ports.Performers.
func (h hanging) Hold(ctx context.Context, s id.Session) (ports.Lease, error) {
	l, err := h.s.Performers().Hold(ctx, s)
	h.s.Stop()
	h.w.Pass(2 * time.Minute)
	return l, err
}

// hangingStore is a store whose performers hang with the lease that they were granted.
type hangingStore struct {
	enginetest.Store
	hanging
}

// Performers implements enginetest.Store.
func (h hangingStore) Performers() ports.Performers { return h.hanging }

// TestOtherAppendsUnderALostLease: what holds a session without commands appends under its lease as well.
func TestOtherAppendsUnderALostLease(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, g *enginetest.Engine, a engine.Answer) error{
		"hand over": func(ctx context.Context, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.HandOver(ctx, person, a.Session.SessionID.String(), "there")
			return err
		},
		"replay": func(ctx context.Context, g *enginetest.Engine, a engine.Answer) error {
			x := replay.New(g.Engine, g.Store, g.Store.Performers())
			at, err := x.Begin(ctx, person, id.Seed{5}, replay.Request{Source: a.Position()})
			if err != nil {
				return err
			}
			return x.Continue(ctx, at)
		},
	} {
		w := hosts.New(id.Seed{9})
		s, ctx := w.Open(time.Second), context.Background()
		g := enginetest.InMemory(s)
		a, err := begin(t, g, "")
		if err != nil {
			t.Fatal(err)
		}
		done(t, g, a)
		if begin := begins[name]; begin != nil {
			if err := begin(ctx, g, a); err != nil {
				t.Fatal(err)
			}
		}
		before := logsOf(t, s)
		refusedAs(t, name, call(ctx, enginetest.Over(hangingStore{g.Store, hanging{s, w}}), a))
		if logsOf(t, s) != before {
			t.Errorf("%s: something was recorded", name)
		}
	}
}

// begins are what is recorded of a call before it takes the lease.
var begins = map[string]func(ctx context.Context, g *enginetest.Engine, a engine.Answer) error{
	"replay": func(ctx context.Context, g *enginetest.Engine, a engine.Answer) error {
		_, err := replay.New(g.Engine, g.Store, g.Store.Performers()).Begin(ctx, person, id.Seed{5}, replay.Request{Source: a.Position()})
		return err
	},
}
