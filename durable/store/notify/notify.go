// Package notify defines the list of the commands of notifications that a person confirmed on a machine
// (docs/design.md#notifications). The list belongs to the machine, not to a store: a store that was copied
// from elsewhere brings its own audit log, which confirms its own settings, and must not start a program.
//
// It reads no files and starts nothing. Start with List.
package notify

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Kind and Version are those of the control file notify.json.
const (
	Kind    = "notify"
	Version = 1
)

// commandsMax bounds the list. The oldest entry is removed for a new one: its store says that the command
// is not confirmed, and a person confirms it again.
const commandsMax = 1000

// Command is the command of one store, by the digest of its argv.
type Command struct {
	Actor   event.Actor  `json:"actor"`
	AtMs    int64        `json:"atMs"`
	Digest  canon.Digest `json:"digest"`
	StoreID id.Store     `json:"storeId"`
}

// List is the commands that a person confirmed on the machine, one for each store at most, oldest first.
// The zero List is empty. A List is immutable.
type List struct {
	Commands []Command `json:"commands"`
}

// Read returns the list of stored data; null, of a machine where nothing was ever confirmed, is the empty
// list. Data with any other form, unknown members included, is STORE_CORRUPT.
func Read(data canon.Value) (List, error) {
	var l List
	if data.IsNull() {
		return l, nil
	}
	if err := canon.Decode(data, &l); err != nil {
		return List{}, fault.Wrap(err, fault.StoreCorrupt, "notify.json does not have the form of version %d: %v",
			Version, err)
	}
	return l, nil
}

// Data returns the data of the control file for l.
func (l List) Data() (canon.Value, error) {
	if l.Commands == nil {
		l.Commands = []Command{}
	}
	return canon.ValueOf(l)
}

// Has reports that a person confirmed the command with a digest for a store.
func (l List) Has(store id.Store, digest canon.Digest) bool {
	return !store.IsZero() &&
		slices.ContainsFunc(l.Commands, func(c Command) bool { return c.StoreID == store && c.Digest == digest })
}

// With returns l with a command in place of the one of its store.
func (l List) With(c Command) List {
	l = l.Without(c.StoreID)
	l.Commands = append(l.Commands[max(0, len(l.Commands)+1-commandsMax):], c)
	return l
}

// Without returns l without the command of a store.
func (l List) Without(store id.Store) List {
	l.Commands = slices.DeleteFunc(slices.Clone(l.Commands), func(c Command) bool { return c.StoreID == store })
	return l
}
