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

// headPath is where the head cache of a log lies: a session's in its folder, with those
// of its side logs beside it; of a log of the store in the store's. Each format has a
// file of its own, so that two versions of the binary do not take turns replacing one.
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

// CachedHead implements ports.HeadCache.
func (s *Store) CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	return s.cached(ctx, headPath(log, format), most)
}

// KeepHead implements ports.HeadCache.
func (s *Store) KeepHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	return s.keepCached(ctx, headPath(log, format), data)
}

func (s *Store) cached(ctx context.Context, name string, most int64) ([]byte, error) {
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

// keepCached replaces a cache. Nothing here is synced: the bytes are checked by whoever
// reads them, and what a power cut takes is made again.
func (s *Store) keepCached(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return writeFault(err)
	}
	st, err := s.standing()
	switch {
	case err != nil:
		return err
	case !st.there:
		return nil // a store is made by truth alone
	case st.refusal != nil:
		return st.refusal
	}
	temp, err := s.tempName(path.Dir(name))
	if err != nil {
		return err
	}
	err = s.writeUnsynced(temp, data)
	if errors.Is(err, fs.ErrNotExist) {
		// Its folder alone is made: the session's own is not, where there is none.
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

// writeUnsynced is writeTemp for bytes that may be lost.
func (s *Store) writeUnsynced(temp string, b []byte) error {
	f, err := s.fs.Open(temp, osfs.New)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
