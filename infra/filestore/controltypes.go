package filestore

import (
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/filestore/repair"
)

// ControlTypes returns the Go types of the data of the control files that only this package reads, by the
// kind in their envelope. The test of docs/format.md compares the documented members with them.
func ControlTypes() map[string]any {
	return map[string]any{layout.StoreKind: disk.StoreData{}, layout.KeyringKind: read.KeyringData{},
		layout.RepairKind: repair.Record{}}
}
