// Package folderstore is a store in a directory of this machine, with what the commands need of it besides package
// filestore: changes, times, and the files of hooks and signing in its cache directory. It implements ports.Store, and adds
// no rule to the packages that it composes. Start with Open.
package folderstore

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/guardcache"
	"github.com/waybill/waybill/infra/payloadcache"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/infra/watch"
	"github.com/waybill/waybill/ports"
)

// Store is one store. It is safe for concurrent use.
type Store struct {
	guardcache.Announced
	sessiontimes.Times
	*watch.Changes
	dir string
}

var _ ports.Store = (*Store)(nil)

// Open opens the store in the directory dir, an absolute path. Errors are those of filestore.OpenDir.
func Open(dir string, o filestore.Options) (*Store, error) {
	files, err := filestore.OpenDir(dir, o)
	if err != nil {
		return nil, err
	}
	times := sessiontimes.New(dir)
	return &Store{guardcache.Announce(files, guardcache.New(dir)), times, watch.New(dir, times), dir}, nil
}

// Append implements ports.Logs. The change is announced at once.
func (s *Store) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	head, err := s.Announced.Append(ctx, w, at, p)
	if err == nil {
		s.Announce(p.Log)
	}
	return head, err
}

// Hooks implements ports.Store.
func (s *Store) Hooks() ports.GuardFiles { return guardcache.New(s.dir) }

// Payloads implements ports.Store.
func (s *Store) Payloads() ports.Payloads { return payloadcache.New(s.dir) }

// Name implements ports.Store.
func (s *Store) Name() string { return s.dir }

// Exists implements ports.Store. Errors are those of filestore.Store.Exists.
func (s *Store) Exists(context.Context) (bool, error) { return s.Announced.Exists() }
