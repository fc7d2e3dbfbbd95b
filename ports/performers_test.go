package ports_test

import (
	"context"
	"errors"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// desk is a port of performers that counts what is held.
type desk struct {
	held int
	err  error
}

func (d *desk) Hold(context.Context, id.Session) (ports.Lease, error) {
	if d.err != nil {
		return ports.Lease{}, d.err
	}
	d.held++
	return ports.Lease{Release: func() error { d.held--; return errors.New("the release failed") }}, nil
}

func TestHold(t *testing.T) {
	ctx, d := context.Background(), &desk{}
	mine, theirs := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2})
	var kept ports.Hold
	wrong := errors.New("the callback's error")
	err := ports.WithHold(ctx, d, mine, func(h ports.Hold) error {
		kept = h
		if d.held != 1 {
			t.Error("the port is not held while the callback runs")
		}
		if leave, err := h.Enter(mine); err != nil {
			t.Errorf("a live hold is refused: %v", err)
		} else {
			leave()
		}
		if leave, err := h.Enter(theirs); !errors.Is(err, ports.ErrHold) {
			t.Errorf("of another session: %v", err)
			leave()
		}
		return wrong
	})
	if !errors.Is(err, wrong) || d.held != 0 {
		t.Errorf("got %v, %d held", err, d.held)
	}
	if _, err := kept.Enter(mine); !errors.Is(err, ports.ErrHold) {
		t.Errorf("released: %v", err)
	}
	if _, err := (ports.Hold{}).Enter(mine); !errors.Is(err, ports.ErrHold) {
		t.Errorf("zero: %v", err)
	}
	d.err = fault.New(fault.RunBusy, "held")
	if err := ports.WithHold(ctx, d, mine, func(ports.Hold) error { t.Error("called"); return nil }); err != d.err {
		t.Errorf("a busy session: %v", err)
	}
}

// The session is not released while an attempt under the hold is being recorded.
func TestHoldIsReleasedAfterItsAttempts(t *testing.T) {
	d, mine := &desk{}, id.NewSession(id.Seed{1})
	entered, recorded, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = ports.WithHold(context.Background(), d, mine, func(h ports.Hold) error {
			leave, err := h.Enter(mine)
			if err != nil {
				t.Error(err)
				return err
			}
			go func() {
				defer leave()
				close(entered)
				<-recorded
				if d.held != 1 {
					t.Error("released while an attempt is recorded")
				}
			}()
			<-entered
			return nil
		})
	}()
	<-entered
	select {
	case <-done:
		t.Error("released while an attempt is recorded")
	default:
	}
	close(recorded)
	<-done
	if d.held != 0 {
		t.Error("never released")
	}
}
