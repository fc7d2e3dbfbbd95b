// Package memstore is an in-memory store, for tests of workflows and for the tests of all code above a
// store. It implements the same ports as package filestore, with the same bytes of manifests, segments and objects and with
// the same verdicts of package manifest, and passes the same suite (ports/porttest/suite).
//
// It does not write files: nothing survives the process, so it cannot show what a crash leaves. Where a file store has
// directories it has names only, which shows that callers do not depend on files. Its performers hold leases by a clock
// of the store, as those of a database do (leases.go), and a test can stop a handle or cut it off
// (process.go). Entry points: NewDisk makes an absent store, Disk.Open a handle on it.
package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/ports"
)

// Disk is the data of one store. Several handles share it, as processes share a directory.
type Disk struct {
	mu      sync.Mutex // guards all fields below; no callback runs under it
	seed    id.Seed
	id      id.Store        // zero: the store does not exist yet
	keys    *token.Keys     // nil: no keyring exists yet
	logs    map[string]*log // by root, such as "sessions/sess_x" or "audit"
	objects map[object][]byte
	heads   map[string][]byte // by headName

	controls map[string]ports.Control // of the store by name, of sessions by root and name
	broken   map[string]bool          // what Damage made unreadable, by the same names

	tombstones map[canon.Digest]canon.Value // of erased artifacts
	quarantine map[string][]byte            // by place

	users     int  // commits and imports under way: nothing is removed or moved
	exclusive bool // something is being removed, moved or replaced: no commit begins

	clock  lease.Clock         // the clock of the store, which decides about leases
	leases map[string]*granted // by session

	watchers map[*watcher]bool
	briefs   map[id.Session]brief
}

// object names a stored object.
type object struct {
	kind manifest.ObjectKind
	ref  canon.Digest
}

// log is one log: the session's own, a side log or a log of the store. A log that was locked and
// never written to exists with an empty manifest.
type log struct {
	manifest []byte            // all groups, as in manifest.jsonl
	segments map[string][]byte // by file name
	holder   *Store            // the handle that holds the exclusive lock
	readers  int               // calls of WithoutChanges, which exclude writers
}

// Store is one handle on a Disk, as a process would have it. It is safe for use by several
// goroutines.
type Store struct {
	disk *Disk
	wait time.Duration // how long Lock, Confirm and Commit wait for a lock
	*process
	keeper
}

// A Store implements the ports that the engine requires; further ones are asserted beside their
// methods.
var (
	_ ports.Logs     = (*Store)(nil)
	_ ports.Locks    = (*Store)(nil)
	_ ports.Objects  = (*Store)(nil)
	_ ports.Sessions = (*Store)(nil)
	_ ports.Identity = (*Store)(nil)
	_ ports.Keyring  = (*Store)(nil)

	_ ports.HeadCache = (*Store)(nil)
)

// NewDisk returns a disk without a store. The first call with ports.MayCreate makes the store; its
// id and its keys are derived from the seed, so that they are the same in every run.
func NewDisk(seed id.Seed) *Disk {
	return &Disk{
		seed: seed, logs: map[string]*log{}, objects: map[object][]byte{}, heads: map[string][]byte{},
		controls: map[string]ports.Control{}, tombstones: map[canon.Digest]canon.Value{},
		broken: map[string]bool{}, quarantine: map[string][]byte{},
		clock: lease.System, leases: map[string]*granted{},
	}
}

// Open returns a new handle; lockWait is how long it waits for a lock that another handle holds.
// Opening makes no store. A handle has no Close.
func (d *Disk) Open(lockWait time.Duration) *Store {
	return d.OpenAs(ports.Holder{PID: os.Getpid()}, lease.System, lockWait)
}

// OpenAs is Open for a handle of another process, with the clock of its machine.
func (d *Disk) OpenAs(who ports.Holder, clock lease.Clock, lockWait time.Duration) *Store {
	s := &Store{disk: d, wait: lockWait, process: &process{who: who, clock: clock}}
	s.keeper = keeper{s}
	return s
}

// log returns the log with a root, and adds it where it does not exist; the caller holds mu.
func (d *Disk) log(root string) *log {
	l, ok := d.logs[root]
	if !ok {
		l = &log{segments: map[string][]byte{}}
		d.logs[root] = l
	}
	return l
}

// Read implements ports.Logs. It reads a snapshot of the log, which no writer changes, so it never
// sees the tail of an append that is in progress and never reads twice.
func (s *Store) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	if err := s.reach(ctx); err != nil {
		return manifest.Verdict{}, err
	}
	return manifest.Read(s.disk.input(r), visit(r.From).Visit)
}

// input returns the current content of a log for manifest.Read. A log that does not exist is empty.
// Appending to the manifest and adding segments leaves the returned slices as they are.
func (d *Disk) input(r ports.ReadRequest) manifest.Input {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A copy of the slice and of the map: writers append to the one and add to the other.
	var l log
	if kept, ok := d.logs[r.Log.Root]; ok {
		l = *kept
	}
	names := make([]string, 0, len(l.segments))
	files := make(map[string][]byte, len(l.segments))
	for name, b := range l.segments {
		names, files[name] = append(names, name), b
	}
	// manifest.Read expects the manifest from the last group of From on: it compares that group's
	// digest before it accepts what follows.
	start := min(r.From.GroupAt, int64(len(l.manifest)))
	return manifest.Input{
		Log: r.Log, From: r.From, Manifest: io.MultiReader(bytes.NewReader(l.manifest[start:])),
		Names: func() ([]string, error) { return names, nil },
		Open:  func(name string) ([]byte, bool, error) { b, ok := files[name]; return b, ok, nil },
	}
}

// Confirm implements ports.Logs: it checks that head is on the chain. As a file store does, it
// waits while a writer holds the log, and returns SESSION_LOCKED or STORE_LOCKED when the wait is
// over.
func (s *Store) Confirm(ctx context.Context, l manifest.Log, head manifest.Head) error {
	if err := s.reach(ctx); err != nil || head.IsZero() {
		return err
	}
	if err := s.await(ctx, l, func(kept *log) bool { return kept.holder == nil }); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	kept := s.disk.logs[l.Root]
	// The digest of the head's last group covers, through the chain, every group before it.
	if kept == nil || int64(len(kept.manifest)) < head.Bytes ||
		canon.Sum(kept.manifest[head.GroupAt:head.Bytes]) != head.Digest {
		return manifest.ErrNotOnChain
	}
	return nil
}

// Append implements ports.Logs. It returns ports.ErrWitness for a witness that is not live, of
// another log or of another handle; INTERNAL for a plan that no writer may commit; STORE_CONFLICT
// when at is not the end of the log. After any error the log is unchanged.
func (s *Store) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	leave, err := w.Enter(p.Log)
	if err != nil {
		return at, err
	}
	defer leave() // until then the gate cannot end, so the log stays locked
	if err := s.begin(ctx, true); err != nil {
		return at, err
	}
	// A witness proves that some handle holds the lock; the lock must be this handle's.
	if !holds(s, p.Log) {
		return at, ports.ErrWitness
	}
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err == nil && seg.First != at.Next {
		err = fmt.Errorf("the plan starts at event %d, the log at %d", seg.First, at.Next)
	}
	if err != nil {
		return at, fault.Wrap(err, fault.Internal, "a plan that must not be written: %v", err)
	}
	// at must be the end of the log: a reading from it finds nothing, and ends where it began.
	verdict, err := manifest.Read(s.disk.input(ports.ReadRequest{Log: p.Log, From: at}),
		func(manifest.Segment, manifest.Head) error { return nil })
	if err != nil && !errors.Is(err, manifest.ErrNotOnChain) {
		return at, err
	}
	if err != nil || verdict.Head != at {
		return at, fault.New(fault.StoreConflict, "%s moved between reading and writing", p.Log.Owner)
	}
	// The group is computed from the same head that was checked above: log locks are exclusive, so
	// no other handle appends in between. One lock for objects, segment and group: no reader sees a
	// part of the commit.
	group := manifest.Group(p.Log, at, seg)
	release, err := s.use(ctx, shared)
	if err != nil {
		return at, err
	}
	defer release()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if err := s.disk.checkLease(p); err != nil {
		return at, err
	}
	for _, o := range p.Objects {
		s.disk.objects[object{o.Kind, o.Ref()}] = bytes.Clone(o.Bytes)
	}
	// The bytes of the segment are not shared with the plan: EncodeSegment made them.
	l := s.disk.log(p.Log.Root)
	l.segments[seg.Name()] = seg.Bytes
	l.manifest = append(l.manifest, group...)
	s.disk.announce(p.Log.Root)
	head := at.After(group, seg)
	if session, err := id.ParseSession(p.Log.Owner); err == nil && p.Brief != nil && p.Log == manifest.SessionEvents(session) {
		s.disk.keepBrief(session, brief{*p.Brief, head})
	}
	return head, s.committed()
}

// holds reports whether a handle holds the lock of a log.
func holds(s *Store, l manifest.Log) bool {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.log(l.Root).holder == s
}

// Object implements ports.Objects. An erased artifact or installed artifact is ARTIFACT_ERASED with
// the data of its tombstone; an absent object is STORE_CORRUPT with the detail "missing".
func (s *Store) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if data, erased := s.disk.erased(ref); erased && kind.IsErasable() {
		return nil, ports.Erased(ref, data)
	}
	// The digest is recomputed on every read, as the port requires.
	b, ok := s.disk.objects[object{kind, ref}]
	switch {
	case !ok:
		return nil, fault.New(fault.StoreCorrupt, "the %s %s is missing; the log refers to it", kind, ref).
			With("missing", true)
	case !ref.IsOf(b):
		return nil, fault.New(fault.StoreCorrupt, "the %s %s does not have the digest of its name", kind, ref)
	}
	return bytes.Clone(b), nil
}

// Sessions implements ports.Sessions: sorted by id, without the logs of the store. Sessions that
// were locked and never committed to are among them; their logs read as unborn.
func (s *Store) Sessions(ctx context.Context) ([]id.Session, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var out []id.Session
	for root := range s.disk.logs {
		// Roots of side logs have a further element, which no session id contains.
		name, ok := strings.CutPrefix(root, "sessions/")
		if parsed, err := id.ParseSession(name); ok && err == nil {
			out = append(out, parsed)
		}
	}
	sorting.By(out, func(a, b id.Session) int { return a.Compare(b) })
	return out, nil
}

// Tenant implements ports.Tenancy.
func (s *Store) Tenant(ctx context.Context) (string, error) { return "local", s.reach(ctx) }

// StoreID implements ports.Identity. A store that does not exist has the zero id; with
// ports.MayCreate it is created.
func (s *Store) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	if err := s.reach(ctx); err != nil {
		return id.Store{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if create == ports.MayCreate {
		s.disk.create()
	}
	return s.disk.id, nil
}

// create makes the store where it does not exist; the caller holds mu.
func (d *Disk) create() {
	if d.id.IsZero() {
		d.id = id.NewStore(d.seed)
	}
}

// Keys implements ports.Keyring. Keys of a disk are shared by its handles. The first key is the
// seed of the disk. Without ports.MayCreate an absent keyring is KEYRING_INVALID with the detail
// "missing".
func (s *Store) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	if err := s.reach(ctx); err != nil {
		return token.Keys{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.broken[keyringName] {
		return token.Keys{}, fault.New(fault.KeyringInvalid, "the keyring cannot be read")
	}
	if s.disk.keys == nil {
		if create == ports.ReadOnly {
			return token.Keys{}, fault.New(fault.KeyringInvalid, "the keyring does not exist").With("missing", true)
		}
		var k token.Key
		copy(k[:], s.disk.seed[:])
		s.disk.keys = &token.Keys{Current: k}
		s.disk.create()
	}
	return *s.disk.keys, nil
}

// Lock implements ports.Locks. Every log has a lock of its own, so that a session's side logs can
// be written while its own log is locked. The returned function may be called more than once; only
// the first call releases the lock.
func (s *Store) Lock(ctx context.Context, l manifest.Log) (func() error, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	err := s.await(ctx, l, func(kept *log) bool {
		if kept.inUse() {
			return false
		}
		kept.holder = s
		s.disk.create()
		return true
	})
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		s.disk.log(l.Root).holder = nil
		return nil
	}), nil
}

// await calls take, under the disk's lock, until it returns true or the handle's wait is over. It then returns
// SESSION_LOCKED, or STORE_LOCKED for a log of the store, with the process that holds the lock.
func (s *Store) await(ctx context.Context, l manifest.Log, take func(*log) bool) error {
	return s.until(ctx, func() error { return s.disk.busy(l) }, func() bool { return take(s.disk.log(l.Root)) })
}

// busy is the fault about a log that is locked; the caller holds mu.
func (d *Disk) busy(l manifest.Log) error {
	code := fault.SessionLocked
	if l.Table.OwnerField == "storeId" {
		code = fault.StoreLocked
	}
	f := fault.New(code, "%s: the log is locked", l.Owner)
	if by := d.log(l.Root).holder; by != nil {
		f = fault.New(code, "%s: the lock is held by %s", l.Owner, by.who).With("holder", by.who)
	}
	return f
}

// inUse reports a log that cannot be locked.
func (l *log) inUse() bool { return l.holder != nil || l.readers > 0 }

// The values of the argument exclusive of Store.use.
const (
	shared    = false
	exclusive = true
)

// use waits until nothing is removed or moved, or, exclusively, until no commit and no import is under way either. It
// returns STORE_LOCKED when the handle's wait is over.
func (s *Store) use(ctx context.Context, exclusive bool) (release func(), err error) {
	d := s.disk
	busy := func() error { return fault.New(fault.StoreLocked, "the store is in use") }
	err = s.until(ctx, busy, func() bool {
		if d.exclusive || exclusive && d.users > 0 {
			return false
		}
		if d.exclusive = exclusive; !exclusive {
			d.users++
		}
		return true
	})
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if exclusive {
			d.exclusive = false
		} else {
			d.users--
		}
	}, err
}

// until calls take, under the disk's lock, once a millisecond until it returns true or the handle's wait is over; then
// the error is that of busy. A context that ends is INTERRUPTED.
func (s *Store) until(ctx context.Context, busy func() error, take func() bool) error {
	for deadline := time.Now().Add(s.wait); ; time.Sleep(time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return fault.Wrap(err, fault.Interrupted, "waiting for the lock was interrupted")
		}
		s.disk.mu.Lock()
		ok := take()
		var err error
		if !ok {
			err = busy()
		}
		s.disk.mu.Unlock()
		if ok {
			return nil
		}
		// The deadline is checked after the attempt, so that a wait of 0 tries once.
		if time.Now().After(deadline) {
			return err
		}
	}
}
