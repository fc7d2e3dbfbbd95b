package memstore_test

import (
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestPorts(t *testing.T) {
	suite.Run(t, func(t *testing.T) func(time.Duration) suite.Store {
		disk := memstore.NewDisk(suite.Seed(1))
		return func(wait time.Duration) suite.Store { return disk.Open(wait) }
	})
}

func TestChanges(t *testing.T) {
	suite.Changes(t, func(t *testing.T) func() suite.ChangingStore {
		disk := memstore.NewDisk(suite.Seed(1))
		return func() suite.ChangingStore { return disk.Open(time.Second) }
	})
}

func TestBriefs(t *testing.T) {
	suite.Briefs(t, func(t *testing.T) func() suite.CataloguedStore {
		disk := memstore.NewDisk(suite.Seed(1))
		return func() suite.CataloguedStore { return disk.Open(time.Second) }
	})
}
