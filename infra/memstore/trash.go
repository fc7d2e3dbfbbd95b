package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

var _ ports.Trash = (*Store)(nil)

// A session in the trash has the root trashRoot and its name there, <session>.<ms>.
const (
	trashRoot    = "trash/"
	trashVersion = 1
)

// keeper keeps the store of a handle in order: trash, retention and repair.
type keeper struct{ s *Store }

// TrashEntries implements ports.Trash.
func (k keeper) TrashEntries(ctx context.Context) ([]ports.TrashEntry, error) {
	s := k.s
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var out []ports.TrashEntry
	for _, root := range slices.Sorted(maps.Keys(s.disk.logs)) {
		if name, ok := strings.CutPrefix(root, trashRoot); ok && !strings.Contains(name, "/") {
			e := trashEntry(name)
			e.Control, _ = s.disk.control(ctx, e.Root+"/"+ports.TrashFile.Name)
			out = append(out, e)
		}
	}
	return out, nil
}

// trashEntry is the entry with a name, without its control file. Other names have no session.
func trashEntry(name string) ports.TrashEntry {
	session, ms, _ := strings.Cut(name, ".")
	e := ports.TrashEntry{Name: name, Root: trashRoot + name}
	e.Session, _ = id.ParseSession(session)
	e.AtMs, _ = strconv.ParseInt(ms, 10, 64)
	return e
}

// Discard implements ports.Trash.
func (k keeper) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value,
	unless func() error) (ports.TrashEntry, error) {
	s := k.s
	e := trashEntry(fmt.Sprintf("%s.%d", session, atMs))
	e.Control = ports.Control{V: trashVersion, Data: data}
	release, err := s.lockSession(ctx, session)
	if err != nil {
		return e, err
	}
	defer release()
	if err := unless(); err != nil {
		return e, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	s.disk.move(sessionRoot(session), e.Root)
	s.disk.controls[e.Root+"/"+ports.TrashFile.Name] = e.Control
	return e, nil
}

// lockSession waits until no process writes to a session, and excludes writers and removals until release is called.
func (k keeper) lockSession(ctx context.Context, session id.Session) (release func(), err error) {
	s := k.s
	d, root := s.disk, sessionRoot(session)
	found := func() error {
		if _, exists := d.logs[root]; !exists {
			return fault.New(fault.SessionNotFound, "the store holds no session %s", session)
		}
		if g := d.present(session.String()); g != nil {
			return ports.BusyPerformer(session, g.holder)
		}
		return nil
	}
	var failed error
	var locked []*log
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	err = s.until(ctx, func() error { return d.busy(manifest.SessionEvents(session)) }, func() bool {
		if failed = found(); failed != nil {
			return true
		}
		for at, l := range d.logs {
			if isWithin(at, root) && l.inUse() {
				return false
			}
		}
		if d.exclusive || d.users > 0 {
			return false
		}
		d.exclusive = true
		for _, at := range within(d.logs, root) {
			d.logs[at].holder, locked = s, append(locked, d.logs[at])
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.exclusive = false
		for _, l := range locked {
			l.holder = nil
		}
	}, err
}

// isWithin reports a name that is root or below it.
func isWithin(name, root string) bool { return name == root || strings.HasPrefix(name, root+"/") }

// within returns the keys of a map that are root or below it.
func within[V any](m map[string]V, root string) (out []string) {
	for name := range m {
		if isWithin(name, root) {
			out = append(out, name)
		}
	}
	return out
}

// move moves a session from one root to another; the caller holds mu.
func (d *Disk) move(from, to string) {
	for _, name := range within(d.logs, from) {
		d.logs[to+strings.TrimPrefix(name, from)] = d.logs[name]
	}
	for _, name := range within(d.controls, from) {
		d.controls[to+strings.TrimPrefix(name, from)] = d.controls[name]
	}
	for _, name := range within(d.broken, from) {
		d.broken[to+strings.TrimPrefix(name, from)] = true
	}
	d.remove(from)
}

// remove removes a root with all that is below it; the caller holds mu.
func (d *Disk) remove(root string) {
	for _, name := range within(d.logs, root) {
		delete(d.logs, name)
	}
	for _, name := range within(d.controls, root) {
		delete(d.controls, name)
	}
	for _, name := range within(d.broken, root) {
		delete(d.broken, name)
	}
	maps.DeleteFunc(d.heads, func(name string, _ []byte) bool {
		log, _, _ := cutLast(name, "-")
		return isWithin(log, root)
	})
}

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return text, "", false
}

// Restore implements ports.Trash.
func (k keeper) Restore(ctx context.Context, name string) (id.Session, error) {
	s := k.s
	e := trashEntry(name)
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return e.Session, err
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if _, exists := s.disk.logs[e.Root]; !exists {
		return e.Session, fault.New(fault.SessionNotFound, "the trash has no session %q", name)
	}
	root := sessionRoot(e.Session)
	if _, exists := s.disk.logs[root]; exists && !s.disk.removeUnborn(root) {
		return e.Session, fault.New(fault.ValidationError, "the store holds another session under the id %s", e.Session)
	}
	delete(s.disk.controls, e.Root+"/"+ports.TrashFile.Name)
	s.disk.move(e.Root, root)
	return e.Session, nil
}

// removeUnborn removes a session without commits that no handle uses; the caller holds mu.
func (d *Disk) removeUnborn(root string) bool {
	for _, name := range within(d.logs, root) {
		if l := d.logs[name]; len(l.manifest) > 0 || len(l.segments) > 0 || l.inUse() {
			return false
		}
	}
	if session, err := id.ParseSession(strings.TrimPrefix(root, "sessions/")); err == nil &&
		d.present(session.String()) != nil {
		return false
	}
	if len(within(d.controls, root)) > 0 {
		return false
	}
	d.remove(root)
	return true
}

// Empty implements ports.Trash.
func (k keeper) Empty(ctx context.Context, name string) error {
	s := k.s
	release, err := s.use(ctx, exclusive)
	if err != nil {
		return err
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if root := trashEntry(name).Root; s.disk.logs[root] != nil {
		s.disk.remove(root)
	}
	return nil
}
