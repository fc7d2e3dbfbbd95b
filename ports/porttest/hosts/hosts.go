// Package hosts is one store in memory that processes of several machines use, with clocks that a test sets.
//
// No two clocks have the same reading: that of the store decides about leases, and each machine has its own. Start with
// New.
package hosts

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// Hosts is a store and its machines. It is safe for concurrent use, except for New and Pass.
type Hosts struct {
	Disk  *memstore.Disk
	store *lease.Manual // the clock of the store

	mu       sync.Mutex
	machines []*lease.Manual
	percents []int // the rates of their clocks
}

// New returns a store that does not exist yet, without machines.
func New(seed id.Seed) *Hosts {
	h := &Hosts{Disk: memstore.NewDisk(seed), store: lease.NewManual(1000 * time.Hour)}
	h.Disk.UseClock(h.store)
	return h
}

// Open returns a handle of a process on another machine: host-1, host-2 and so on. lockWait is how long it waits for a
// lock.
func (h *Hosts) Open(lockWait time.Duration) *memstore.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.machines) + 1
	clock := lease.NewManual(time.Duration(n*n) * time.Hour)
	h.machines, h.percents = append(h.machines, clock), append(h.percents, 100)
	return h.Disk.OpenAs(ports.Holder{Host: fmt.Sprintf("host-%d", n), PID: os.Getpid(), Ref: fmt.Sprintf("worker-%d", n)}, clock, lockWait)
}

// Drift makes the clock of host-n slow or fast: percent of the time that passes.
func (h *Hosts) Drift(n, percent int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.percents[n-1] = percent
}

// step is small beside the times of a lease: the clocks pass in steps, one after the other.
const step = 500 * time.Millisecond

// Pass lets time pass on all clocks, and returns after what became due was done.
func (h *Hosts) Pass(d time.Duration) {
	for ; d > 0; d -= step {
		h.store.Pass(min(d, step))
		h.mu.Lock()
		machines, percents := h.machines, slices.Clone(h.percents)
		h.mu.Unlock()
		for i, clock := range machines {
			clock.Pass(min(d, step) * time.Duration(percents[i]) / 100)
		}
	}
}
