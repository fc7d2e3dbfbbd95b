package settings

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// storeFile is the control file that describes the store.
var storeFile = ports.ControlFile{Name: "store.json", Kind: "store"}

// signersFeature is the feature of a store that had signers (docs/design.md#signed-consent). It is one of
// roCompat: a version that does not know it would count consents without signatures, so it may only read.
const signersFeature = "signers"

// features returns the roCompat features that the data of the store's file states.
func features(data canon.Value) (names []string, ok bool) {
	all, _ := data.Get("features")
	list, ok := all.Get("roCompat")
	for i := range list.Len() {
		names = append(names, list.Item(i).Text())
	}
	return names, ok
}

// CheckFeature returns POLICY_UNCONFIRMED if the store had signers and the audit log knows of none: it is not
// the log of that time.
func CheckFeature(ctx context.Context, controls ports.Controls, last auditview.Confirmed) error {
	if last.HadSigners() {
		return nil
	}
	c, err := controls.Control(ctx, storeFile)
	if err != nil {
		return err
	}
	if names, _ := features(c.Data); !slices.Contains(names, signersFeature) {
		return nil
	}
	return fault.New(fault.PolicyUnconfirmed,
		"this store had signers, and the audit log does not know of any: it is not the log of that time").
		Suggest("Restore the audit log from a backup, and compare with %s.", fault.Command{"verify", "--signers", "FILE"}).
		With("file", storeFile.Name)
}

// addFeature states in the store's file that it had signers, unless it does.
func addFeature(ctx context.Context, controls ports.Controls) error {
	c, err := controls.Control(ctx, storeFile)
	names, ok := features(c.Data)
	if err != nil || !ok || slices.Contains(names, signersFeature) {
		return err
	}
	return controls.UpdateControl(ctx, storeFile, func(old ports.Control) (ports.Control, error) {
		names, _ := features(old.Data)
		items := []canon.Value{canon.OfString(signersFeature)}
		for _, name := range names {
			if name != signersFeature {
				items = append(items, canon.OfString(name))
			}
		}
		all, _ := old.Data.Get("features")
		old.Data = old.Data.With("features", all.With("roCompat", canon.OfList(items...)))
		return old, nil
	})
}
