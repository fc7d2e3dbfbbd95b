package memstore_test

import (
	"testing"
	"time"

	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest"
)

func TestPorts(t *testing.T) {
	porttest.Run(t, func(t *testing.T) func(time.Duration) porttest.Store {
		disk := memstore.NewDisk(porttest.Seed(1))
		return func(wait time.Duration) porttest.Store { return disk.Open(wait) }
	})
}
