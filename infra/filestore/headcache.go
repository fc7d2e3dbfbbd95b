package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

// headPath is the path of the head cache of a log: for a session's log and its side logs in the
// session's cache directory, for a log of the store in the store's. Each format has its own file,
// so that two versions of the binary do not replace each other's cache.
//
// Examples, for format 3:
//
//	cache/audit-3
//	sessions/sess_…/cache/head-3
//	sessions/sess_…/cache/annotations-3
func headPath(log manifest.Log, format int) string {
	switch session, err := id.ParseSession(log.Owner); {
	case err != nil:
		return fmt.Sprintf("cache/%s-%d", log.Table.Name, format)
	case log.Root == manifest.SessionEvents(session).Root:
		return fmt.Sprintf("sessions/%s/cache/head-%d", session, format)
	default:
		return fmt.Sprintf("sessions/%s/cache/%s-%d", session, log.Table.Name, format)
	}
}

// CachedHead implements ports.HeadCache. It returns at most most bytes, and none for a missing
// cache.
func (s *Store) CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	return s.readCache(ctx, headPath(log, format), most)
}

// StoreHead implements ports.HeadCache.
func (s *Store) StoreHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	return s.writeCache(ctx, headPath(log, format), data)
}

// readCache reads at most most bytes of a cache file. Their validity is checked by the caller.
func (s *Store) readCache(ctx context.Context, name string, most int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	f, err := s.fs.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, readFault(err)
	}
	defer f.Close()
	b, err := readAll(f, most)
	return b[:min(int64(len(b)), most)], readFault(err)
}

// writeCache replaces a cache file. Nothing is synced: readers verify the bytes, and a cache that a
// power cut removes is computed again (docs/design.md#head-cache).
//
// A store that does not exist is not created, and a store that must not be written returns its
// refusal.
func (s *Store) writeCache(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return writeFault(err)
	}
	st, err := s.state()
	switch {
	case err != nil:
		return err
	case !st.exists:
		return nil // a cache does not create a store
	case st.refusal != nil:
		return st.refusal
	}
	temp, err := s.tempName(path.Dir(name))
	if err != nil {
		return err
	}
	err = s.writeUnsynced(temp, data)
	if errors.Is(err, fs.ErrNotExist) {
		// Only the cache directory is created: the session's own must exist already.
		if err = s.fs.Mkdir(path.Dir(name)); err == nil || errors.Is(err, fs.ErrExist) {
			err = s.writeUnsynced(temp, data)
		}
	}
	if err == nil {
		err = s.fs.Replace(temp, name)
	}
	if err != nil {
		_ = s.fs.Remove(temp)
	}
	return writeFault(err)
}

// writeUnsynced is writeTemp without the sync, for bytes that may be lost.
func (s *Store) writeUnsynced(temp string, b []byte) error {
	f, err := s.fs.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
