package inspect

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// inspection walks a store once and collects findings.
type inspection struct {
	s               *Inspector
	ctx             context.Context
	foreign         bool                                    // another program's store: its modes are its own choice
	sessionsWithLog int                                     // sessions that have a manifest
	waybillOnly     bool                                    // a file exists that only Waybill writes
	found           []manifest.Finding                      // in the order of the walk
	intact          func(manifest.ObjectKind, canon.Digest) // called for each intact object; may be nil
}

// Inspect implements ports.Inspector.
func (n *Inspector) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	return n.inspect(ctx, nil)
}

// InspectWithObjects implements ports.Digests. seen is called from several goroutines.
func (n *Inspector) InspectWithObjects(ctx context.Context,
	seen func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding,
	error) {
	return n.inspect(ctx, seen)
}

// inspect checks control files, the tree and every object. A missing store has no findings.
//
// The findings are, by code:
//   - control_damaged and control_missing for control files, tombstones and records of the trash;
//   - permissions for entries that other users can open;
//   - unknown_file for names, links and special files that are not part of a store;
//   - suspect for logs whose last sync failed or whose import did not finish;
//   - object_damaged for objects that cannot be read or have another digest than their name;
//   - manifest_damaged for directories of logs that cannot be read.
//
// Logs themselves are verified by Read and Digests.
func (n *Inspector) inspect(ctx context.Context, seen func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding, error) {
	st, err := n.d.State()
	if err != nil || !st.Exists {
		return nil, err
	}
	in := &inspection{s: n, ctx: ctx, foreign: st.Foreign, intact: seen}
	if !st.Foreign {
		in.storeControls()
	}
	if err := in.top(); err != nil {
		return in.found, disk.ReadFault(err)
	}
	in.missingControls()
	for _, kind := range manifest.ObjectKinds() {
		if err := in.objects(kind); err != nil {
			return in.found, disk.ReadFault(err)
		}
	}
	return in.found, nil
}

// Find adds a finding about the path at.
func (in *inspection) find(code manifest.FindingCode, at, format string, args ...any) {
	in.found = append(in.found, manifest.NewFinding(code, at, format, args...))
}

// storeControls checks store.json, the keyring, config.json and trust.json.
func (in *inspection) storeControls() {
	if _, _, err := in.s.d.ReadControl(layout.StoreFile, layout.StoreKind); err != nil {
		in.find(manifest.ControlDamaged, layout.StoreFile, "%s", fault.Of(err).Message)
	}
	if _, _, err := in.s.read.ReadKeyring(); err != nil {
		in.find(manifest.ControlDamaged, layout.KeyringFile, "%s", fault.Of(err).Message)
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
		doc, ok, err := in.s.d.ReadControl(c.name, c.kind)
		if err == nil && ok {
			err = c.read(doc.Data)
		}
		// No digest covers the format number, so it is checked separately.
		if err == nil && ok && doc.V != c.v {
			err = disk.Corrupt(c.name, "it is of format %d; this binary knows format %d", doc.V, c.v)
		}
		if err != nil {
			in.find(manifest.ControlDamaged, c.name, "%s", fault.Of(err).Message)
		}
	}
}

// top checks the directory of the store and everything in it except objects.
func (in *inspection) top() error {
	entries, err := in.list(".", layout.StoreNames)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var err error
		in.waybillOnly = in.waybillOnly || e.Name == layout.UseLock || e.Name == layout.QuarantineDir
		switch {
		case e.Kind != osfs.Directory:
		case e.Name == "sessions":
			err = in.sessions()
		case e.Name == layout.TrashDir:
			err = in.trash()
		case e.Name == layout.QuarantineDir:
			_, err = in.list(layout.QuarantineDir, nil) // entries may have any name
		default:
			err = in.sideLog(e.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessions checks every directory in sessions/.
//
// A directory that cannot be read becomes a finding, and the walk continues.
func (in *inspection) sessions() error {
	entries, err := in.list("sessions", nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := path.Join("sessions", e.Name)
		if _, err := id.ParseSession(e.Name); err != nil || e.Kind != osfs.Directory {
			in.find(manifest.UnknownFile, dir, "this is not the name of a session")
			continue
		}
		inside, err := in.list(dir, layout.SessionNames)
		if err != nil {
			if err = in.reportUnreadable(manifest.ManifestDamaged, dir, err); err != nil {
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

// session checks the directory of a session; inside is its listing.
func (in *inspection) session(dir string, inside []osfs.Entry) error {
	in.sessionControls(dir)
	in.suspect(dir, inside)
	for _, f := range inside {
		if f.Name == manifest.FileName {
			in.sessionsWithLog++
		}
		if f.Kind == osfs.Directory && f.Name != manifest.SegmentDir {
			if err := in.sideLog(path.Join(dir, f.Name)); err != nil {
				return err
			}
		}
	}
	return in.segments(path.Join(dir, manifest.SegmentDir))
}

// segments checks the names in a segment directory, and the modes unless a reading by Digests
// reports them.
func (in *inspection) segments(dir string) error {
	list := in.list
	if in.intact != nil {
		list = in.listWithoutModes // Digests opens the segments and reports their modes
	}
	entries, err := list(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return in.reportUnreadable(manifest.ManifestDamaged, dir, err)
	}
	for _, e := range entries {
		if _, _, ok := manifest.ParseSegmentName(e.Name); !ok || e.Kind != osfs.Regular {
			in.find(manifest.UnknownFile, path.Join(dir, e.Name), "this is not the name of a segment")
		}
	}
	return nil
}

// reportUnreadable turns an error of reading into a finding, so that the rest of the store is still
// checked. Only a canceled context is returned as an error and ends the walk.
func (in *inspection) reportUnreadable(code manifest.FindingCode, at string, err error) error {
	if in.ctx.Err() != nil {
		return err
	}
	in.find(code, at, "%s", fault.Of(disk.ReadFault(err)).Message)
	return nil
}
