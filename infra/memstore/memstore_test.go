package memstore_test

import (
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestPorts(t *testing.T) { suite.Run(t, storetest.Memory) }

func TestChanges(t *testing.T) {
	suite.Changes(t, func(t *testing.T) func() suite.ChangingStore {
		disk := memstore.NewDisk(suite.Seed(1))
		return func() suite.ChangingStore { return disk.Open(time.Second) }
	})
}
