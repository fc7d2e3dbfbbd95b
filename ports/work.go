package ports

import (
	"context"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// Work hands out the runs of a store that a performer can continue without a person or an agent
// (docs/design.md#performing-runs), so that any number of performers share them.
type Work interface {
	// Claim makes this process the performer of a session that has a run to continue, if there is one that no other
	// performer holds. It does not wait. What it returns was read from the log under the lease. Where there is
	// none, Claim.Run is zero and Claim.Rest says what is left. A session that cannot be read or held is left
	// out, and hides no other.
	// Errors: STORE_READ_ONLY, those of listing sessions, and that of ctx.
	Claim(ctx context.Context, q WorkQuery) (Claim, error)
}

// WorkQuery says which runs a performer wants.
type WorkQuery struct {
	// Tags are alternatives: the run has one of them. Empty: any run, also one without tags.
	Tags []string
	// NowMs is the moment, in milliseconds since 1970 UTC, at which waits are over.
	NowMs int64
	// Passed are runs that the performer had and could not continue, each with Claim.LastIndex of that time. A run
	// whose log has more by now is handed out again.
	Passed map[id.Run]int64
	// Without are the versions of workflows whose commands the performer cannot run, such as those that are not trusted
	// on its machine. Their waits are ended as ever.
	Without map[canon.Digest]bool
}

// Claim is a run with the lease of its session.
type Claim struct {
	Session   id.Session
	Run       id.Run // zero: there is none
	LastIndex int64  // of the run's last activity
	// Workflow is the version that the run is pinned to.
	Workflow canon.Digest
	// Commands reports that the pending step is a command; else the run is to be continued behind a wait, or ended.
	Commands bool
	Lease    Lease
	Rest     Rest // without a run
}

// Rest is what a store has for a query when there is nothing to claim.
type Rest struct {
	// Busy is the number of runs that other performers hold. Each may become free without a change of its log.
	Busy int
	// NextAtMs is the moment at which the next wait ends, in milliseconds since 1970 UTC; 0: none.
	NextAtMs int64
	// Left are the runs and sessions that no performer continues until a person did something, in no order.
	Left []Left
}

// Left is a run that came with a bundle and that no person has continued here, or a session that cannot be read.
type Left struct {
	Session id.Session // zero for a directory among the sessions that is not named like one
	Run     id.Run     // zero for a session that cannot be read
	Err     error
}

// Claimed returns the performers of a process that has claimed a session: the first Hold of that session gets the lease of
// the claim. Every other one is refused with RUN_BUSY. release ends the lease if no Hold got it.
func Claimed(c Claim) (p Performers, release func()) {
	held := &claimed{claim: c}
	return held, func() {
		if lease, err := held.Hold(context.Background(), c.Session); err == nil {
			_ = lease.Release()
		}
	}
}

// claimed implements Performers with the lease of a claim.
type claimed struct {
	mu    sync.Mutex
	claim Claim
	given bool
}

// Hold implements Performers.
func (c *claimed) Hold(ctx context.Context, s id.Session) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Lease{}, err
	}
	if c.given || s != c.claim.Session {
		return Lease{}, fault.New(fault.RunBusy, "the lease of the run is used by another call").With("sessionId", s.String())
	}
	c.given = true
	return c.claim.Lease, nil
}
