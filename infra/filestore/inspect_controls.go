package filestore

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
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// This file checks control files of sessions, tombstones, side logs and the trash.

// sideControlVersion is the format of control files outside the store's top directory.
const sideControlVersion = 1

// control reads a control file and reports it when it is damaged or has an unknown format. ok is
// true for a file that can be used.
func (in *inspection) control(name, kind string) (data canon.Value, ok bool) {
	doc, ok, err := in.s.readControl(name, kind)
	switch {
	case err != nil:
		in.find(manifest.ControlDamaged, name, "%s", fault.Of(err).Message)
		return doc.Data, false
	case ok && doc.V != sideControlVersion:
		in.find(manifest.ControlDamaged, name, "it is of format %d; this binary knows format %d", doc.V,
			sideControlVersion)
		return doc.Data, false
	}
	return doc.Data, ok
}

// sessionControls checks the control files in a session's directory.
func (in *inspection) sessionControls(dir string) {
	for _, f := range sessionControls {
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
			in.find(manifest.ControlMissing, storeFile,
				"it is missing and existed before: without it the store is treated as another program's, and "+
					"nothing is written to it")
		}
		return
	}
	if _, exists, err := in.s.stat(keyringFile); err == nil && !exists {
		in.find(manifest.ControlMissing, keyringFile,
			"it is missing although sessions exist: tokens that were issued before are invalid")
	}
}

// InspectSession reports findings about one session's directory outside its logs: control files,
// permissions and unknown files.
func (s *Store) InspectSession(ctx context.Context, session id.Session) ([]manifest.Finding, error) {
	st, err := s.state()
	if err != nil || !st.exists {
		return nil, err
	}
	in := &inspection{s: s, ctx: ctx, foreign: st.foreign}
	inside, err := in.list(sessionDir(session), sessionNames)
	if err == nil {
		err = in.session(sessionDir(session), inside)
	}
	return in.found, readFault(err)
}

// suspect reports the suspect mark, and distinguishes a failed sync from an import that did not
// finish.
func (in *inspection) suspect(dir string, inside []osfs.Entry) {
	for _, f := range inside {
		if f.Name != suspectFile {
			continue
		}
		why := "a sync failed here; the next writer makes a fresh copy of what is valid"
		if marked, err := in.s.hasArrivalMark(dir); err == nil && marked {
			why = "the session was imported and its import did not finish; the next writer finishes it"
		}
		in.find(manifest.SuspectMarker, path.Join(dir, f.Name), "%s", why)
	}
}

// tombstone checks an entry of the artifact directory that is named like a tombstone. It returns
// false for any other entry.
func (in *inspection) tombstone(at string, e osfs.Entry) bool {
	name, ok := strings.CutSuffix(e.Name, erasedSuffix)
	if !ok {
		return false
	}
	ref, err := canon.ParseFileName(name)
	if err != nil || manifest.ObjectName(manifest.Artifact, ref) != name {
		return false // reported as an unknown file
	}
	data, ok := in.control(at, erasedKind)
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
	_, exists, err := in.s.stat(path.Join(at, manifest.FileName))
	return err == nil && exists
}

// sideLogNames lists the names in a side log's directory.
var sideLogNames = []string{manifest.FileName, manifest.SegmentDir, ".lock", suspectFile, "cache"}

// sideLog checks a directory if it contains a log.
func (in *inspection) sideLog(dir string) error {
	if _, exists, err := in.s.stat(path.Join(dir, manifest.FileName)); err != nil || !exists {
		return nil // verification reports a manifest that cannot be read
	}
	inside, err := in.list(dir, sideLogNames)
	if err != nil {
		return in.reportUnreadable(manifest.ManifestDamaged, dir, err)
	}
	in.suspect(dir, inside)
	return in.segments(path.Join(dir, manifest.SegmentDir))
}

// trash checks the trash and its control files. The sessions in it are verified by their readers.
func (in *inspection) trash() error {
	entries, err := in.list(trashDir, nil)
	if err != nil {
		return in.reportUnreadable(manifest.UnknownFile, trashDir, err)
	}
	for _, e := range entries {
		at := path.Join(trashDir, e.Name)
		if _, _, ok := parseTrashName(e.Name); !ok || e.Kind != osfs.Directory {
			in.find(manifest.UnknownFile, at, "this is not the name of a session in the trash")
			continue
		}
		in.control(path.Join(at, ports.TrashFile.Name), ports.TrashFile.Kind)
	}
	return nil
}
