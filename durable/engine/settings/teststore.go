package settings

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// testFeature is the feature of a test store (docs/design.md#test-seams). It is one of compat: what a version that does not
// know it reads and writes is the same.
const testFeature = "test-store"

// IsTest reports a store whose runs tests of the protocol made. A store whose file cannot be read is none.
func IsTest(ctx context.Context, controls ports.Controls) bool {
	c, err := controls.Control(ctx, storeFile)
	return err == nil && slices.Contains(compat(c.Data), testFeature)
}

// IsTestStore is IsTest for the store of the settings.
func IsTestStore(ctx context.Context, s Settings) bool { return IsTest(ctx, s.controls) }

// compat are the compat features that the data of the store's file states.
func compat(data canon.Value) (names []string) {
	all, _ := data.Get("features")
	list, _ := all.Get("compat")
	for i := range list.Len() {
		names = append(names, list.Item(i).Text())
	}
	return names
}

// MarkTest makes a store a test store, for good. A store that does not exist is created. STORE_FOREIGN for a store of another
// program.
func (s Settings) MarkTest(ctx context.Context) error {
	return s.controls.UpdateControl(ctx, storeFile, func(old ports.Control) (ports.Control, error) {
		all, ok := old.Data.Get("features")
		if !ok {
			return old, fault.New(fault.StoreForeign, "the store has no %s: it cannot be marked as a test store", storeFile.Name)
		}
		items := []canon.Value{canon.OfString(testFeature)}
		for _, name := range compat(old.Data) {
			if name != testFeature {
				items = append(items, canon.OfString(name))
			}
		}
		old.Data = old.Data.With("features", all.With("compat", canon.OfList(items...)))
		return old, nil
	})
}
