package inspect

import (
	"context"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// control reads a control file and reports it when it is damaged or has an unknown format. ok is
// true for a file that can be used.
func (w *walk) control(name, kind string) (data canon.Value, ok bool) {
	doc, ok, err := w.d.ReadControl(name, kind)
	if ok && doc.V != layout.SideControlVersion {
		err = fault.New(fault.StoreCorrupt, "it is of format %d; this binary knows format %d", doc.V,
			layout.SideControlVersion)
	}
	w.checkControl(name, err)
	return doc.Data, ok && err == nil
}

// SessionControls checks the control files in a session's directory.
func (w *walk) sessionControls(dir string) {
	for _, f := range layout.SessionControls {
		at := path.Join(dir, f.Name)
		data, ok := w.control(at, f.Kind)
		if !ok || f != ports.ImportedFile {
			continue
		}
		_, err := imported.Read(data)
		w.checkControl(at, err) // no command shows such a session
	}
}

// missingControls reports control files that the store must have had, since it has sessions. A lost
// keyring invalidates the issued tokens; a store without store.json is treated as another
// program's, and nothing is written to it.
//
// Without sessions nothing is reported: a new store has no keyring before its first token.
func (w *walk) missingControls() {
	if w.sessionsWithLog == 0 {
		return
	}
	if w.foreign {
		if w.waybillOnly {
			w.find(manifest.ControlMissing, layout.StoreFile,
				"it is missing and existed before: without it the store is treated as another program's, and "+
					"nothing is written to it")
		}
		return
	}
	if _, exists, err := w.d.Lookup(layout.KeyringFile); err == nil && !exists {
		w.find(manifest.ControlMissing, layout.KeyringFile,
			"it is missing although sessions exist: tokens that were issued before are invalid")
	}
}

// InspectSession reports findings about one session's directory outside its logs: control files,
// permissions and unknown files.
func (n *Inspector) InspectSession(ctx context.Context, session id.Session) ([]manifest.Finding, error) {
	st, err := n.d.State()
	if err != nil || !st.Exists {
		return nil, err
	}
	w := &walk{d: n.d, read: n.read, foreign: st.Foreign}
	err = w.confirmedSession(ctx, session)
	return w.found, disk.ReadFault(err)
}

// suspect reports the suspect mark, and distinguishes a failed sync from an import that did not
// finish.
func (w *walk) suspect(dir string, inside []osfs.Entry) {
	if !slices.ContainsFunc(inside, func(e osfs.Entry) bool { return e.Name == layout.SuspectFile }) {
		return
	}
	why := "a sync failed here; the next writer makes a fresh copy of what is valid"
	if marked, err := w.d.HasArrivalMark(dir); err == nil && marked {
		why = "the session was imported and its import did not finish; the next writer finishes it"
	}
	w.find(manifest.SuspectMarker, path.Join(dir, layout.SuspectFile), "%s", why)
}

// tombstone checks an entry of the artifact directory that is named like a tombstone. It returns
// false for any other entry.
func (w *walk) tombstone(at string, e osfs.Entry) bool {
	ref, ok := layout.ParseTombstoneName(e.Name)
	if !ok {
		return false // an artifact, or reported as an unknown file
	}
	data, ok := w.control(at, layout.ErasedKind)
	if sum, _ := data.Get("sha256"); ok && sum.Text() != ref.String() {
		w.find(manifest.ControlDamaged, at, "it records another artifact than its name")
	}
	return true
}

// isLog reports a directory that contains a log of a name that this version does not know: it is
// kept and verified like any other (docs/design.md#side-logs).
func (w *walk) isLog(at string, e osfs.Entry) bool {
	if e.Kind != osfs.Directory || !bundle.ValidLogName(e.Name) {
		return false
	}
	_, exists, err := w.d.Lookup(path.Join(at, manifest.FileName))
	return err == nil && exists
}

// sideLog checks a directory if it contains a log.
func (w *walk) sideLog(ctx context.Context, dir string) error {
	if _, exists, err := w.d.Lookup(path.Join(dir, manifest.FileName)); err != nil || !exists {
		return nil // verification reports a manifest that cannot be read
	}
	inside, err := w.list(ctx, dir, layout.SideLogNames)
	if err != nil { // missing: a repair moved it
		return w.reportUnreadable(ctx, manifest.ManifestDamaged, dir, disk.UnlessMissing(err))
	}
	w.suspect(dir, inside)
	return w.segments(ctx, path.Join(dir, manifest.SegmentDir))
}

// trash checks the trash and its control files. The sessions in it are verified by their readers.
func (w *walk) trash(ctx context.Context) error {
	entries, err := w.list(ctx, layout.TrashDir, nil)
	if err != nil {
		return w.reportUnreadable(ctx, manifest.UnknownFile, layout.TrashDir, err)
	}
	for _, e := range entries {
		at := path.Join(layout.TrashDir, e.Name)
		if _, _, ok := layout.ParseTrashName(e.Name); !ok || e.Kind != osfs.Directory {
			w.find(manifest.UnknownFile, at, "this is not the name of a session in the trash")
			continue
		}
		w.control(path.Join(at, ports.TrashFile.Name), ports.TrashFile.Kind)
	}
	return nil
}
