// Package sharedstore is a store in a database with what the commands need of it besides package pgstore: files of hooks and
// signing, which each machine keeps for itself. It implements ports.Store, and adds no rule to the packages that it
// composes. Start with Open.
package sharedstore

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/waybill/waybill/infra/guardcache"
	"github.com/waybill/waybill/infra/payloadcache"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
)

// Store is one store. It is safe for concurrent use.
type Store struct {
	*pgstore.Store
	machine string
}

var _ ports.Store = (*Store)(nil)

// Open returns a handle of the store at an address; machine is the directory of the store in which this machine keeps
// its settings for it; while that is no store of this machine, nothing of Hooks and Payloads is saved. It does not connect.
func Open(a pgstore.Address, machine string, o pgstore.Options) *Store {
	return &Store{pgstore.Open(a, o), machine}
}

// Hooks implements ports.Store.
func (s *Store) Hooks() ports.GuardFiles { return hooks{guardcache.New(s.machine), s.Store} }

// Payloads implements ports.Store.
func (s *Store) Payloads() ports.Payloads { return payloads{payloadcache.New(s.machine)} }

// payloads implements ports.Payloads.
type payloads struct{ payloadcache.Payloads }

// Save implements ports.Payloads.
func (p payloads) Save(text []byte) error { return unlessMissing(p.Payloads.Save(text)) }

// unlessMissing returns the error of saving a file, nil where the store of this machine does not exist: the file is only a cache.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// hooks implements ports.GuardFiles: the lists are files of this machine, the sessions those of the database.
type hooks struct {
	guardcache.Files
	store *pgstore.Store
}

// Save implements ports.GuardFiles.
func (h hooks) Save(ctx context.Context, l ports.GuardList, data []byte) error {
	return unlessMissing(h.Files.Save(ctx, l, data))
}

// overlapMs is how far back a look at the changes goes behind the one before it: a commit gets its time before it is seen.
const overlapMs = 60_000

// Stamps implements ports.GuardFiles.
func (h hooks) Stamps(ctx context.Context) ([]ports.SessionStamp, error) {
	return h.store.ChangedSince(ctx, 0)
}

// Changes implements ports.GuardFiles. The mark is the time of the latest change, by the clock of the database.
func (h hooks) Changes(ctx context.Context, mark string) (out ports.SessionChanges, err error) {
	since, parseErr := strconv.ParseInt(mark, 10, 64)
	out.Known, out.Mark = parseErr == nil, mark
	if !out.Known {
		since = 0
	}
	all, err := h.store.ChangedSince(ctx, max(0, since-overlapMs))
	if err != nil {
		return ports.SessionChanges{}, err
	}
	for i, one := range all {
		if i == 0 {
			out.Mark = strconv.FormatInt(one.ChangedMs, 10)
		}
		if out.Known {
			out.Changed = append(out.Changed, one.Session)
		}
	}
	return out, nil
}
