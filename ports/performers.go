package ports

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// Performers ensures that a session has at most one performer (docs/design.md#leases): two would run
// every command twice.
type Performers interface {
	// Hold makes this process the session's only performer until the lease is released or lost, or the
	// process ends in any way. It does not wait. A lease that has ended is taken over. RUN_BUSY: another
	// performer is active; it is in the detail "holder", a Holder, as far as it is known.
	Hold(ctx context.Context, s id.Session) (Lease, error)
}

// PerformerStatus tells whether a session is performed.
type PerformerStatus interface {
	// NotPerformed returns RUN_BUSY, as Performers.Hold does, while a process is the performer of a session. It takes no
	// lease, and creates and changes nothing.
	NotPerformed(ctx context.Context, s id.Session) error
}

// Lease is the right to perform one session.
type Lease struct {
	// Token orders the leases of a session: a later one has a greater token. An attempt carries it in
	// Plan.Lease, and a store refuses one that is not the token of the present lease in the commit itself. It is 0
	// where the operating system ends the lease with the process, and no attempt can be late.
	Token int64
	// Lost is closed when the lease ends, or is about to end, without Release: commands of the performer must be
	// stopped. nil: it cannot be lost. The adapter renews the lease and measures its end by the clock of this process.
	Lost <-chan struct{}
	// Confirm returns nil if the lease is the present one of its session by the clock of the store, and RUN_BUSY of LostLease if it is not.
	// It may renew the lease. nil: the lease cannot be lost.
	Confirm func(context.Context) error
	// Release ends the lease, and its renewal also if it returns an error: then the lease ends by itself. It is called
	// for a lost one too, and never ends the lease of another holder.
	Release func() error
}

// Holder is the process that holds a lease or a lock. Busy locks and performers have it in the detail "holder".
type Holder struct {
	Host string `json:"host,omitzero"` // the name of its machine; "" for this one
	PID  int    `json:"pid,omitzero"`  // its process id on that machine
	Ref  string `json:"ref,omitzero"`  // what it calls itself, such as the name of a worker
}

// String names the holder for a message, "another process" if nothing is known.
func (h Holder) String() string {
	out := "another process"
	if h.PID != 0 {
		out = fmt.Sprintf("process %d", h.PID)
	}
	if h.Host != "" {
		out += " on " + h.Host
	}
	if h.Ref != "" {
		out = h.Ref + " (" + out + ")"
	}
	return out
}

// BusyPerformer returns the RUN_BUSY fault of Performers.Hold for a session that another process performs; the zero
// Holder: nothing is known about it.
func BusyPerformer(s id.Session, by Holder) *fault.Fault {
	f := fault.New(fault.RunBusy, "the run is performed by %s", by).With("sessionId", s.String())
	if by != (Holder{}) {
		f.With("holder", by)
	}
	return f
}

// LostLease returns the RUN_BUSY fault of a performer whose lease is not the present one of its session, whose id is
// owner. by is the present holder, the zero Holder if there is none.
func LostLease(owner string, by Holder) *fault.Fault {
	f := fault.New(fault.RunBusy, "the lease of this performer was lost: nothing was recorded by this attempt, and the step is "+
		"performed again by the next holder of the lease").With("sessionId", owner).With("leaseLost", true).
		Suggest("Let it be performed again, or see how far it is with %s.", fault.Command{"runs", "show", "RUN"})
	if by != (Holder{}) {
		f.Message = fmt.Sprintf("the lease of this performer was lost, and %s has it now: nothing was recorded by this attempt, and "+
			"the step is performed again by the holder", by)
		f.With("holder", by)
	}
	return f
}

// Hold proves that its holder is the performer of a session in this process. Only WithHold creates
// a valid one, for the duration of its callback; the zero Hold, one of another session and a
// released one are refused with ErrHold. The result of a command is recorded only under a Hold
// (docs/design.md#commands-and-trust).
type Hold struct{ tenure *tenure }

// tenure is the validity of a Hold. Every use holds mu shared; WithHold takes it exclusively to
// close the tenure before it releases the port, so that a goroutine that outlives the callback
// records nothing while another process performs the session.
type tenure struct {
	mu      sync.RWMutex
	closed  bool
	session id.Session
	lease   Lease
}

// ErrHold reports a performer's attempt without a valid Hold of the session: a bug in the caller,
// detected before any I/O.
var ErrHold = errors.New("a performer's attempt without being the performer of this session")

// Enter is called before an attempt that a performer makes. While the caller has not called leave,
// the session cannot be released. ErrHold: the hold is not valid for s. RUN_BUSY: its lease is lost.
func (h Hold) Enter(s id.Session) (leave func(), err error) {
	if h.tenure == nil || h.tenure.session != s || !h.tenure.mu.TryRLock() {
		return nil, ErrHold
	}
	if h.tenure.closed {
		h.tenure.mu.RUnlock()
		return nil, ErrHold
	}
	if h.IsLost() {
		h.tenure.mu.RUnlock()
		return nil, LostLease(s.String(), Holder{})
	}
	return h.tenure.mu.RUnlock, nil
}

// Token returns the token of the lease, 0 for one without; see Lease.Token.
func (h Hold) Token() int64 {
	if h.tenure == nil {
		return 0
	}
	return h.tenure.lease.Token
}

// IsLost reports that the lease is lost, as far as this process knows; see Lease.Lost.
func (h Hold) IsLost() bool {
	if h.tenure == nil {
		return false
	}
	select {
	case <-h.tenure.lease.Lost:
		return true
	default:
		return false
	}
}

// Confirm asks the store whether the lease is the present one of its session; IsLost says what this process knows. RUN_BUSY of
// LostLease: it is not. ErrHold: the hold is not valid.
func (h Hold) Confirm(ctx context.Context) error {
	if h.tenure == nil {
		return ErrHold
	}
	leave, err := h.Enter(h.tenure.session)
	if err != nil {
		return err
	}
	defer leave()
	if h.tenure.lease.Confirm == nil {
		return nil
	}
	return h.tenure.lease.Confirm(ctx)
}

// Within returns a context that is cancelled, with a fault of LostLease as its cause, when the lease is lost. The
// work of a performer, such as a command, is done within it. The caller calls stop when the work has ended.
func (h Hold) Within(ctx context.Context) (within context.Context, stop func()) {
	within, cancel := context.WithCancelCause(ctx)
	if h.tenure == nil || h.tenure.lease.Lost == nil {
		return within, func() { cancel(nil) }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-h.tenure.lease.Lost:
			cancel(LostLease(h.tenure.session.String(), Holder{}))
		case <-within.Done():
		}
	}()
	return within, func() { cancel(nil); <-done }
}

// WithHold makes this process the performer of a session while fn runs. It is the only source of a
// valid Hold. Errors: those of Performers.Hold, or the error of fn.
func WithHold(ctx context.Context, performers Performers, s id.Session, fn func(Hold) error) error {
	lease, err := performers.Hold(ctx, s)
	if err != nil {
		return err
	}
	// An error of release is ignored: what was recorded is durable, and the lease ends with the
	// process or by itself.
	defer func() { _ = lease.Release() }()
	t := &tenure{session: s, lease: lease}
	defer func() { t.mu.Lock(); t.closed = true; t.mu.Unlock() }()
	return fn(Hold{t})
}
