package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// inspection walks a store once and keeps what it finds odd.
type inspection struct {
	s       *Store
	ctx     context.Context
	foreign bool // of another program: its modes are its own
	held    int  // sessions with a log
	ours    bool // something here is of a kind that this program alone writes
	found   []manifest.Finding
	seen    func(manifest.ObjectKind, canon.Digest) // told of sound objects; or nil
}

// Inspect implements ports.Inspector.
func (s *Store) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	return s.inspect(ctx, nil)
}

// InspectSeeing implements ports.Digests.
func (s *Store) InspectSeeing(ctx context.Context, seen func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding,
	error) {
	return s.inspect(ctx, seen)
}

func (s *Store) inspect(ctx context.Context, seen func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding, error) {
	st, err := s.standing()
	if err != nil || !st.there {
		return nil, err
	}
	in := &inspection{s: s, ctx: ctx, foreign: st.foreign, seen: seen}
	if !st.foreign {
		in.control()
	}
	if err := in.top(); err != nil {
		return in.found, readFault(err)
	}
	in.gone()
	for _, kind := range manifest.ObjectKinds() {
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
		v          int64
		read       func(canon.Value) error
	}{
		{"config.json", config.Kind, config.Version,
			func(v canon.Value) error { _, err := config.Read(v); return err }},
		{"trust.json", trust.Kind, trust.Version, func(v canon.Value) error { _, err := trust.Read(v); return err }},
	} {
		doc, ok, err := in.s.readControl(c.name, c.kind)
		if err == nil && ok {
			err = c.read(doc.Data)
		}
		if err == nil && ok && doc.V != c.v { // no digest covers the format
			err = corrupt(c.name, "it is of format %d; this binary knows format %d", doc.V, c.v)
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
var sessionHolds = []string{manifest.FileName, manifest.SegmentDir, "annotations", ".lock", performerLock, suspectFile,
	ports.KeepFile.Name, ports.ImportedFile.Name, "cache"}

func (in *inspection) top() error {
	entries, err := in.list(".", belongs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var err error
		in.ours = in.ours || e.Name == useLock || e.Name == quarantineDir
		switch {
		case e.Kind != osfs.Directory:
		case e.Name == "sessions":
			err = in.sessions()
		case e.Name == trashDir:
			err = in.trash()
		case e.Name == quarantineDir:
			_, err = in.list(quarantineDir, nil) // what it holds may be called anything
		default:
			err = in.side(e.Name)
		}
		if err != nil {
			return err
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
		if err := in.session(dir, inside); err != nil {
			return err
		}
	}
	return nil
}

// session looks at what lies in a session's folder.
func (in *inspection) session(dir string, inside []osfs.Entry) error {
	in.sessionControls(dir)
	in.suspect(dir, inside)
	for _, f := range inside {
		if f.Name == manifest.FileName {
			in.held++
		}
		if f.Kind == osfs.Directory && f.Name != manifest.SegmentDir {
			if err := in.side(path.Join(dir, f.Name)); err != nil {
				return err
			}
		}
	}
	return in.segments(path.Join(dir, manifest.SegmentDir))
}

func (in *inspection) segments(dir string) error {
	list := in.list
	if in.seen != nil {
		list = in.bare // Digests opens the segments, and tells of their modes
	}
	entries, err := list(dir, nil)
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

// Stored implements ports.Inspector.
func (s *Store) Stored(ctx context.Context, kind manifest.ObjectKind) (out []canon.Digest, err error) {
	err = s.EachStored(ctx, kind, func(ref canon.Digest) { out = append(out, ref) })
	slices.SortFunc(out, func(a, b canon.Digest) int { return strings.Compare(a.String(), b.String()) })
	return out, err
}

// EachStored implements ports.Digests.
func (s *Store) EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error {
	if err := ctx.Err(); err != nil {
		return readFault(err)
	}
	entries, err := s.fs.List(manifest.ObjectDir(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for i, e := range entries {
		if ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json")); err == nil &&
			manifest.ObjectName(kind, ref) == e.Name {
			each(ref)
		}
		entries[i].Name = "" // there may be a million
	}
	return readFault(err)
}
