package main

import (
	"os"
	"sync"
	"time"

	"github.com/waybill/waybill/infra/lease"
)

// leaseClockFile is the environment variable with the path of a file. While it exists, the clock by which a process of the program under
// test renews its leases, and notices that it lost one, is fast: a lease lasts a minute.
const leaseClockFile = "WAYBILL_TEST_LEASE_CLOCK"

// leaseClockTimes is how fast that is.
const leaseClockTimes = 40

// useLeaseClock sets the clock that leaseClockFile selects.
func useLeaseClock() {
	if file := os.Getenv(leaseClockFile); file != "" {
		lease.System = &leaseClock{file: file, last: time.Now()}
	}
}

// leaseClock implements lease.Clock.
type leaseClock struct {
	file string

	mu   sync.Mutex // guards the fields below
	now  time.Duration
	last time.Time // when now was the time
}

// Now implements lease.Clock.
func (c *leaseClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	passed := at.Sub(c.last)
	if _, err := os.Stat(c.file); err == nil {
		passed *= leaseClockTimes
	}
	c.now, c.last = c.now+passed, at
	return c.now
}

// After implements lease.Clock.
func (c *leaseClock) After(d time.Duration, f func()) (stop func()) {
	at, stopped := c.Now()+d, make(chan struct{})
	go func() {
		for c.Now() < at {
			select {
			case <-stopped:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		select {
		case <-stopped:
		default:
			f()
		}
	}()
	return sync.OnceFunc(func() { close(stopped) })
}
