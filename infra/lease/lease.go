// Package lease keeps the lease of a performer: it renews it in time and reports when it is lost
// (docs/design.md#leases). Adapters of stores with leases use it; how a lease is stored and granted is theirs.
//
// Two clocks matter. The store's clock alone decides whether a lease is present: an adapter compares with it in each
// grant, renewal and append. The holder's own monotonic clock decides when the holder stops its work, and is never
// compared with another clock: a lease that was asked for at a reading lasts at least its length from that reading,
// since the store granted it later. Start with Keep.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/limits"
)

// Terms are the durations of a lease.
type Terms struct {
	Length time.Duration // how long it lasts without a renewal
	Renew  time.Duration // between two renewals
	Retry  time.Duration // after a renewal that failed
	Margin time.Duration // between the loss and the end
}

// Default returns the terms of package limits.
func Default() Terms {
	return Terms{limits.LeaseMs * time.Millisecond, limits.LeaseRenewMs * time.Millisecond,
		limits.LeaseRetryMs * time.Millisecond, limits.LeaseMarginMs * time.Millisecond}
}

// ErrLost is the error of a renewal whose lease is not present any more: it ended, or has another holder.
var ErrLost = errors.New("the lease is not present any more")

// Kept is a lease that is renewed until it is lost or stopped. It is safe for concurrent use.
type Kept struct {
	clock Clock
	terms Terms
	renew func(context.Context) error
	lost  chan struct{}
	ctx   context.Context // of renewals
	end   context.CancelFunc

	mu    sync.Mutex    // guards the fields below
	ended bool          // lost or stopped
	loss  time.Duration // the reading of clock at which the lease is lost without a further renewal
	// stopLoss and stopRenewal cancel the timers.
	stopLoss, stopRenewal func()
}

// Keep renews a lease that was granted. asked is the reading of the clock from before the grant was requested. renew
// requests a renewal: nil promises that the lease lasts its whole length from a moment after the call; ErrLost is final,
// and any other error is tried again after Terms.Retry until the lease is lost. The context of renew ends with the lease.
func Keep(clock Clock, terms Terms, asked time.Duration, renew func(context.Context) error) *Kept {
	k := &Kept{clock: clock, terms: terms, renew: renew, lost: make(chan struct{})}
	k.ctx, k.end = context.WithCancel(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.extend(asked)
	return k
}

// Lost is closed when the lease is lost: Terms.Margin before its end, or when a renewal is refused. It is not closed
// after Stop.
func (k *Kept) Lost() <-chan struct{} { return k.lost }

// Stop ends the renewals. It does not wait for one in progress: an adapter renews a lease only if it is present with
// the same token, so that a renewal which arrives after the release has no effect.
func (k *Kept) Stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.finish()
}

// extend sets the timers after a grant or renewal that was requested at a reading; the caller holds mu.
func (k *Kept) extend(asked time.Duration) {
	if k.stopLoss != nil {
		k.stopLoss()
	}
	now := k.clock.Now()
	k.loss = asked + k.terms.Length - k.terms.Margin
	k.stopLoss = k.clock.After(k.loss-now, k.lose)
	k.stopRenewal = k.clock.After(asked+k.terms.Renew-now, k.renewNow)
}

// renewNow requests a renewal and sets the timers for its result.
func (k *Kept) renewNow() {
	k.mu.Lock()
	asked := k.clock.Now()
	// A process that was stopped past the loss may find this timer before the other one.
	late := asked >= k.loss
	ended := k.ended
	k.mu.Unlock()
	if ended {
		return
	}
	if late {
		k.lose()
		return
	}
	err := k.renew(k.ctx)
	if errors.Is(err, ErrLost) {
		k.lose()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ended:
	case err == nil:
		k.extend(asked)
	default:
		k.stopRenewal = k.clock.After(k.terms.Retry, k.renewNow)
	}
}

// lose reports that the lease is lost.
func (k *Kept) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		close(k.lost)
	}
	k.finish()
}

// finish ends renewals and timers; the caller holds mu.
func (k *Kept) finish() {
	k.ended = true
	k.end()
	k.stopLoss()
	k.stopRenewal()
}
