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
	held  int
	err   error
	lease ports.Lease // what is granted, without its release
}

func (d *desk) Hold(context.Context, id.Session) (ports.Lease, error) {
	if d.err != nil {
		return ports.Lease{}, d.err
	}
	d.held++
	l := d.lease
	l.Release = func() error { d.held--; return errors.New("the release failed") }
	return l, nil
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

// A lease that is lost is refused before any I/O, and ends what is done within it.
func TestLostLease(t *testing.T) {
	mine, lost := id.NewSession(id.Seed{1}), make(chan struct{})
	d := &desk{lease: ports.Lease{Token: 7, Lost: lost}}
	err := ports.WithHold(context.Background(), d, mine, func(h ports.Hold) error {
		within, stop := h.Within(context.Background())
		defer stop()
		if leave, err := h.Enter(mine); err != nil || h.Token() != 7 || h.IsLost() || within.Err() != nil {
			t.Fatalf("token %d, lost %v, %v", h.Token(), h.IsLost(), err)
		} else {
			leave()
		}
		close(lost)
		<-within.Done()
		leave, err := h.Enter(mine)
		if err == nil {
			leave()
		}
		for _, err := range []error{context.Cause(within), err} {
			if f := fault.Of(err); err == nil || f.Code != fault.RunBusy || f.Details["leaseLost"] != true {
				t.Errorf("%v", err)
			}
		}
		return nil
	})
	if err != nil || d.held != 0 {
		t.Errorf("%v, %d held", err, d.held)
	}
	// A lease that cannot be lost, and the zero hold.
	d = &desk{}
	_ = ports.WithHold(context.Background(), d, mine, func(h ports.Hold) error {
		ctx, cancel := context.WithCancel(context.Background())
		within, stop := h.Within(ctx)
		defer stop()
		if cancel(); within.Err() == nil || h.IsLost() || (ports.Hold{}).IsLost() {
			t.Error("a lease without a loss")
		}
		return nil
	})
}

func TestHolderNames(t *testing.T) {
	for want, h := range map[string]ports.Holder{
		"another process":      {},
		"process 7":            {PID: 7},
		"process 7 on b":       {Host: "b", PID: 7},
		"another process on b": {Host: "b"},
		"w (process 7 on b)":   {Host: "b", PID: 7, Ref: "w"},
		"w (another process)":  {Ref: "w"},
	} {
		if h.String() != want {
			t.Errorf("%+v is %q, want %q", h, h, want)
		}
	}
	if f := ports.BusyPerformer(id.NewSession(id.Seed{1}), ports.Holder{}); f.Details["holder"] != nil {
		t.Errorf("%v", f.Details)
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
