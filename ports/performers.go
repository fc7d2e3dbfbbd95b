package ports

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/id"
)

// Performers ensures that a session has at most one performer (docs/design.md#ends-and-branches):
// two would run every command twice.
type Performers interface {
	// Hold makes this process the session's only performer until the lease is released or lost, or the
	// process ends in any way. It does not wait. RUN_BUSY: another performer is active; it is in the
	// detail "holder", a Holder, as far as it is known.
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
	// stopped. nil: it cannot be lost.
	Lost <-chan struct{}
	// Release ends the lease. It is called once, also for a lost one.
	Release func() error
}

// Holder is the process that holds a lease or a lock.
type Holder struct {
	Host string `json:"host,omitzero"` // the name of its machine; "" for this one
	PID  int    `json:"pid,omitzero"`  // its process id on that machine
	Ref  string `json:"ref,omitzero"`  // what it calls itself, such as the name of a worker
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
// the session cannot be released. ErrHold: the hold is not valid for s.
func (h Hold) Enter(s id.Session) (leave func(), err error) {
	if h.tenure == nil || h.tenure.session != s || !h.tenure.mu.TryRLock() {
		return nil, ErrHold
	}
	if h.tenure.closed {
		h.tenure.mu.RUnlock()
		return nil, ErrHold
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

// Lost is closed when the lease is lost; see Lease.Lost.
func (h Hold) Lost() <-chan struct{} {
	if h.tenure == nil {
		return nil
	}
	return h.tenure.lease.Lost
}

// WithHold makes this process the performer of a session while fn runs. It is the only source of a
// valid Hold. Errors: those of Performers.Hold, or the error of fn.
func WithHold(ctx context.Context, performers Performers, s id.Session, fn func(Hold) error) error {
	lease, err := performers.Hold(ctx, s)
	if err != nil {
		return err
	}
	// An error of release is ignored: what was recorded is durable, and the end of the process
	// releases the session.
	defer func() { _ = lease.Release() }()
	t := &tenure{session: s, lease: lease}
	defer func() { t.mu.Lock(); t.closed = true; t.mu.Unlock() }()
	return fn(Hold{t})
}
