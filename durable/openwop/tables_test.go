package openwop_test

import (
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/openwop"
)

// TestTheTablesOfContractsAgree: a type is in one table, and the kinds of interrupts in a contract are all of them.
func TestTheTablesOfContractsAgree(t *testing.T) {
	all := openwop.Contracted()
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Errorf("%d types have %d contracts", len(once), len(all))
	}
	for _, of := range []openwop.EventType{openwop.NodeSuspended, openwop.InterruptResolved} {
		schema, _ := openwop.PayloadSchema(of)
		listed, kinds := schema.At("/properties/kind/enum"), openwop.InterruptKinds()
		if listed.Len() != len(kinds) {
			t.Fatalf("the contract of %s lists %d kinds of interrupts of %d", of, listed.Len(), len(kinds))
		}
		for i, kind := range kinds {
			if listed.Item(i).Text() != string(kind) {
				t.Errorf("the contract of %s has %q in place of %q", of, listed.Item(i).Text(), kind)
			}
		}
	}
}
