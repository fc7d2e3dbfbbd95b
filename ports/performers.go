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
	// Hold makes this process the session's only performer until release is called or the process
	// ends in any way. It does not wait. RUN_BUSY: another performer is active; its process id is
	// in the detail "holderPid" if known.
	Hold(ctx context.Context, s id.Session) (release func() error, err error)
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

// WithHold makes this process the performer of a session while fn runs. It is the only source of a
// valid Hold. Errors: those of Performers.Hold, or the error of fn.
func WithHold(ctx context.Context, performers Performers, s id.Session, fn func(Hold) error) error {
	release, err := performers.Hold(ctx, s)
	if err != nil {
		return err
	}
	// An error of release is ignored: what was recorded is durable, and the end of the process
	// releases the session.
	defer func() { _ = release() }()
	t := &tenure{session: s}
	defer func() { t.mu.Lock(); t.closed = true; t.mu.Unlock() }()
	return fn(Hold{t})
}
