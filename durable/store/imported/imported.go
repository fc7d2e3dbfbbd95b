// Package imported defines the import mark: a control file of a session that was imported from a
// bundle, with the length of the imported part of its logs. Approvals in that part are shown and
// have no effect in this store, since a bundle can be written by any program
// (docs/decisions/0030-imported-approvals-do-not-count.md).
//
// It reads and writes no files; the caller passes the data of the control file.
package imported

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Version is the version of the control file's data.
const Version = 1

// Mark identifies the imported log, and states how long it was when it was imported.
type Mark struct {
	AtMs     int64            `json:"atMs"` // of the import, in Unix milliseconds
	BundleID string           `json:"bundleId"`
	Events   int64            `json:"events"`           // how many events of the log were imported
	Head     canon.Digest     `json:"head"`             // of the bundle's log
	Logs     map[string]int64 `json:"logs,omitzero"`    // like Events, for side logs by their names
	Salvage  bool             `json:"salvage,omitzero"` // the bundle was a salvage of a damaged log
}

// Value returns the mark as data of its control file.
func (m Mark) Value() canon.Value {
	v := canon.OfMembers(
		canon.Member{Name: "atMs", Value: canon.OfInt(m.AtMs)},
		canon.Member{Name: "bundleId", Value: canon.OfString(m.BundleID)},
		canon.Member{Name: "events", Value: canon.OfInt(m.Events)},
		canon.Member{Name: "head", Value: canon.OfString(m.Head.String())})
	if len(m.Logs) > 0 {
		logs := canon.OfMembers()
		for name, n := range m.Logs {
			logs = logs.With(name, canon.OfInt(n))
		}
		v = v.With("logs", logs)
	}
	if m.Salvage {
		v = v.With("salvage", canon.OfBool(true))
	}
	return v
}

// Read returns the mark of stored data. Unknown members are ignored; anything else that Value
// would not have written is STORE_CORRUPT.
func Read(data canon.Value) (m Mark, err error) {
	// Members that a newer version adds do not change the meaning of the known ones.
	if err := canon.DecodeKnown(data, &m); err != nil {
		return m, fault.Wrap(err, fault.StoreCorrupt, "the import mark is not valid: %v", err)
	}
	if m.Events <= 0 {
		return m, fault.New(fault.StoreCorrupt, "the import mark states that no events were imported")
	}
	return m, nil
}
