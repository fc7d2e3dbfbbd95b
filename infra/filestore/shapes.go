package filestore

// Shapes are the types of the data of the control files that only this package
// reads, by their kind, for whoever describes the format.
func Shapes() map[string]any {
	return map[string]any{storeKind: storeData{}, keyringKind: keyringData{}, repairKind: repairNote{}}
}
