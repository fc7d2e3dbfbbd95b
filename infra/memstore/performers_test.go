package memstore_test

import (
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestPerformerStatus: the store says whether a session is performed, and takes nothing.
func TestPerformerStatus(t *testing.T) {
	t.Parallel()
	d := memstore.NewDisk(id.Seed{1})
	suite.RunPerformerStatus(t, func() suite.PerformerStore { return d.Open(0) }, id.NewSession(id.Seed{2}))
}
