// Package memstore is a store in memory: the same contract as filestore without a disk, for the
// tests of everything above a store. It keeps the same bytes and requests the same verdicts of
// package manifest. Nothing of it outlives the process.
package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Disk is what several handles on one store share, as processes share a directory.
type Disk struct {
	mu      sync.Mutex
	seed    id.Seed
	id      id.Store
	keys    *token.Keys
	logs    map[string]*log
	objects map[string][]byte
	heads   map[string][]byte

	changing sync.Mutex               // one change of a control file at a time
	controls map[string]ports.Control // of sessions

	tombstones map[canon.Digest]canon.Value
}

type log struct {
	manifest []byte
	segments map[string][]byte
	held     bool
}

// Store is one handle on a Disk; it is safe for use by many goroutines.
type Store struct {
	disk *Disk
	wait time.Duration

	mu   sync.Mutex
	mine map[string]bool // logs that this handle holds locked
}

// A Store implements every port that the engine needs.
var (
	_ ports.Logs     = (*Store)(nil)
	_ ports.Locks    = (*Store)(nil)
	_ ports.Objects  = (*Store)(nil)
	_ ports.Sessions = (*Store)(nil)
	_ ports.Identity = (*Store)(nil)
	_ ports.Keyring  = (*Store)(nil)

	_ ports.HeadCache = (*Store)(nil)
)

// NewDisk holds no store yet; the seed gives its id and keys once it is made.
func NewDisk(seed id.Seed) *Disk {
	return &Disk{
		seed: seed, logs: map[string]*log{}, objects: map[string][]byte{}, heads: map[string][]byte{},
		controls: map[string]ports.Control{}, tombstones: map[canon.Digest]canon.Value{},
	}
}

// Open is a new handle; lockWait is how long it waits for a lock.
func (d *Disk) Open(lockWait time.Duration) *Store {
	return &Store{disk: d, wait: lockWait, mine: map[string]bool{}}
}

func (d *Disk) log(root string) *log {
	l, ok := d.logs[root]
	if !ok {
		l = &log{segments: map[string][]byte{}}
		d.logs[root] = l
	}
	return l
}

// Read implements ports.Logs. It reads a copy, which no writer changes.
func (s *Store) Read(ctx context.Context, r ports.Reading, v ports.Visitor) (manifest.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return manifest.Verdict{}, err
	}
	return manifest.Read(s.disk.input(r), v.Visit)
}

func (d *Disk) input(r ports.Reading) manifest.Input {
	d.mu.Lock()
	defer d.mu.Unlock()
	var l log
	if kept, ok := d.logs[r.Log.Root]; ok {
		l = *kept
	}
	names := make([]string, 0, len(l.segments))
	files := make(map[string][]byte, len(l.segments))
	for name, b := range l.segments {
		names, files[name] = append(names, name), b
	}
	start := min(r.From.GroupAt, int64(len(l.manifest)))
	return manifest.Input{
		Log: r.Log, From: r.From, Manifest: io.MultiReader(bytes.NewReader(l.manifest[start:])),
		Names: func() ([]string, error) { return names, nil },
		Open:  func(name string) ([]byte, bool, error) { b, ok := files[name]; return b, ok, nil },
	}
}

// Confirm implements ports.Logs: it checks that head is on the chain.
func (s *Store) Confirm(ctx context.Context, l manifest.Log, head manifest.Head) error {
	if head.IsZero() {
		return nil
	}
	if err := s.await(ctx, l, func(kept *log) bool { return !kept.held }); err != nil {
		return err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	kept := s.disk.logs[l.Root]
	if kept == nil || int64(len(kept.manifest)) < head.Bytes ||
		canon.Sum(kept.manifest[head.GroupAt:head.Bytes]) != head.Digest {
		return manifest.ErrNotOnChain
	}
	return nil
}

// Append implements ports.Logs.
func (s *Store) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	leave, err := w.Enter(p.Log)
	if err != nil {
		return at, err
	}
	defer leave()
	s.mu.Lock()
	mine := s.mine[p.Log.Root]
	s.mu.Unlock()
	if !mine {
		return at, ports.ErrWitness
	}
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err == nil && seg.First != at.Next {
		err = fmt.Errorf("the plan starts at event %d, the log at %d", seg.First, at.Next)
	}
	if err != nil {
		return at, fault.Wrap(err, fault.Internal, "a plan that must not be written: %v", err)
	}
	verdict, err := manifest.Read(s.disk.input(ports.Reading{Log: p.Log, From: at}),
		func(manifest.Segment, manifest.Head) error { return nil })
	if err != nil && !errors.Is(err, manifest.ErrNotOnChain) {
		return at, err
	}
	if err != nil || verdict.Head != at {
		return at, fault.New(fault.StoreConflict, "%s moved between reading and writing", p.Log.Owner)
	}
	// Objects first, as on a disk; under one lock no reader sees a part.
	group := manifest.Group(p.Log, at, seg)
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for _, o := range p.Objects {
		s.disk.objects[manifest.ObjectDir(o.Kind)+"/"+manifest.ObjectName(o.Kind, o.Ref())] = bytes.Clone(o.Bytes)
	}
	l := s.disk.log(p.Log.Root)
	l.segments[seg.Name()] = seg.Bytes
	l.manifest = append(l.manifest, group...)
	return at.After(group, seg), nil
}

// Object implements ports.Objects.
func (s *Store) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if data, erased := s.disk.tombstones[ref]; erased && (kind == manifest.Artifact || kind == manifest.Installed) {
		return nil, fault.New(fault.ArtifactErased, "artifact %s was erased", ref).With("sha256", ref.String()).
			With("erased", data)
	}
	b, ok := s.disk.objects[manifest.ObjectDir(kind)+"/"+manifest.ObjectName(kind, ref)]
	if !ok || canon.Sum(b) != ref {
		return nil, fault.New(fault.StoreCorrupt, "the %s %s is referred to and not there", kind, ref).
			With("missing", true)
	}
	return bytes.Clone(b), nil
}

// Sessions implements ports.Sessions.
func (s *Store) Sessions(ctx context.Context) ([]id.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var out []id.Session
	for root := range s.disk.logs {
		name, ok := strings.CutPrefix(root, "sessions/")
		if parsed, err := id.ParseSession(name); ok && err == nil {
			out = append(out, parsed)
		}
	}
	slices.SortFunc(out, func(a, b id.Session) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}

// StoreID implements ports.Identity.
func (s *Store) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	if err := ctx.Err(); err != nil {
		return id.Store{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.id.IsZero() && create == ports.MayCreate {
		s.disk.id = id.NewStore(s.disk.seed)
	}
	return s.disk.id, nil
}

// Keys implements ports.Keyring.
func (s *Store) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	if err := ctx.Err(); err != nil {
		return token.Keys{}, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.keys == nil {
		if create == ports.ReadOnly {
			return token.Keys{}, fault.New(fault.KeyringInvalid, "the keyring is not there").With("missing", true)
		}
		var k token.Key
		copy(k[:], s.disk.seed[:])
		s.disk.keys = &token.Keys{Current: k}
	}
	return *s.disk.keys, nil
}

// Lock implements ports.Locks.
func (s *Store) Lock(ctx context.Context, l manifest.Log) (func() error, error) {
	err := s.await(ctx, l, func(kept *log) bool {
		if kept.held {
			return false
		}
		kept.held = true
		return true
	})
	if err != nil {
		return nil, err
	}
	s.mark(l.Root, true)
	return sync.OnceValue(func() error {
		s.mark(l.Root, false)
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		s.disk.log(l.Root).held = false
		return nil
	}), nil
}

func (s *Store) mark(root string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mine[root] = held
}

// await tries until take succeeds or the wait is over.
func (s *Store) await(ctx context.Context, l manifest.Log, take func(*log) bool) error {
	for deadline := time.Now().Add(s.wait); ; time.Sleep(time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return fault.Wrap(err, fault.Interrupted, "waiting for the lock was interrupted")
		}
		s.disk.mu.Lock()
		ok := take(s.disk.log(l.Root))
		s.disk.mu.Unlock()
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			code := fault.SessionLocked
			if l.Table.OwnerField == "storeId" {
				code = fault.StoreLocked
			}
			return fault.New(code, "%s is in use", l.Owner).With("holderPid", os.Getpid())
		}
	}
}
