package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Tombstones = (*Store)(nil)

// A tombstone is a control file beside the artifact's name, with the suffix erasedSuffix.
const (
	erasedSuffix  = ".erased"
	erasedKind    = "erased"
	erasedVersion = 1
)

// artifactPath is the file of an artifact, relative to the store.
func artifactPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Artifact), manifest.ObjectName(manifest.Artifact, ref))
}

// installedPath is the second file with the same bytes, once a proposal of them was applied.
func installedPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Installed), manifest.ObjectName(manifest.Installed, ref))
}

// erasable reports the kinds that the tombstone of an artifact covers: erasing bytes applies to
// every copy of them.
func erasable(kind manifest.ObjectKind) bool {
	return kind == manifest.Artifact || kind == manifest.Installed
}

// erasableSize returns the size of the bytes at the first of the two names that exists.
func (s *Store) erasableSize(ref canon.Digest) (bytes int64, exists bool, err error) {
	for _, name := range []string{artifactPath(ref), installedPath(ref)} {
		info, ok, err := s.stat(name)
		if err != nil {
			return 0, false, err
		}
		if ok && !exists {
			bytes, exists = info.Size, true
		}
	}
	return bytes, exists, nil
}

// Tombstone implements ports.Tombstones. It returns the data of the tombstone, and false without
// one; a damaged one is STORE_CORRUPT.
func (s *Store) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	if err := ctx.Err(); err != nil {
		return canon.Value{}, false, readFault(err)
	}
	doc, ok, err := s.readControl(artifactPath(ref)+erasedSuffix, erasedKind)
	return doc.Data, ok, err
}

// Erase implements ports.Retention. data makes the content of the tombstone from the number of
// bytes. The tombstone is durable before the bytes are removed. Errors: ARTIFACT_NOT_FOUND for an
// artifact that was never stored, STORE_LOCKED, and those of reading and writing.
//
// The cases, by bytes and tombstone:
//   - bytes without a tombstone: the tombstone is placed, then the bytes are removed;
//   - a tombstone: it is written again, and remaining bytes are removed;
//   - bytes and an imported tombstone: the tombstone is replaced by a local one first;
//   - neither: ARTIFACT_NOT_FOUND.
//
// A crash leaves either the bytes or the tombstone, never none of the two.
func (s *Store) Erase(ctx context.Context, ref canon.Digest, data func(int64) canon.Value) (out ports.ErasureResult,
	err error) {
	if _, err := s.toWrite(); err != nil {
		return out, err
	}
	held, err := s.lockUseExclusive(ctx)
	if err != nil {
		return out, err
	}
	defer held.Unlock()
	name := artifactPath(ref)
	size, exists, err := s.erasableSize(ref)
	if err != nil {
		return out, readFault(err)
	}
	out.Bytes = size
	if out.Data, out.Already, err = s.Tombstone(ctx, ref); err != nil {
		return out, err
	}
	if exists && out.Already && isImported(out.Data) {
		out.Already = false // the imported tombstone recorded an erasure elsewhere; this one is local
		out.Data = data(size)
		if err := s.putTombstone(name, out.Data, s.fs.Replace); err != nil {
			return out, writeFault(err)
		}
		return out, writeFault(s.removeBytes(ref))
	}
	switch {
	case !exists && !out.Already:
		return out, fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref)
	case out.Already:
		// A crash may have come between the sync of the tombstone and the removal of the bytes, or
		// a failed sync may have left it in memory only: it is written again, so that the sync
		// applies to it (docs/design.md#failed-sync).
		err = s.putTombstone(name, out.Data, s.fs.Replace)
	default:
		out.Data = data(size)
		err = s.putTombstone(name, out.Data, s.fs.Place)
	}
	if err != nil {
		return out, writeFault(err)
	}
	return out, writeFault(s.removeBytes(ref))
}

// putTombstone writes the tombstone durably before any byte is removed: missing bytes without a
// tombstone are damage.
func (s *Store) putTombstone(name string, data canon.Value, move func(from, to string) error) error {
	return s.putControl(name+erasedSuffix, controlfile.Document{Kind: erasedKind, V: erasedVersion, Data: data}, move)
}

// removeBytes removes the artifact, its installed copy, and temporary files of their directories.
// No process writes temporary objects while the use lock is held exclusively.
func (s *Store) removeBytes(ref canon.Digest) error {
	for _, name := range []string{installedPath(ref), artifactPath(ref)} {
		err := s.fs.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := s.removeTemps(path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeTemps removes the temporary files of a directory and syncs it, which makes earlier removals
// durable as well. A missing directory is not an error.
func (s *Store) removeTemps(dir string) error {
	entries, err := s.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name, tempPrefix) {
			if err := s.removeAll(path.Join(dir, e.Name)); err != nil {
				return err
			}
		}
	}
	return s.fs.SyncDir(dir, osfs.Durable)
}

// isImported reports a tombstone that came with a bundle: the bytes were erased in another store,
// not by a decision of a user of this one.
func isImported(data canon.Value) bool {
	imported, _ := data.Get("imported")
	return imported.True()
}

// isSuperseded reports an imported tombstone whose bytes are stored here nevertheless: it no longer
// applies. Otherwise a bundle could make bytes unreadable that a later run stores.
func (s *Store) isSuperseded(ref canon.Digest, data canon.Value) bool {
	if !isImported(data) {
		return false
	}
	_, exists, err := s.erasableSize(ref)
	return err == nil && exists
}

// erasedFault returns ARTIFACT_ERASED for an artifact with a valid tombstone, and nil otherwise.
// The data of the tombstone is in the detail "erased". A damaged tombstone also counts as erased:
// its bytes are not reported as missing.
//
// The message names the user who erased the artifact and the reason, where the tombstone has them.
func (s *Store) erasedFault(ref canon.Digest) error {
	name := artifactPath(ref)
	if _, exists, err := s.stat(name + erasedSuffix); err != nil || !exists {
		return readFault(err)
	}
	f := fault.New(fault.ArtifactErased, "artifact %s was erased", ref).With("sha256", ref.String())
	doc, _, err := s.readControl(name+erasedSuffix, erasedKind)
	if err != nil {
		f.Message += "; its tombstone, which records who erased it and why, cannot be read"
		return f
	}
	if s.isSuperseded(ref, doc.Data) {
		return nil
	}
	f = f.With("erased", doc.Data)
	if actor, ok := doc.Data.Get("actor"); ok {
		kind, _ := actor.Get("kind")
		who := kind.Text()
		if ref, ok := actor.Get("ref"); ok {
			who = ref.Text() + " (" + who + ")"
		}
		f.Message += " by " + who
	}
	if reason, ok := doc.Data.Get("reason"); ok {
		f.Message += ": " + reason.Text()
	}
	return f
}

// tombstones returns the artifacts that have a tombstone; the value is false for an imported one.
// Bytes of the true ones are not needed at either name.
func (s *Store) tombstones(kind manifest.ObjectKind) (map[canon.Digest]bool, error) {
	if !erasable(kind) {
		return nil, nil
	}
	dir := manifest.ObjectDir(manifest.Artifact)
	entries, err := s.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := map[canon.Digest]bool{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name, erasedSuffix)
		if !ok {
			continue
		}
		ref, parseErr := canon.ParseFileName(name)
		if parseErr != nil || ref.FileName() != name {
			continue
		}
		doc, _, err := s.readControl(path.Join(dir, e.Name), erasedKind)
		out[ref] = err != nil || !isImported(doc.Data)
	}
	return out, err
}
