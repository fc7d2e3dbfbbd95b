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

const (
	erasedSuffix  = ".erased"
	erasedKind    = "erased"
	erasedVersion = 1
)

func artifactPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Artifact), manifest.ObjectName(manifest.Artifact, ref))
}

// installedPath is where the same bytes lie again, once a proposal of them was applied.
func installedPath(ref canon.Digest) string {
	return path.Join(manifest.ObjectDir(manifest.Installed), manifest.ObjectName(manifest.Installed, ref))
}

// erasable reports the kinds that one tombstone, the artifact's, stands for: whoever
// erases bytes means them wherever they lie.
func erasable(kind manifest.ObjectKind) bool {
	return kind == manifest.Artifact || kind == manifest.Installed
}

// erasableSize looks for the bytes under either name.
func (s *Store) erasableSize(ref canon.Digest) (bytes int64, there bool, err error) {
	for _, name := range []string{artifactPath(ref), installedPath(ref)} {
		info, ok, err := s.stat(name)
		if err != nil {
			return 0, false, err
		}
		if ok && !there {
			bytes, there = info.Size, true
		}
	}
	return bytes, there, nil
}

// Tombstone implements ports.Tombstones.
func (s *Store) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	if err := ctx.Err(); err != nil {
		return canon.Value{}, false, readFault(err)
	}
	doc, ok, err := s.readControl(artifactPath(ref)+erasedSuffix, erasedKind)
	return doc.Data, ok, err
}

// Erase implements ports.Retention.
func (s *Store) Erase(ctx context.Context, ref canon.Digest, data func(int64) canon.Value) (out ports.Erased,
	err error) {
	if _, err := s.toWrite(); err != nil {
		return out, err
	}
	held, err := s.useAlone(ctx)
	if err != nil {
		return out, err
	}
	defer held.Unlock()
	name := artifactPath(ref)
	size, there, err := s.erasableSize(ref)
	if err != nil {
		return out, readFault(err)
	}
	out.Bytes = size
	if out.Data, out.Already, err = s.Tombstone(ctx, ref); err != nil {
		return out, err
	}
	if there && out.Already && broughtAlong(out.Data) {
		out.Already = false // what is erased now are bytes of this store
		out.Data = data(size)
		if err := s.bury(name, out.Data, s.fs.Replace); err != nil {
			return out, writeFault(err)
		}
		return out, writeFault(s.removeBytes(ref))
	}
	switch {
	case !there && !out.Already:
		return out, fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref)
	case out.Already:
		// A crash may have come between its sync and the bytes, or a failed sync may have
		// left it in memory only: it is put there once more, so that the sync means it (R7).
		err = s.bury(name, out.Data, s.fs.Replace)
	default:
		out.Data = data(size)
		err = s.bury(name, out.Data, s.fs.Place)
	}
	if err != nil {
		return out, writeFault(err)
	}
	return out, writeFault(s.removeBytes(ref))
}

// bury puts the tombstone there, durably, before the first byte goes: bytes that are
// gone without a word would be damage.
func (s *Store) bury(name string, data canon.Value, move func(from, to string) error) error {
	return s.putControl(name+erasedSuffix, controlfile.Document{Kind: erasedKind, V: erasedVersion, Data: data}, move)
}

// removeBytes removes the artifact and what was installed of it, and copies of them that
// were on their way to the name when a crash came: nobody stages anything under the use
// lock.
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

// removeTemps makes what was removed from a folder durable, with what was on its way
// there. The folder need not be there.
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

// broughtAlong reports a tombstone that came with a bundle: bytes of that digest were
// erased elsewhere, and nobody of this store decided so.
func broughtAlong(data canon.Value) bool {
	imported, _ := data.Get("imported")
	return imported.True()
}

// outlived reports a tombstone that came with a bundle and does not count any more:
// somebody brought the bytes here. Else a bundle could bury what any later run brings.
func (s *Store) outlived(ref canon.Digest, data canon.Value) bool {
	if !broughtAlong(data) {
		return false
	}
	_, there, err := s.erasableSize(ref)
	return err == nil && there
}

// erased is the answer of whoever asks for an artifact that was erased, or for what was
// installed of it; nil where none was. A damaged tombstone is one: its bytes are not
// what is missed.
func (s *Store) erased(ref canon.Digest) error {
	name := artifactPath(ref)
	if _, there, err := s.stat(name + erasedSuffix); err != nil || !there {
		return readFault(err)
	}
	f := fault.New(fault.ArtifactErased, "artifact %s was erased", ref).With("sha256", ref.String())
	doc, _, err := s.readControl(name+erasedSuffix, erasedKind)
	if err != nil {
		f.Message += "; who did it and why cannot be read"
		return f
	}
	if s.outlived(ref, doc.Data) {
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

// graves are the artifacts that were erased here: whatever of their bytes is left, under
// whichever name, nobody needs.
func (s *Store) graves(kind manifest.ObjectKind) (map[canon.Digest]bool, error) {
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
		out[ref] = err != nil || !broughtAlong(doc.Data)
	}
	return out, err
}
