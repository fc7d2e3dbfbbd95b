package pgstore

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// controls are the control files of a store and its sessions.
type controls struct{ db *db.DB }

// control reads a control file at a place.
func (s *controls) control(ctx context.Context, place string, f ports.ControlFile) (ports.Control, error) {
	var content []byte
	if err := s.db.Run(ctx, rows.ReadControl(place, &content)); err != nil {
		return ports.Control{}, err
	}
	return rows.DecodeControl(f, content)
}

// Control implements ports.Controls.
func (s *controls) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	return s.control(ctx, f.Name, f)
}

// UpdateControl implements ports.Controls.
func (s *controls) UpdateControl(ctx context.Context, f ports.ControlFile, change func(ports.Control) (ports.Control, error)) error {
	return s.update(ctx, f.Name, f, nil, change)
}

// update replaces a control file, unless allowed returns an error. Updates of one file are made one after the other.
func (s *controls) update(ctx context.Context, place string, f ports.ControlFile, allowed func(*db.Conn) error,
	change func(ports.Control) (ports.Control, error)) error {
	locks := []db.Statement{db.LockStatement("control/"+place, false), db.LockStatement(db.UseLock, true)}
	return s.db.Locked(ctx, locks, func(c *db.Conn) ([]db.Change, error) {
		var content []byte
		if err := c.Run(ctx, rows.ReadControl(place, &content)); err != nil {
			return nil, err
		}
		old, err := rows.DecodeControl(f, content)
		if err == nil && allowed != nil {
			err = allowed(c)
		}
		if err != nil {
			return nil, err
		}
		next, err := change(old)
		if err != nil {
			return nil, err
		}
		content, err = rows.EncodeControl(f, next)
		if err != nil {
			return nil, fault.Wrap(err, fault.StoreLimit, "%s: %v", f.Name, err)
		}
		return append(created(s.db), rows.WriteControl(place, content)), nil
	}, place)
}

// controlPlace returns the place of a control file of a session, or INTERNAL for any file that is not one.
func controlPlace(session id.Session, f ports.ControlFile) (string, error) {
	if !slices.Contains([]ports.ControlFile{ports.ImportedFile, ports.KeepFile}, f) {
		return "", fault.New(fault.Internal, "%q of kind %q is not a control file of a session", f.Name, f.Kind)
	}
	return manifest.SessionEvents(session).Root + "/" + f.Name, nil
}

// SessionControl implements ports.SessionControls.
func (s *controls) SessionControl(ctx context.Context, session id.Session, f ports.ControlFile) (ports.Control, error) {
	place, err := controlPlace(session, f)
	if err != nil {
		return ports.Control{}, err
	}
	return s.control(ctx, place, f)
}

// UpdateSessionControl implements ports.SessionControls.
func (s *controls) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	place, err := controlPlace(session, f)
	if err != nil {
		return err
	}
	return s.update(ctx, place, f, func(c *db.Conn) error {
		found := false
		err := c.Run(ctx, db.Query("select true from @.logs where root = $1", manifest.SessionEvents(session).Root).
			Into(func(db.Row) error { found = true; return nil }))
		if err == nil && !found {
			err = fault.New(fault.SessionNotFound, "session %s does not exist", session)
		}
		return err
	}, change)
}

// DropSessionControl implements ports.SessionControls.
func (s *controls) DropSessionControl(ctx context.Context, session id.Session, f ports.ControlFile) error {
	place, err := controlPlace(session, f)
	if err != nil {
		return err
	}
	return s.db.Locked(ctx, []db.Statement{db.LockStatement("control/"+place, false), db.LockStatement(db.UseLock, true)}, func(*db.Conn) ([]db.Change, error) {
		return []db.Change{{Statement: db.Query("delete from @.controls where place = $1", place)}}, nil
	}, place)
}
