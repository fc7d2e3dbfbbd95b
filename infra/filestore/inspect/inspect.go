package inspect

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
)

// walk is one walk over a store. It collects findings.
type walk struct {
	d               *disk.Disk
	read            *read.Reader
	foreign         bool                                    // another program's store: its modes are its own choice
	sessionsWithLog int                                     // sessions that have a manifest
	waybillOnly     bool                                    // a file exists that only Waybill writes
	found           []manifest.Finding                      // in the order of the walk
	intact          func(manifest.ObjectKind, canon.Digest) // called for each intact object; may be nil
}

// Inspect implements ports.Inspector.
func (n *Inspector) Inspect(ctx context.Context) ([]manifest.Finding, error) {
	return n.InspectWithObjects(ctx, nil)
}

// InspectWithObjects implements ports.Digests: it checks control files, the tree and every object. A missing store has
// no findings. seen, if not nil, is called from several goroutines.
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
func (n *Inspector) InspectWithObjects(ctx context.Context,
	seen func(manifest.ObjectKind, canon.Digest)) ([]manifest.Finding, error) {
	st, err := n.d.State()
	if err != nil || !st.Exists {
		return nil, err
	}
	w := &walk{d: n.d, read: n.read, foreign: st.Foreign, intact: seen}
	if !st.Foreign {
		w.storeControls()
	}
	if err := w.top(ctx); err != nil {
		return w.found, disk.ReadFault(err)
	}
	w.missingControls()
	for _, kind := range manifest.ObjectKinds() {
		if err := w.objects(ctx, kind); err != nil {
			return w.found, disk.ReadFault(err)
		}
	}
	return w.found, nil
}

// Find adds a finding about the path at.
func (w *walk) find(code manifest.FindingCode, at, format string, args ...any) {
	w.found = append(w.found, manifest.NewFinding(code, at, format, args...))
}

// storeControls checks store.json, the keyring, config.json, trust.json and the keys of programs.
func (w *walk) storeControls() {
	_, _, err := w.d.ReadControl(layout.StoreFile, layout.StoreKind)
	w.checkControl(layout.StoreFile, err)
	_, _, err = read.ReadKeyring(w.d)
	w.checkControl(layout.KeyringFile, err)
	for _, c := range []struct {
		name, kind string
		v          int64
		read       func(int64, canon.Value) error
	}{
		{"config.json", config.Kind, config.Version,
			func(_ int64, data canon.Value) error { _, err := config.Read(data); return err }},
		{"trust.json", trust.Kind, trust.Version,
			func(v int64, data canon.Value) error { _, err := trust.Read(v, data); return err }},
		{layout.HTTPKeysFile, httpkeys.Kind, httpkeys.Version,
			func(_ int64, data canon.Value) error { _, err := httpkeys.Read(data); return err }},
	} {
		doc, ok, err := w.d.ReadControl(c.name, c.kind)
		if err == nil {
			err = read.CheckPrivate(w.d, c.name)
		}
		if err == nil && ok {
			err = c.read(doc.V, doc.Data)
		}
		// No digest covers the format number, so it is checked separately.
		if err == nil && ok && (doc.V < 1 || doc.V > c.v) {
			err = disk.Corrupt(c.name, "it is of format %d; this binary knows format %d", doc.V, c.v)
		}
		w.checkControl(c.name, err)
	}
}

// checkControl reports a control file that cannot be used, as err says.
func (w *walk) checkControl(name string, err error) {
	if err != nil {
		w.find(manifest.ControlDamaged, name, "%s", fault.Of(err).Message)
	}
}

// top checks the directory of the store and everything in it except objects.
func (w *walk) top(ctx context.Context) error {
	entries, err := w.list(ctx, ".", layout.StoreNames)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var err error
		w.waybillOnly = w.waybillOnly || e.Name == layout.UseLock || e.Name == layout.QuarantineDir
		switch {
		case e.Kind != osfs.Directory:
		case e.Name == "sessions":
			err = w.sessions(ctx)
		case e.Name == layout.TrashDir:
			err = w.trash(ctx)
		case e.Name == layout.KeysDir && !w.foreign:
			_, err = w.listWithoutModes(ctx, layout.KeysDir, layout.KeyNames) // the modes are those of storeControls
		case e.Name == layout.QuarantineDir:
			_, err = w.list(ctx, layout.QuarantineDir, nil) // entries may have any name
		default:
			err = w.sideLog(ctx, e.Name)
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
func (w *walk) sessions(ctx context.Context) error {
	entries, err := w.list(ctx, "sessions", nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		session, err := id.ParseSession(e.Name)
		switch {
		case err != nil:
			w.find(manifest.UnknownFile, path.Join("sessions", e.Name), "this is not the name of a session")
		case e.Kind != osfs.Directory:
			w.find(manifest.UnknownFile, path.Join("sessions", e.Name), "a file in place of a session")
		default:
			if err := w.confirmedSession(ctx, session); err != nil {
				return err
			}
		}
	}
	return nil
}

// confirmedSession checks the directory of a session. What it finds is reported if it is found again while no process
// changes the session: it may have been moved, or an import of it may have been finished.
func (w *walk) confirmedSession(ctx context.Context, session id.Session) error {
	before, count := len(w.found), w.sessionsWithLog
	check := func() error {
		w.found, w.sessionsWithLog = w.found[:before], count
		dir := layout.SessionDir(session)
		return w.reportUnreadable(ctx, manifest.ManifestDamaged, dir, disk.UnlessMissing(w.session(ctx, dir)))
	}
	if err := check(); err != nil || len(w.found) == before {
		return err
	}
	return w.read.WithoutChanges(ctx, manifest.SessionEvents(session), check)
}

// session checks the directory of a session.
func (w *walk) session(ctx context.Context, dir string) error {
	inside, err := w.list(ctx, dir, layout.SessionNames)
	if err != nil {
		return err
	}
	w.sessionControls(dir)
	w.suspect(dir, inside)
	for _, f := range inside {
		if f.Name == manifest.FileName {
			w.sessionsWithLog++
		}
		if f.Kind == osfs.Directory && f.Name != manifest.SegmentDir {
			if err := w.sideLog(ctx, path.Join(dir, f.Name)); err != nil {
				return err
			}
		}
	}
	return w.segments(ctx, path.Join(dir, manifest.SegmentDir))
}

// segments checks the names in a segment directory, and the modes unless a reading by Digests
// reports them.
func (w *walk) segments(ctx context.Context, dir string) error {
	list := w.list
	if w.intact != nil {
		list = w.listWithoutModes // Digests opens the segments and reports their modes
	}
	entries, err := list(ctx, dir, nil)
	if err := w.reportUnreadable(ctx, manifest.ManifestDamaged, dir, disk.UnlessMissing(err)); err != nil {
		return err
	}
	for _, e := range entries {
		if _, _, ok := manifest.ParseSegmentName(e.Name); !ok || e.Kind != osfs.Regular {
			w.find(manifest.UnknownFile, path.Join(dir, e.Name), "this is not the name of a segment")
		}
	}
	return nil
}

// reportUnreadable turns an error of reading into a finding, so that the rest of the store is still
// checked. Only the error of a canceled context is returned and ends the walk.
func (w *walk) reportUnreadable(ctx context.Context, code manifest.FindingCode, at string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	w.find(code, at, "%s", fault.Of(disk.ReadFault(err)).Message)
	return nil
}
