// Package trust defines the list of workflow versions whose command steps may be executed
// (docs/design.md#commands-and-trust). A version is identified by its hash: another version of
// the same file is not trusted.
//
// It executes nothing, asks no questions and reads no files; it records which actor trusted which
// version.
package trust

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind and Version are those of the control file trust.json that this package writes.
const (
	Kind    = "trust"
	Version = 1
)

// entriesMax keeps the file within limits.ControlFileBytesMax (1 MiB), also with the longest names.
const entriesMax = 2000

// Entry records that an actor trusted the commands of one workflow version.
type Entry struct {
	Actor        event.Actor  `json:"actor"`
	AtMs         int64        `json:"atMs"`
	Commands     int64        `json:"commands"` // the number of its command steps
	WorkflowHash canon.Digest `json:"workflowHash"`
	WorkflowID   string       `json:"workflowId"`
}

// List is all trusted workflow versions of a store, oldest first. The zero List is empty. A List is
// immutable.
type List struct {
	Entries []Entry `json:"trusted"`
}

// Read returns the list of stored data; null, of a store where nothing was ever trusted, is the
// empty list. Data with any other form, unknown members included, is STORE_CORRUPT: no command
// may be executed on a guess.
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

// Data returns the data of the control file for l.
func (l List) Data() (canon.Value, error) {
	if l.Entries == nil {
		l.Entries = []Entry{}
	}
	return canon.ValueOf(l)
}

// Of returns the entry of a workflow version; ok is false where it is not trusted.
func (l List) Of(hash canon.Digest) (Entry, bool) {
	i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.WorkflowHash == hash })
	if i < 0 {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// With returns l with one more entry. For a version that is trusted already it returns l
// unchanged, so that the first actor stays recorded. A full list is STORE_LIMIT.
func (l List) With(e Entry) (List, error) {
	if _, ok := l.Of(e.WorkflowHash); ok {
		return l, nil
	}
	if len(l.Entries) >= entriesMax {
		return l, fault.New(fault.StoreLimit,
			"%d workflow versions are trusted, which is the maximum for a store", entriesMax).
			Suggest("Revoke those that are not used any more with %s.", fault.Command{"trust", "--revoke", "HASH"})
	}
	return List{append(slices.Clone(l.Entries), e)}, nil
}

// Without returns l without a workflow version.
func (l List) Without(hash canon.Digest) List {
	return List{slices.DeleteFunc(slices.Clone(l.Entries), func(e Entry) bool { return e.WorkflowHash == hash })}
}
