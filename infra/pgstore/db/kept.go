package db

import (
	"context"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
)

// Kept is the connection of a transaction that waits for a caller, longer than the server keeps a transaction in which nothing
// happens. While its process lives, a goroutine lets something happen in it.
type Kept struct {
	mu    sync.Mutex // guards conn, and is held while it is used
	conn  *Conn      // nil: the transaction ended
	limit time.Duration
	also  []func()
	stop  func()
}

// WaitingLimit is how long one answer of the server may take behind locks that it waits for.
func (d *DB) WaitingLimit() time.Duration { return AnswerMost + 2*d.o.LockWait }

// Keep keeps a transaction that has the IdleStatement until End. An answer in it may take as long as limit; 0: as long as before. also are
// called as often, to keep transactions of the same caller.
func Keep(c *Conn, limit time.Duration, also ...func()) *Kept {
	ctx, stop := context.WithCancel(context.Background())
	k := &Kept{conn: c, limit: c.limit, also: also, stop: stop}
	if limit != 0 {
		c.limit = limit
	}
	go func() {
		t := time.NewTicker(idleLockMs / 3 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				k.Touch()
			}
		}
	}()
	return k
}

// Touch lets something happen in the transactions. An error of one of them is found by its next user.
func (k *Kept) Touch() {
	_ = k.Run(context.Background(), Query("select"))
	for _, touch := range k.also {
		touch()
	}
}

// Run runs statements in the transaction. Errors are those of Conn.Run; INTERNAL: it has ended.
func (k *Kept) Run(ctx context.Context, all ...Statement) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		return fault.New(fault.Internal, "the transaction has ended")
	}
	return k.conn.Run(ctx, all...)
}

// End ends the keeping, and returns the connection with its transaction; nil the second time.
func (k *Kept) End() (c *Conn) {
	k.stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	c, k.conn = k.conn, nil
	if c != nil {
		c.limit = k.limit
	}
	return c
}
