package memstore_test

import (
	"testing"

	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

func TestPorts(t *testing.T) { suite.Run(t, storetest.Memory) }
