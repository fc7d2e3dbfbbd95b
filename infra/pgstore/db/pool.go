package db

import (
	"context"
	"sync"
	"time"
)

// A connection that was unused for idleMost may have been cut by what is between this process and the server: it is closed.
// idleCount is how many unused connections a handle keeps.
const (
	idleMost  = time.Minute
	idleCount = 4
)

// pool keeps the unused connections of a handle. How many are in use is not limited: each belongs to a call that is in progress,
// and a call that waits for another one's connection could wait for itself.
type pool struct {
	connect func(context.Context) (*Conn, error)

	mu     sync.Mutex // guards the fields below
	unused []*Conn    // the one used last at the end
	closed bool
}

// take returns a connection that is in no transaction; the caller gives it back with give. fresh reports that it was made by
// this call: an error of an older one may be about a server that is gone.
func (p *pool) take(ctx context.Context) (c *Conn, fresh bool, err error) {
	for {
		p.mu.Lock()
		c = nil
		if n := len(p.unused); n > 0 {
			c, p.unused = p.unused[n-1], p.unused[:n-1]
		}
		p.mu.Unlock()
		if c == nil {
			c, err = p.connect(ctx)
			return c, true, err
		}
		if time.Since(c.idle) < idleMost && !c.pg.IsClosed() {
			return c, false, nil
		}
		c.close()
	}
}

// give takes a connection back. One that is broken or in a transaction is closed, which ends the transaction.
func (p *pool) give(c *Conn) {
	if c.pg.IsClosed() || c.pg.IsBusy() || c.inTransaction() {
		c.close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.unused) >= idleCount {
		c.close()
		return
	}
	c.idle = time.Now()
	p.unused = append(p.unused, c)
}

// close closes the unused connections; those in use are closed when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.unused {
		c.close()
	}
	p.unused = nil
}
