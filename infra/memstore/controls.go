package memstore

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// Control files of a session are kept beside its log: neither its lock nor its health matters.
var (
	_ ports.Controls        = (*Store)(nil)
	_ ports.SessionControls = (*Store)(nil)
)

// Control implements ports.Controls.
func (s *Store) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	if err := s.reach(ctx); err != nil {
		return ports.Control{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.control(ctx, f.Name)
}

// control returns a control file by its name in the disk; the caller holds mu. One that was damaged is STORE_CORRUPT.
func (d *Disk) control(ctx context.Context, name string) (ports.Control, error) {
	if err := ctx.Err(); err != nil {
		return ports.Control{}, fault.Wrap(err, fault.Interrupted, "using the store was interrupted")
	}
	if d.broken[name] {
		return ports.Control{}, fault.New(fault.StoreCorrupt, "%s cannot be read", name)
	}
	return d.controls[name], nil
}

// UpdateControl implements ports.Controls.
func (s *Store) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	if _, err := s.StoreID(ctx, ports.MayCreate); err != nil {
		return err
	}
	return s.update(ctx, f.Name, func() error { return nil }, change)
}

// update replaces a control file, unless allowed returns an error. No other update happens in between; change may read
// the store, so it does not run under mu.
func (s *Store) update(ctx context.Context, name string, allowed func() error,
	change func(ports.Control) (ports.Control, error)) error {
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return err
	}
	defer release()
	s.disk.mu.Lock()
	old, err := s.disk.control(ctx, name)
	if err == nil {
		err = allowed()
	}
	s.disk.mu.Unlock()
	if err != nil {
		return err
	}
	next, err := change(old)
	if err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	s.disk.controls[name] = next
	s.disk.announce(name)
	return nil
}

// SessionControl implements ports.SessionControls. A file that does not exist is the zero Control.
func (s *Store) SessionControl(ctx context.Context, session id.Session, f ports.ControlFile) (ports.Control, error) {
	name, err := controlName(ctx, s, session, f)
	if err != nil {
		return ports.Control{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.control(ctx, name)
}

// UpdateSessionControl implements ports.SessionControls. change is called once; an error of it is
// returned as it is and leaves the file unchanged. A session that does not exist is
// SESSION_NOT_FOUND.
func (s *Store) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	name, err := controlName(ctx, s, session, f)
	if err != nil {
		return err
	}
	return s.update(ctx, name, func() error {
		if _, exists := s.disk.logs[sessionRoot(session)]; !exists {
			return fault.New(fault.SessionNotFound, "session %s does not exist", session)
		}
		return nil
	}, change)
}

// DropSessionControl implements ports.SessionControls. A file or a session that does not exist is
// no error.
func (s *Store) DropSessionControl(ctx context.Context, session id.Session, f ports.ControlFile) error {
	name, err := controlName(ctx, s, session, f)
	if err != nil {
		return err
	}
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return err
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	delete(s.disk.controls, name)
	delete(s.disk.broken, name)
	s.disk.announce(name)
	return nil
}

// sessionRoot returns the root of a session's own log.
func sessionRoot(session id.Session) string { return "sessions/" + session.String() }

// controlName returns the path of a session's control file, or INTERNAL for any file that is not
// one. It begins a call of a port.
func controlName(ctx context.Context, s *Store, session id.Session, f ports.ControlFile) (string, error) {
	if !slices.Contains([]ports.ControlFile{ports.ImportedFile, ports.KeepFile}, f) {
		return "", fault.New(fault.Internal, "%q of kind %q is not a control file of a session", f.Name, f.Kind)
	}
	return sessionRoot(session) + "/" + f.Name, s.reach(ctx)
}
