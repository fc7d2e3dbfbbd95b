package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Append implements ports.Logs with three barriers, of which only the last commits
// (docs/design.md#commit-protocol). First objects and the segment are written to temporary files
// and synced; then they are placed at their names and the directories are synced; then the group
// that attests them is written with one write and synced.
//
// Errors: STORE_CONFLICT when at is no longer the head, STORE_LIMIT for bytes above a bound,
// SESSION_UNHEALTHY for a damaged log, ARTIFACT_ERASED for an installed artifact that was erased,
// STORE_LOCKED during a cleanup, STORE_FULL, STORE_READ_ONLY or STORE_IO from the disk, and
// STORE_OUTCOME_UNKNOWN; ports.ErrWitness for a witness of another lock.
//
// What a crash leaves, by the step it interrupts:
//   - before the first barrier: temporary files, which gc and the next append remove;
//   - before the second: objects that no event refers to yet, which gc removes, and a segment that
//     no group commits, which the next append moves to the quarantine;
//   - before the third: the same, and possibly a partial or complete group behind the head. A
//     partial one is a tail that readers ignore; a complete one is committed, although its writer
//     returned no answer.
func (c *Committer) Append(ctx context.Context, w ports.Witness, at manifest.Head,
	p manifest.Plan) (manifest.Head, error) {
	defer ports.Enter(ctx, ports.Appending)()
	leave, err := w.Enter(p.Log)
	if err != nil {
		return at, err
	}
	// Until leave is called the gate keeps the lock, even when the caller's context ends: a commit
	// that was begun completes under the lock.
	defer leave()
	held, ok := c.heldLock(p.Log)
	if !ok { // a live witness, but of another store's lock
		return at, ports.ErrWitness
	}
	if err := ctx.Err(); err != nil {
		return at, disk.WriteFault(err)
	}
	a, err := c.newAppendOp(at, p, held)
	if err != nil {
		return at, err
	}
	defer a.end()
	// The order is the protocol, and crash tests check it: compare before anything is written, set
	// the note before anything that a crash could leave, remove leftovers before writing new files,
	// and nothing but the group between the last two syncs.
	steps := []func(context.Context) error{
		always(a.open), a.compare, always(a.announce), always(a.removeLeftovers),
		a.lockUse, a.stage, a.syncDirs, a.commit,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			a.withdrawNote()
			return at, disk.WriteFault(err)
		}
	}
	// The commit is durable: from here on no error may be returned.
	_ = held.SetNote(cleanNote(c.d, a.next.Digest))
	return a.next, nil
}

// always adapts a step that a canceled context does not stop.
func always(step func() error) func(context.Context) error {
	return func(context.Context) error { return step() }
}

// appendOp is one append in progress. It lives for one call: nothing about a log is cached between
// two calls, since another process may have written in between.
type appendOp struct {
	d    *disk.Disk
	log  manifest.Log
	held *lock.Held

	at, next manifest.Head
	group    []byte
	incoming []*pendingFile // objects, then the segment

	manifest  osfs.File
	tail      int64  // bytes behind at that a crash left
	foundNote string // the note that the last writer left
	unsynced  bool   // the manifest may contain bytes that exist in memory only
	useHeld   *lock.Held
	relied    disk.Relied // names that must be durable before the commit
}

// newAppendOp encodes the segment and the group before any file is touched, so that a plan that no
// reader would accept fails without an effect. Errors: INTERNAL for an invalid plan, STORE_LIMIT.
//
// The result has no effect until its steps run; dropping it needs no cleanup.
func (c *Committer) newAppendOp(at manifest.Head, p manifest.Plan, held *lock.Held) (*appendOp, error) {
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err == nil && seg.First != at.Next {
		err = fmt.Errorf("the plan starts at event %d, the log at %d", seg.First, at.Next)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the plan must not be written: %v", err)
	}
	if n := len(seg.Bytes); n > layout.SegmentBytesMax {
		return nil, fault.New(fault.StoreLimit, "the events of one call have %d bytes: a store accepts at most %d", n,
			layout.SegmentBytesMax)
	}
	group := manifest.Group(p.Log, at, seg)
	a := &appendOp{d: c.d, log: p.Log, held: held, at: at, next: at.After(group, seg), group: group}
	if err := a.addObjects(p.Objects); err != nil {
		return nil, err
	}
	// The segment comes last: when its name appears, the objects that its events refer to exist.
	a.incoming = append(a.incoming, &pendingFile{
		Staged: disk.Staged{Name: path.Join(layout.SegmentsDir(a.log), seg.Name())}, bytes: seg.Bytes, segment: true})
	return a, nil
}

// end closes the manifest and releases the use lock. The log's lock belongs to the caller.
func (a *appendOp) end() {
	if a.manifest != nil {
		_ = a.manifest.Close()
	}
	if a.useHeld != nil {
		_ = a.useHeld.Unlock()
	}
}

// open opens the manifest for reading and appending. The manifest of a new log is created now, so
// that its directory entry is durable before the commit.
func (a *appendOp) open() (err error) {
	a.manifest, err = a.d.Open(layout.ManifestPath(a.log), osfs.Append)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !a.at.IsZero() {
		return a.conflict() // a missing manifest must not be started again at event 12
	}
	f, err := a.d.Open(layout.ManifestPath(a.log), osfs.New)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	a.manifest, err = a.d.Open(layout.ManifestPath(a.log), osfs.Append)
	return err
}

// errHeadMoved stops compare at the first group behind at.
var errHeadMoved = errors.New("the head has moved")

// conflict is the fault for a log that changed after its head was read: STORE_CONFLICT, which
// callers answer by reading again.
func (a *appendOp) conflict() error {
	return fault.New(fault.StoreConflict, "%s changed between reading and writing", a.log.Owner)
}

// compare checks under the lock that at is still the head, with the verification that every reader
// uses (docs/design.md#commit-protocol). It also measures the uncommitted tail.
//
// The reading starts at the group of at, so its cost does not grow with the history of the log.
func (a *appendOp) compare(ctx context.Context) error {
	in := read.Input(ctx, a.d, a.log)
	in.From, in.Manifest = a.at, disk.ReaderFrom(a.manifest, a.at.GroupAt)
	verdict, err := manifest.Read(in, func(manifest.Segment, manifest.Head) error { return errHeadMoved })
	switch {
	case errors.Is(err, errHeadMoved), errors.Is(err, manifest.ErrNotOnChain):
		return a.conflict()
	case err != nil:
		return err
	case verdict.Health != manifest.Healthy:
		// It was healthy when the gate read it, so another process changed it since.
		return ports.Unhealthy(a.log, verdict)
	}
	a.tail = verdict.TailBytes
	return nil
}

// announce writes the open note into the lock file before anything else changes; see
// writernotes.go.
//
// Where the boot id is unknown the note is empty, and nothing is written.
func (a *appendOp) announce() error {
	a.foundNote = a.held.Note()
	note := OpenNote(a.d)
	if note == a.foundNote {
		// The note of the last writer is still set: that writer did not complete.
		a.unsynced = note != ""
		return nil
	}
	return a.held.SetNote(note)
}

// withdrawNote clears the note after a failed append that left the manifest unchanged: the next
// writer then does not copy the manifest and only looks for leftovers.
func (a *appendOp) withdrawNote() {
	if !a.unsynced && a.foundNote != a.held.Note() {
		_ = a.held.SetNote("")
	}
}

// lockUse takes the use lock shared, which keeps cleanups away from the objects until they are
// committed. A busy lock is STORE_LOCKED.
func (a *appendOp) lockUse(ctx context.Context) error {
	var err error
	a.useHeld, err = a.d.LockUse(ctx, lock.Shared)
	return err
}
