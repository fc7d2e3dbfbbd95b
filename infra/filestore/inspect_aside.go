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

// What lies beside the logs and objects of a store: control files of sessions,
// tombstones, side logs, and the trash.

// sideControlVersion is the format of control files outside the store's own folder.
const sideControlVersion = 1

// readable reports a control file that is there and damaged, or of a format that this
// binary does not know; ok is one that can be used.
func (in *inspection) readable(name, kind string) (data canon.Value, ok bool) {
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

func (in *inspection) sessionControls(dir string) {
	for _, f := range sessionControls {
		at := path.Join(dir, f.Name)
		data, ok := in.readable(at, f.Kind)
		if !ok || f != ports.ImportedFile {
			continue
		}
		if _, err := imported.Read(data); err != nil {
			in.find(manifest.ControlDamaged, at, "%s", fault.Of(err).Message) // nothing in that session is shown
		}
	}
}

// gone tells of control files of the store that were there: it does not come to hold
// sessions without them. What is lost with the keyring are tokens. A store without
// store.json is taken for another program's, and nothing is written to it.
func (in *inspection) gone() {
	if in.held == 0 {
		return
	}
	if in.foreign {
		if in.ours {
			in.find(manifest.ControlMissing, storeFile,
				"it is gone, and was here: without it the store is taken for another program's, and nothing is "+
					"written to it")
		}
		return
	}
	if _, there, err := in.s.stat(keyringFile); err == nil && !there {
		in.find(manifest.ControlMissing, keyringFile,
			"it is gone, and sessions are here: tokens that were handed out before are worthless")
	}
}

// InspectSession reports what is wrong or odd about one session's folder outside its
// logs: control files, permissions, files that nobody put there.
func (s *Store) InspectSession(ctx context.Context, session id.Session) ([]manifest.Finding, error) {
	st, err := s.standing()
	if err != nil || !st.there {
		return nil, err
	}
	in := &inspection{s: s, ctx: ctx, foreign: st.foreign}
	inside, err := in.list(sessionDir(session), sessionHolds)
	if err == nil {
		err = in.session(sessionDir(session), inside)
	}
	return in.found, readFault(err)
}

// suspect tells a failed sync from an arrival that never came to say that it stays.
func (in *inspection) suspect(dir string, inside []osfs.Entry) {
	for _, f := range inside {
		if f.Name != suspectFile {
			continue
		}
		why := "a sync failed here; the next writer makes a fresh copy of what is valid"
		if marked, err := in.s.arriving(dir); err == nil && marked {
			why = "the session was brought here and its arrival did not end; the next writer settles it"
		}
		in.find(manifest.SuspectMarker, path.Join(dir, f.Name), "%s", why)
	}
}

// tombstone looks at an entry among the artifacts that is called like a tombstone.
func (in *inspection) tombstone(at string, e osfs.Entry) bool {
	name, ok := strings.CutSuffix(e.Name, erasedSuffix)
	if !ok {
		return false
	}
	ref, err := canon.ParseFileName(name)
	if err != nil || manifest.ObjectName(manifest.Artifact, ref) != name {
		return false // reported as what it is: no artifact
	}
	data, ok := in.readable(at, erasedKind)
	if sum, _ := data.Get("sha256"); ok && sum.Text() != ref.String() {
		in.find(manifest.ControlDamaged, at, "it tells of another artifact than its name")
	}
	return true
}

// isLog reports a folder that holds a log of a name which this version does not know:
// it is kept and verified like any other (R10).
func (in *inspection) isLog(at string, e osfs.Entry) bool {
	if e.Kind != osfs.Directory || !bundle.LogName(e.Name) {
		return false
	}
	_, there, err := in.s.stat(path.Join(at, manifest.FileName))
	return err == nil && there
}

// sideHolds lists what a side log's folder holds.
var sideHolds = []string{manifest.FileName, manifest.SegmentDir, ".lock", suspectFile, "cache"}

// side looks at a folder if it holds a log.
func (in *inspection) side(dir string) error {
	if _, there, err := in.s.stat(path.Join(dir, manifest.FileName)); err != nil || !there {
		return nil // what cannot be looked at was reported by its parent's listing, or is read by verification
	}
	inside, err := in.list(dir, sideHolds)
	if err != nil {
		return in.unread(manifest.ManifestDamaged, dir, err)
	}
	in.suspect(dir, inside)
	return in.segments(path.Join(dir, manifest.SegmentDir))
}

// trash looks at what deleted sessions lie in. What is in a session is looked at where
// it is read.
func (in *inspection) trash() error {
	entries, err := in.list(trashDir, nil)
	if err != nil {
		return in.unread(manifest.UnknownFile, trashDir, err)
	}
	for _, e := range entries {
		at := path.Join(trashDir, e.Name)
		if _, _, ok := parseTrashName(e.Name); !ok || e.Kind != osfs.Directory {
			in.find(manifest.UnknownFile, at, "no session in the trash is called so")
			continue
		}
		in.readable(path.Join(at, ports.TrashFile.Name), ports.TrashFile.Kind)
	}
	return nil
}
