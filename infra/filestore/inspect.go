package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/config"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/durable/trust"
	"github.com/waybill/waybill/infra/osfs"
)

// inspection walks a store once and keeps what it finds odd.
type inspection struct {
	s       *Store
	ctx     context.Context
	foreign bool // of another program: its modes are its own
	found   []manifest.Finding
}

// Inspect implements ports.Inspector.
func (s *Store) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	st, err := s.standing()
	if err != nil || !st.there {
		return nil, err
	}
	in := &inspection{s: s, ctx: ctx, foreign: st.foreign}
	if !st.foreign {
		in.control()
	}
	if err := in.top(); err != nil {
		return in.found, readFault(err)
	}
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow, manifest.Artifact} {
		if err := in.objects(kind); err != nil {
			return in.found, readFault(err)
		}
	}
	return in.found, nil
}

func (in *inspection) find(code manifest.FindingCode, at, format string, args ...any) {
	in.found = append(in.found, manifest.NewFinding(code, at, format, args...))
}

// control reads what says who the store is and who may sign.
func (in *inspection) control() {
	if _, _, err := in.s.readControl(storeFile, storeKind); err != nil {
		in.find(manifest.ControlDamaged, storeFile, "%s", fault.Of(err).Message)
	}
	if _, _, err := in.s.readKeyring(); err != nil {
		in.find(manifest.ControlDamaged, keyringFile, "%s", fault.Of(err).Message)
	}
	for _, c := range []struct {
		name, kind string
		read       func(canon.Value) error
	}{
		{"config.json", config.Kind, func(v canon.Value) error { _, err := config.Read(v); return err }},
		{"trust.json", trust.Kind, func(v canon.Value) error { _, err := trust.Read(v); return err }},
	} {
		doc, ok, err := in.s.readControl(c.name, c.kind)
		if err == nil && ok {
			err = c.read(doc.Data)
		}
		if err != nil {
			in.find(manifest.ControlDamaged, c.name, "%s", fault.Of(err).Message)
		}
	}
}

// belongs lists what a store holds at its top; folders whose inside is looked at
// elsewhere, or is nobody's business, among them.
var belongs = []string{storeFile, "config.json", "trust.json", useLock, "keys", "sessions", "snapshots", "artifacts",
	"workflows", "proposals", "audit", "installed", quarantineDir, "trash", "cache"}

// sessionHolds is the same for a session's folder.
var sessionHolds = []string{manifest.FileName, manifest.SegmentDir, "annotations", ".lock", ".performer.lock", suspectFile, "keep", "cache"}

func (in *inspection) top() error {
	entries, err := in.list(".", belongs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name == "sessions" && e.Kind == osfs.Directory {
			return in.sessions()
		}
	}
	return nil
}

func (in *inspection) sessions() error {
	entries, err := in.list("sessions", nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := path.Join("sessions", e.Name)
		if _, err := id.ParseSession(e.Name); err != nil || e.Kind != osfs.Directory {
			in.find(manifest.UnknownFile, dir, "no session is called so")
			continue
		}
		inside, err := in.list(dir, sessionHolds)
		if err != nil {
			if err = in.unread(manifest.ManifestDamaged, dir, err); err != nil {
				return err
			}
			continue
		}
		for _, f := range inside {
			if f.Name == suspectFile {
				in.find(manifest.SuspectMarker, path.Join(dir, f.Name), "a sync failed here; the next writer makes a fresh copy of what is valid")
			}
		}
		if err := in.segments(path.Join(dir, manifest.SegmentDir)); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) segments(dir string) error {
	entries, err := in.list(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return in.unread(manifest.ManifestDamaged, dir, err)
	}
	for _, e := range entries {
		if _, _, ok := manifest.ParseSegmentName(e.Name); !ok || e.Kind != osfs.Regular {
			in.find(manifest.UnknownFile, path.Join(dir, e.Name), "no segment is called so")
		}
	}
	return nil
}

// unread finds fault with what cannot be read, so that it does not hide the rest
// of the store; only the end of the call ends the walk.
func (in *inspection) unread(code manifest.FindingCode, at string, err error) error {
	if in.ctx.Err() != nil {
		return err
	}
	in.find(code, at, "%s", fault.Of(readFault(err)).Message)
	return nil
}

// list reads a folder, and reports entries that do not belong, that are links, or
// that others can open. What was on its way when a crash came is passed over.
func (in *inspection) list(dir string, known []string) ([]osfs.Entry, error) {
	if err := in.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := in.s.fs.List(dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b osfs.Entry) int { return strings.Compare(a.Name, b.Name) })
	out := entries[:0]
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		switch {
		case strings.HasPrefix(e.Name, tempPrefix):
			continue
		case e.Kind == osfs.Symlink || e.Kind == osfs.Other:
			in.find(manifest.UnknownFile, at, "a store holds plain files and folders only")
			continue
		case known != nil && !slices.Contains(known, e.Name):
			in.find(manifest.UnknownFile, at, "nothing of that name belongs to a store")
			continue
		}
		if info, err := in.s.fs.Stat(at); err == nil && info.Perm&0o077 != 0 && !in.foreign {
			in.find(manifest.LooseMode, at, "others can open it (mode %#o)", info.Perm)
		}
		out = append(out, e)
	}
	return out, nil
}

// Stored implements ports.Inspector.
func (s *Store) Stored(ctx context.Context, kind manifest.ObjectKind) ([]canon.Digest, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	entries, err := s.fs.List(manifest.ObjectDir(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []canon.Digest
	for _, e := range entries {
		if ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json")); err == nil && manifest.ObjectName(kind, ref) == e.Name {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(a, b canon.Digest) int { return strings.Compare(a.String(), b.String()) })
	return out, readFault(err)
}

// objects reads every object of a kind, referred to or not: the next session that
// brings the same bytes relies on them.
func (in *inspection) objects(kind manifest.ObjectKind) error {
	dir := manifest.ObjectDir(kind)
	entries, err := in.list(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return in.unread(manifest.ObjectDamaged, dir, err)
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json"))
		if err != nil || manifest.ObjectName(kind, ref) != e.Name {
			in.find(manifest.UnknownFile, at, "no %s is called so", kind)
			continue
		}
		b, err := in.s.readFile(at, int64(objectBytesMax(kind)))
		if err != nil {
			if err = in.unread(manifest.ObjectDamaged, at, err); err != nil {
				return err
			}
			continue
		}
		if canon.Sum(b) != ref {
			in.find(manifest.ObjectDamaged, at, "the file does not have the digest that its name says")
		}
	}
	return nil
}
