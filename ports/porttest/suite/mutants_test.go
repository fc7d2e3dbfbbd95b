package suite_test

import (
	"testing"

	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestLate: the suite passes over storage that is durable when it is asked to be.
func TestLate(t *testing.T) { suite.Run(t, storetest.Late{}.Bench) }
