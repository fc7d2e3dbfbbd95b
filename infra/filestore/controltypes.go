package filestore

// ControlTypes returns the Go types of the data of the control files that only this package reads, by the
// kind in their envelope. The test of docs/format.md compares the documented members with them.
func ControlTypes() map[string]any {
	return map[string]any{storeKind: storeData{}, keyringKind: keyringData{}, repairKind: repairRecord{}}
}
