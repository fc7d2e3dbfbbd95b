package memstore_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// world is a disk whose clock, and those of the machines of its handles, pass together. The readings of no two of them are
// the same.
type world struct {
	disk  *memstore.Disk
	store *lease.Manual
	hosts []*lease.Manual
}

func newWorld() *world {
	w := &world{disk: memstore.NewDisk(suite.Seed(1)), store: lease.NewManual(1000 * time.Hour)}
	w.disk.UseClock(w.store)
	return w
}

// open returns a handle of a process on a machine of its own.
func (w *world) open(wait time.Duration) *memstore.Store {
	n := len(w.hosts) + 1
	w.hosts = append(w.hosts, lease.NewManual(time.Duration(n*n)*time.Hour))
	return w.disk.OpenAs(ports.Holder{Host: fmt.Sprintf("host-%d", n), PID: os.Getpid(), Ref: fmt.Sprintf("worker-%d", n)},
		w.hosts[n-1], wait)
}

// step is small enough for the clocks to pass together.
const step = 500 * time.Millisecond

func (w *world) pass(d time.Duration) {
	for ; d > 0; d -= step {
		w.store.Pass(min(d, step))
		for _, h := range w.hosts {
			h.Pass(min(d, step))
		}
	}
}

// handle is a handle with the controls of the suite.
type handle struct {
	*memstore.Store
	w *world
}

// Pass implements suite.Leases.
func (h handle) Pass(d time.Duration) { h.w.pass(d) }

func setup(testing.TB) suite.Bench {
	w := newWorld()
	return suite.Bench{
		Open:   func(wait time.Duration) suite.Store { return handle{w.open(wait), w} },
		Damage: storetest.DamageOf(w.disk),
	}
}

func TestPorts(t *testing.T) { suite.Run(t, setup) }

func TestChanges(t *testing.T) {
	suite.Changes(t, func(t *testing.T) func() suite.ChangingStore {
		disk := memstore.NewDisk(suite.Seed(1))
		return func() suite.ChangingStore { return disk.Open(time.Second) }
	})
}
