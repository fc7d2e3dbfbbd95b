package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.SessionControls = (*Store)(nil)

// sessionControls lists the control files that a session's directory may contain. Names are joined
// to the session's path, so only these are accepted.
var sessionControls = []ports.ControlFile{ports.ImportedFile, ports.KeepFile}

// sessionDir is the directory of a session, relative to the store.
func sessionDir(session id.Session) string { return path.Join("sessions", session.String()) }

// sessionControlName is the path of a control file of a session. An unknown name or kind is
// INTERNAL.
func sessionControlName(session id.Session, f ports.ControlFile) (string, error) {
	if !slices.Contains(sessionControls, f) {
		return "", fault.New(fault.Internal, "%q of kind %q is not a control file of a session", f.Name, f.Kind)
	}
	return path.Join(sessionDir(session), f.Name), nil
}

// SessionControl implements ports.SessionControls. A missing file is the zero Control.
func (s *Store) SessionControl(ctx context.Context, session id.Session, f ports.ControlFile) (ports.Control, error) {
	name, err := sessionControlName(session, f)
	if err == nil {
		err = readFault(ctx.Err())
	}
	if err != nil {
		return ports.Control{}, err
	}
	doc, _, err := s.readControl(name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// UpdateSessionControl implements ports.SessionControls. The error of change is returned unchanged,
// and then nothing was written. A missing session is SESSION_NOT_FOUND.
func (s *Store) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	var refusal error // the error of change, which writeFault must not map
	err := s.changeSessionControl(ctx, session, f, func(name string) error {
		if _, exists, err := s.stat(sessionDir(session)); err != nil || !exists {
			if err == nil {
				err = fault.New(fault.SessionNotFound, "the store has no session %s", session)
			}
			return err
		}
		old, _, err := s.readControl(name, f.Kind)
		if err != nil {
			return err
		}
		next, err := change(ports.Control{V: old.V, Data: old.Data})
		if err != nil {
			refusal = err
			return nil
		}
		if err := s.finishArrivalLocked(sessionDir(session)); err != nil {
			return err
		}
		return s.putControl(name, controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}, s.fs.Replace)
	})
	if refusal != nil {
		return refusal
	}
	return err
}

// DropSessionControl implements ports.SessionControls. A missing file is not an error.
func (s *Store) DropSessionControl(ctx context.Context, session id.Session, f ports.ControlFile) error {
	return s.changeSessionControl(ctx, session, f, func(name string) error {
		b, err := s.readFile(name, limits.ControlFileBytesMax)
		if err == nil {
			err = s.fs.Remove(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			// The removal may exist in memory only, if another process failed to sync the
			// directory.
			if _, exists, err := s.stat(sessionDir(session)); err != nil || !exists {
				return err
			}
			return s.fs.SyncDir(sessionDir(session), osfs.Durable)
		}
		if err != nil {
			return err
		}
		if err = s.fs.SyncDir(path.Dir(name), osfs.Durable); err != nil {
			s.rewriteBytes(name, b) // the caller gets the error, and the file still exists
		}
		return err
	})
}

// changeSessionControl runs change under the exclusive use lock, as UpdateControl does: no other
// change and no cleanup runs at the same time. change receives the path of the file.
func (s *Store) changeSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(name string) error) error {
	name, err := sessionControlName(session, f)
	if err != nil {
		return err
	}
	if _, err := s.toWrite(); err != nil {
		return err
	}
	held, err := s.lockUseExclusive(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	return writeFault(change(name))
}
