package document

// StoreInit is the document "store_init".
type StoreInit struct {
	Store string `json:"store"` // what selects the store
	// FromVersion is the version of the tables before, 0 if there were none; ToVersion is the one after.
	FromVersion int64 `json:"fromVersion"`
	ToVersion   int64 `json:"toVersion"`
}
