// Package trust defines the list of workflow versions whose command steps may be executed, and
// where (docs/design.md#commands-and-trust). A version is identified by its hash: another version of
// the same file is not trusted. The place is the root of a repository, or a folder outside of one:
// a command depends on the files around it.
//
// It executes nothing, asks no questions and reads no files; it records which actor trusted which
// version.
package trust

import (
	"slices"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind and Version are those of the control file trust.json that this package writes. Version 1 had
// no roots, and version 2 nothing that was fixed for checks; Read accepts them.
const (
	Kind    = "trust"
	Version = 3
)

// entriesMax bounds the entries of the file; bytesMax keeps it within limits.ControlFileBytesMax,
// also with long roots.
const (
	entriesMax = 2000
	bytesMax   = limits.ControlFileBytesMax - 1024 // for the envelope
)

// Entry records that an actor trusted the commands of one workflow version in one place.
type Entry struct {
	Actor    event.Actor `json:"actor"`
	AtMs     int64       `json:"atMs"`
	Commands int64       `json:"commands"` // the number of its command steps and checks
	// Fixed is what its checks depend on. It replaces that of an earlier entry for the same place.
	Fixed Fixed `json:"fixed,omitzero"`
	// Root is the absolute path of the place on this machine, links resolved. "" is an entry of
	// version 1: it is shown and does not count.
	Root         string       `json:"root,omitzero"`
	WorkflowHash canon.Digest `json:"workflowHash"`
	WorkflowID   string       `json:"workflowId"`
}

// List is all trusted workflow versions of a store, oldest first. The zero List is empty. A List is
// immutable.
type List struct {
	Entries []Entry `json:"trusted"`
}

// Read returns the list of stored data of a version of the file; null, of a store where nothing was
// ever trusted, is the empty list. Data with any other form, unknown members included, is
// STORE_CORRUPT: no command may be executed on a guess.
func Read(v int64, data canon.Value) (List, error) {
	var l List
	if data.IsNull() {
		return l, nil
	}
	if err := canon.Decode(data, &l); err != nil {
		return List{}, fault.Wrap(err, fault.StoreCorrupt, "trust.json does not have the form of version %d: %v", v,
			err)
	}
	// No digest covers the version of the file, so it may be damaged.
	if v < 2 && slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Root != "" }) {
		return List{}, fault.New(fault.StoreCorrupt,
			"trust.json does not have the form of version %d: an entry has a root", v)
	}
	if v < 3 && slices.ContainsFunc(l.Entries, func(e Entry) bool { return !e.Fixed.IsZero() }) {
		return List{}, fault.New(fault.StoreCorrupt,
			"trust.json does not have the form of version %d: an entry has what is fixed for checks", v)
	}
	for _, e := range l.Entries {
		if err := e.Fixed.check(); err != nil {
			return List{}, fault.Wrap(err, fault.StoreCorrupt, "trust.json: the entry of %s: %s", e.WorkflowHash, err)
		}
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

// Digest is the digest of the canonical data of the entries that count. It identifies the list that
// a person confirmed (docs/design.md#settings); the digest of the empty list is that of a store
// without the file.
func (l List) Digest() (canon.Digest, error) {
	counting := slices.DeleteFunc(slices.Clone(l.Entries), func(e Entry) bool { return e.Root == "" })
	data, err := List{counting}.Data()
	return canon.Sum(data.JCS()), err
}

// Of returns the entry of a workflow version in a place; ok is false where it is not trusted.
func (l List) Of(hash canon.Digest, root string) (Entry, bool) {
	i := slices.IndexFunc(l.Entries, func(e Entry) bool {
		return root != "" && e.WorkflowHash == hash && e.Root == root
	})
	if i < 0 {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// Has reports whether any entry, of any place, is about a workflow version.
func (l List) Has(hash canon.Digest) bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.WorkflowHash == hash })
}

// With returns l with one more entry, which replaces one of version 1 of the same hash, and one of the
// same place with something else fixed. For a version that is trusted in that place already with the
// same it returns l unchanged, so that the first actor stays recorded. A full list is STORE_LIMIT, a root that cannot be stored VALIDATION_ERROR.
func (l List) With(e Entry) (List, error) {
	if have, ok := l.Of(e.WorkflowHash, e.Root); ok && have.Fixed.Equal(e.Fixed) {
		return l, nil
	}
	if e.Root == "" || !utf8.ValidString(e.Root) {
		return l, fault.New(fault.ValidationError,
			"the path of this folder is not UTF-8, so trust cannot be recorded for it").
			Suggest("Rename the folder, or allow one call with %s.", fault.Command{"run", "--trust"})
	}
	next := List{slices.DeleteFunc(slices.Clone(l.Entries), func(old Entry) bool {
		return old.WorkflowHash == e.WorkflowHash && (old.Root == "" || old.Root == e.Root)
	})}
	next.Entries = append(next.Entries, e)
	data, err := next.Data()
	if err != nil {
		return l, err
	}
	if len(next.Entries) > entriesMax || len(data.JCS()) > bytesMax {
		return l, fault.New(fault.StoreLimit,
			"%d workflow versions are trusted, which is the maximum for a store", len(l.Entries)).
			Suggest("Revoke those that are not used any more with %s.", fault.Command{"trust", "--revoke", "HASH"})
	}
	return next, nil
}

// Without returns l without a workflow version, in all places.
func (l List) Without(hash canon.Digest) List {
	return List{slices.DeleteFunc(slices.Clone(l.Entries), func(e Entry) bool { return e.WorkflowHash == hash })}
}
