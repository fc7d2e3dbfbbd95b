// Package imported is the mark of a session that came as a bundle: how much of its
// log was made elsewhere. What a person approved there is shown and does not count
// here (R20): anybody can write a bundle.
package imported

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Version is that of the control file's data.
const Version = 1

// Mark says which log came, and how long it was then.
type Mark struct {
	AtMs     int64            `json:"atMs"`
	BundleID string           `json:"bundleId"`
	Events   int64            `json:"events"`        // the first that were not made in this store
	Head     canon.Digest     `json:"head"`          // of the bundle's log
	Logs     map[string]int64 `json:"logs,omitzero"` // of side logs, by their names, what Events is of the log
	Salvage  bool             `json:"salvage,omitzero"`
}

// Value is the mark as data of its control file.
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

// Read reads what Value wrote; anything else is STORE_CORRUPT.
func Read(data canon.Value) (m Mark, err error) {
	// What a newer version adds does not change what these members say.
	if err := canon.DecodeKnown(data, &m); err != nil {
		return m, fault.Wrap(err, fault.StoreCorrupt, "the mark of the import: %v", err)
	}
	if m.Events <= 0 {
		return m, fault.New(fault.StoreCorrupt, "the mark of the import speaks of a session without events")
	}
	return m, nil
}
