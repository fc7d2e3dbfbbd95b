package memstore_test

import (
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/hosts"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// handle is a handle with the controls of the suite.
type handle struct {
	*memstore.Store
	w *hosts.Hosts
}

// Pass implements suite.Leases.
func (h handle) Pass(d time.Duration) { h.w.Pass(d) }

func setup(testing.TB) suite.Bench {
	w := hosts.New(suite.Seed(1))
	return suite.Bench{
		Open:   func(wait time.Duration) suite.Store { return handle{w.Open(wait), w} },
		Damage: storetest.DamageOf(w.Disk),
	}
}

func TestPorts(t *testing.T) { suite.Run(t, setup) }

func TestChanges(t *testing.T) {
	adapters.Changes(t, func(t testing.TB) func() adapters.ChangingStore {
		disk := memstore.NewDisk(suite.Seed(1))
		return func() adapters.ChangingStore { return disk.Open(time.Second) }
	})
}

func TestEachBrief(t *testing.T) {
	adapters.EachBrief(t, memstore.NewDisk(suite.Seed(1)).Open(time.Second))
}
