package inspect

import (
	"context"
	"path"
	"strings"

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
func (in *inspection) control(name, kind string) (data canon.Value, ok bool) {
	doc, ok, err := in.s.d.ReadControl(name, kind)
	switch {
	case err != nil:
		in.find(manifest.ControlDamaged, name, "%s", fault.Of(err).Message)
		return doc.Data, false
	case ok && doc.V != layout.SideControlVersion:
		in.find(manifest.ControlDamaged, name, "it is of format %d; this binary knows format %d", doc.V,
			layout.SideControlVersion)
		return doc.Data, false
	}
	return doc.Data, ok
}

// SessionControls checks the control files in a session's directory.
func (in *inspection) sessionControls(dir string) {
	for _, f := range layout.SessionControls {
		at := path.Join(dir, f.Name)
		data, ok := in.control(at, f.Kind)
		if !ok || f != ports.ImportedFile {
			continue
		}
		if _, err := imported.Read(data); err != nil {
			in.find(manifest.ControlDamaged, at, "%s", fault.Of(err).Message) // no command shows such a session
		}
	}
}

// missingControls reports control files that the store must have had, since it has sessions. A lost
// keyring invalidates the issued tokens; a store without store.json is treated as another
// program's, and nothing is written to it.
//
// Without sessions nothing is reported: a new store has no keyring before its first token.
func (in *inspection) missingControls() {
	if in.sessionsWithLog == 0 {
		return
	}
	if in.foreign {
		if in.waybillOnly {
			in.find(manifest.ControlMissing, layout.StoreFile,
				"it is missing and existed before: without it the store is treated as another program's, and "+
					"nothing is written to it")
		}
		return
	}
	if _, exists, err := in.s.d.Lookup(layout.KeyringFile); err == nil && !exists {
		in.find(manifest.ControlMissing, layout.KeyringFile,
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
	in := &inspection{s: n, ctx: ctx, foreign: st.Foreign}
	inside, err := in.list(layout.SessionDir(session), layout.SessionNames)
	if err == nil {
		err = in.session(layout.SessionDir(session), inside)
	}
	return in.found, disk.ReadFault(err)
}

// suspect reports the suspect mark, and distinguishes a failed sync from an import that did not
// finish.
func (in *inspection) suspect(dir string, inside []osfs.Entry) {
	for _, f := range inside {
		if f.Name != layout.SuspectFile {
			continue
		}
		why := "a sync failed here; the next writer makes a fresh copy of what is valid"
		if marked, err := in.s.d.HasArrivalMark(dir); err == nil && marked {
			why = "the session was imported and its import did not finish; the next writer finishes it"
		}
		in.find(manifest.SuspectMarker, path.Join(dir, f.Name), "%s", why)
	}
}

// tombstone checks an entry of the artifact directory that is named like a tombstone. It returns
// false for any other entry.
func (in *inspection) tombstone(at string, e osfs.Entry) bool {
	name, ok := strings.CutSuffix(e.Name, layout.ErasedSuffix)
	if !ok {
		return false
	}
	ref, err := canon.ParseFileName(name)
	if err != nil || manifest.ObjectName(manifest.Artifact, ref) != name {
		return false // reported as an unknown file
	}
	data, ok := in.control(at, layout.ErasedKind)
	if sum, _ := data.Get("sha256"); ok && sum.Text() != ref.String() {
		in.find(manifest.ControlDamaged, at, "it records another artifact than its name")
	}
	return true
}

// isLog reports a directory that contains a log of a name that this version does not know: it is
// kept and verified like any other (docs/design.md#side-logs).
func (in *inspection) isLog(at string, e osfs.Entry) bool {
	if e.Kind != osfs.Directory || !bundle.ValidLogName(e.Name) {
		return false
	}
	_, exists, err := in.s.d.Lookup(path.Join(at, manifest.FileName))
	return err == nil && exists
}

// sideLog checks a directory if it contains a log.
func (in *inspection) sideLog(dir string) error {
	if _, exists, err := in.s.d.Lookup(path.Join(dir, manifest.FileName)); err != nil || !exists {
		return nil // verification reports a manifest that cannot be read
	}
	inside, err := in.list(dir, layout.SideLogNames)
	if err != nil {
		return in.reportUnreadable(manifest.ManifestDamaged, dir, err)
	}
	in.suspect(dir, inside)
	return in.segments(path.Join(dir, manifest.SegmentDir))
}

// trash checks the trash and its control files. The sessions in it are verified by their readers.
func (in *inspection) trash() error {
	entries, err := in.list(layout.TrashDir, nil)
	if err != nil {
		return in.reportUnreadable(manifest.UnknownFile, layout.TrashDir, err)
	}
	for _, e := range entries {
		at := path.Join(layout.TrashDir, e.Name)
		if _, _, ok := layout.ParseTrashName(e.Name); !ok || e.Kind != osfs.Directory {
			in.find(manifest.UnknownFile, at, "this is not the name of a session in the trash")
			continue
		}
		in.control(path.Join(at, ports.TrashFile.Name), ports.TrashFile.Kind)
	}
	return nil
}
