package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Append implements ports.Logs: three barriers, of which only the last commits
// (R6). First objects and segment are written beside their names and synced, then
// placed and their folders synced, then the group that attests them is written in
// one piece and synced.
func (s *Store) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	leave, err := w.Enter(p.Log)
	if err != nil {
		return at, err
	}
	// Until leave is called the gate keeps the lock, even when the caller's context
	// ends: a commit that was begun comes to its end under the lock.
	defer leave()
	held, ok := s.holding(p.Log)
	if !ok { // a live witness, but of another store's lock
		return at, ports.ErrWitness
	}
	if err := ctx.Err(); err != nil {
		return at, writeFault(err)
	}
	a, err := s.newAppending(at, p, held)
	if err != nil {
		return at, err
	}
	defer a.end()
	// The order is the protocol. A step that moved up or down would show in a crash
	// state: compare before anything is written, the announcement before anything
	// that a crash could leave over, what a crash left before anything new, and
	// nothing between the two last syncs but the group itself.
	steps := []func(context.Context) error{
		always(a.open), a.compare, always(a.announce), always(a.tidy),
		a.use, always(a.stage), always(a.settle), always(a.commit),
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			a.giveUp()
			return at, writeFault(err)
		}
	}
	// From here on nothing may turn the commit into an error.
	_ = held.SetNote(s.tidyNote(a.next.Digest))
	return a.next, nil
}

// always is a step that a cancelled context does not stop.
func always(step func() error) func(context.Context) error {
	return func(context.Context) error { return step() }
}

// appending is one append under way. It lives for one call: nothing about a log is
// remembered between two, since another process may have written meanwhile.
type appending struct {
	s    *Store
	log  manifest.Log
	held *lock.Held

	at, next manifest.Head
	group    []byte
	incoming []*incoming // objects, then the segment

	manifest osfs.File
	tail     int64  // bytes behind at that a crash left
	found    string // the last writer's note
	doubtful bool   // what the manifest holds may be in memory only
	useHeld  *lock.Held
	relied   entries // names that must be durable before the commit
}

// newAppending spells everything out before anything is touched: a plan that no
// reader would accept must fail while failing costs nothing.
func (s *Store) newAppending(at manifest.Head, p manifest.Plan, held *lock.Held) (*appending, error) {
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err == nil && seg.First != at.Next {
		err = fmt.Errorf("the plan starts at event %d, the log at %d", seg.First, at.Next)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "a plan that must not be written: %v", err)
	}
	if n := len(seg.Bytes); n > segmentBytesMax {
		return nil, fault.New(fault.StoreLimit, "the events of one call have %d bytes: a store takes at most %d", n,
			segmentBytesMax)
	}
	group := manifest.Group(p.Log, at, seg)
	a := &appending{s: s, log: p.Log, held: held, at: at, next: at.After(group, seg), group: group}
	if a.incoming, err = incomingObjects(p.Objects); err != nil {
		return nil, err
	}
	// The segment comes last: when its name appears, what its events refer to is there.
	a.incoming = append(a.incoming, &incoming{dir: a.events(), name: seg.Name(), bytes: seg.Bytes, segment: true})
	return a, nil
}

func (a *appending) events() string { return path.Join(a.log.Root, manifest.SegmentDir) }
func (a *appending) file() string   { return path.Join(a.log.Root, manifest.FileName) }

func (a *appending) end() {
	if a.manifest != nil {
		_ = a.manifest.Close()
	}
	if a.useHeld != nil {
		_ = a.useHeld.Unlock()
	}
}

// open opens the manifest to read and to append to; a new log's is made now, so
// that its entry is durable before the commit.
func (a *appending) open() (err error) {
	a.manifest, err = a.s.fs.Open(a.file(), osfs.Append)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !a.at.IsZero() {
		return a.moved() // a manifest that vanished must not be begun again at event 12
	}
	f, err := a.s.fs.Open(a.file(), osfs.New)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	a.manifest, err = a.s.fs.Open(a.file(), osfs.Append)
	return err
}

// errMoved ends the comparison at the first group behind at.
var errMoved = errors.New("the head has moved")

func (a *appending) moved() error {
	return fault.New(fault.StoreConflict, "%s moved between reading and writing", a.log.Owner)
}

// compare checks under the lock that at is the head, by the same reading that
// everybody else does (R6).
func (a *appending) compare(ctx context.Context) error {
	verdict, err := manifest.Read(manifest.Input{
		Log: a.log, From: a.at, Manifest: from(a.manifest, a.at.GroupAt),
		Names: a.s.segmentNames(a.log), Open: a.s.openSegment(ctx, a.log),
	}, func(manifest.Segment, manifest.Head) error { return errMoved })
	switch {
	case errors.Is(err, errMoved), errors.Is(err, manifest.ErrNotOnChain):
		return a.moved()
	case err != nil:
		return err
	case verdict.Health != manifest.Healthy:
		// It was healthy when the gate read it: somebody else changed it since.
		return ports.Unhealthy(a.log, verdict)
	}
	a.tail = verdict.TailBytes
	return nil
}

// announce says that a writer is at work, before anything changes; see notes.go.
func (a *appending) announce() error {
	a.found = a.held.Note()
	note := a.s.openNote()
	if note == a.found {
		// The last writer's announcement still stands: it never came to its end.
		a.doubtful = note != ""
		return nil
	}
	return a.held.SetNote(note)
}

// giveUp takes the announcement back where the manifest is what it was: the next
// writer need not copy it, only look for leftovers.
func (a *appending) giveUp() {
	if !a.doubtful && a.found != a.held.Note() {
		_ = a.held.SetNote("")
	}
}

// use keeps cleanups away from the objects until they are committed.
func (a *appending) use(ctx context.Context) error {
	held, err := a.s.locks.Acquire(ctx, useLock, lock.Shared, a.s.o.LockWait)
	if err != nil {
		return busyFault(err, fault.StoreLocked, "the store")
	}
	a.useHeld = held
	return nil
}
