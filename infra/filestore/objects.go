package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

// Object implements ports.Objects. The name of a file is not believed: a bit that
// flipped on the disk must not change what anyone is told.
func (s *Store) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	if erasable(kind) {
		// First: bytes beside a tombstone are what a crash left, or came a second time.
		if err := s.erased(ref); err != nil {
			return nil, err
		}
	}
	name := path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
	b, err := s.readFile(name, int64(objectBytesMax(kind)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, corrupt(name, "the %s is referred to and not there", kind).With("missing", true)
	case err != nil:
		return nil, readFault(err)
	case canon.Sum(b) != ref:
		return nil, corrupt(name, "the %s does not have the digest that its name says", kind)
	}
	return b, nil
}

// Sessions implements ports.Sessions. A link in a session's place is not one: what
// it leads to is not in this store.
func (s *Store) Sessions(ctx context.Context) ([]id.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	if _, err := s.standing(); err != nil {
		return nil, err
	}
	entries, err := s.fs.List("sessions")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, readFault(err)
	}
	// The kinds come with the listing: looking at each of ten thousand sessions would
	// cost more than all the rest of a list command.
	sessions := make([]id.Session, 0, len(entries))
	for _, e := range entries {
		if parsed, err := id.ParseSession(e.Name); err == nil && e.Kind == osfs.Directory {
			sessions = append(sessions, parsed)
		}
	}
	slices.SortFunc(sessions, func(a, b id.Session) int { return strings.Compare(a.String(), b.String()) })
	return sessions, nil
}
