package pgstore_test

import (
	"os"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestMain(m *testing.M) { os.Exit(removed(pgtest.Main(m))) }

// opener returns what opens an empty store.
func opener(t testing.TB) func(time.Duration) *pgstore.Store {
	return openAt(t, pgstore.Empty(t), pgstore.Options{})
}

// openAt returns what opens the store at an address.
func openAt(t testing.TB, address pgstore.Address, o pgstore.Options) func(time.Duration) *pgstore.Store {
	return func(wait time.Duration) *pgstore.Store {
		o.LockWait = wait
		s := pgstore.Open(address, o)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	suite.Run(t, func(t testing.TB) suite.Bench {
		h := leased(t, pgstore.Empty(t))
		return suite.Bench{Open: h.open, Damage: damage(t, h.admin)}
	})
}

func TestEachBrief(t *testing.T) {
	t.Parallel()
	adapters.EachBrief(t, opener(t)(time.Second))
}

func TestChanges(t *testing.T) {
	t.Parallel() // most of its time it waits
	adapters.Changes(t, func(t testing.TB) func() adapters.ChangingStore {
		open := opener(t)
		return func() adapters.ChangingStore { return open(time.Second) }
	})
}
