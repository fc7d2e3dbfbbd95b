package memstore_test

import (
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestPorts(t *testing.T) {
	suite.Run(t, func(testing.TB) func(time.Duration) suite.Store {
		disk := memstore.NewDisk(suite.Seed(1))
		return func(wait time.Duration) suite.Store { return disk.Open(wait) }
	})
}
