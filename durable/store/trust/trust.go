// Package trust is the list of workflow versions whose commands a person has
// allowed to run (R24), each by its hash: another version of the same file is not
// trusted. It runs nothing and asks nobody; it only remembers who agreed.
package trust

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind is the control file's kind, and Version the one that this package writes.
const (
	Kind    = "trust"
	Version = 1
)

// entriesMax keeps the file within the budget of a control file (1 MiB) with room
// for the longest names.
const entriesMax = 2000

// Entry says that somebody agreed to the commands of one workflow version.
type Entry struct {
	Actor        event.Actor  `json:"actor"`
	AtMs         int64        `json:"atMs"`
	Commands     int64        `json:"commands"` // how many steps of it are commands
	WorkflowHash canon.Digest `json:"workflowHash"`
	WorkflowID   string       `json:"workflowId"`
}

// List is everything that is trusted in a store, oldest first. The zero List
// trusts nothing.
type List struct {
	Entries []Entry `json:"trusted"`
}

// Read takes over stored data; null, where nothing was ever trusted, is the empty
// list. What is not exactly a list is STORE_CORRUPT: nothing may run by a guess.
func Read(data canon.Value) (List, error) {
	var l List
	if data.IsNull() {
		return l, nil
	}
	if err := canon.Decode(data, &l); err != nil {
		return List{}, fault.Wrap(err, fault.StoreCorrupt, "trust.json does not have the form of version %d: %v",
			Version, err)
	}
	return l, nil
}

// Data is what is stored for l.
func (l List) Data() (canon.Value, error) {
	if l.Entries == nil {
		l.Entries = []Entry{}
	}
	return canon.ValueOf(l)
}

// Of finds the entry for a workflow version.
func (l List) Of(hash canon.Digest) (Entry, bool) {
	i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.WorkflowHash == hash })
	if i < 0 {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// With is l with one more entry. Who agreed first stays on record: the same hash
// again changes nothing.
func (l List) With(e Entry) (List, error) {
	if _, ok := l.Of(e.WorkflowHash); ok {
		return l, nil
	}
	if len(l.Entries) >= entriesMax {
		return l, fault.New(fault.StoreLimit,
			"%d workflow versions are trusted, which is the most that a store remembers", entriesMax).
			Suggest("Take back those that are not used any more with 'waybill trust --revoke HASH'.")
	}
	return List{append(slices.Clone(l.Entries), e)}, nil
}

// Without is l less a workflow version.
func (l List) Without(hash canon.Digest) List {
	return List{slices.DeleteFunc(slices.Clone(l.Entries), func(e Entry) bool { return e.WorkflowHash == hash })}
}
