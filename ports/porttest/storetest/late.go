package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Late is a store in memory whose storage makes durable what was written when it is asked to, as a disk with a cache
// and a database with asynchronous commits do. The zero value asks after every operation that acknowledges.
type Late struct {
	// Early are the names of operations that do not ask: they acknowledge what a power cut loses.
	Early map[string]bool
	// Deaf ignores the warning that what was written may not be durable.
	Deaf bool
	// Wrap is nil, or changes handles.
	Wrap func(suite.Store) suite.Store
}

// storage is the disk as handles see it, and what of it is durable.
type storage struct {
	as Late

	mu           sync.Mutex // guards the fields below
	now, durable *memstore.Disk
	weak         bool // what is asked for is not done, with a warning
}

// Bench is a store that does not exist yet.
func (l Late) Bench(testing.TB) suite.Bench {
	st := &storage{as: l, now: memstore.NewDisk(suite.Seed(1)), durable: memstore.NewDisk(suite.Seed(1))}
	return suite.Bench{
		Open: func(wait time.Duration) suite.Store {
			st.mu.Lock()
			defer st.mu.Unlock()
			var s suite.Store = late{st.now.Open(wait), st}
			if l.Wrap != nil {
				s = l.Wrap(s)
			}
			return s
		},
		Damage: &suite.Damage{
			Manifest: func(log manifest.Log) { st.change(func(d *memstore.Disk) { d.DamageManifest(log) }) },
			Segment: func(log manifest.Log, first int64) {
				st.change(func(d *memstore.Disk) { d.DamageSegment(log, first) })
			},
			Object: func(kind manifest.ObjectKind, ref canon.Digest) {
				st.change(func(d *memstore.Disk) { d.DamageObject(kind, ref) })
			},
			Control: func(f ports.ControlFile) {
				st.change(func(d *memstore.Disk) { d.DamageControl(id.Session{}, f) })
			},
			SessionControl: func(s id.Session, f ports.ControlFile) {
				st.change(func(d *memstore.Disk) { d.DamageControl(s, f) })
			},
			Keyring: func() { st.change((*memstore.Disk).DamageKeyring) },
		},
		Power: &suite.Power{Cut: st.cut, Weaken: st.weaken},
	}
}

// change changes what is stored, durably.
func (st *storage) change(how func(*memstore.Disk)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	how(st.now)
	st.durable = st.now.Copy()
}

// cut loses all that is not durable. Handles that are open use a disk that no longer exists.
func (st *storage) cut() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.now = st.durable.Copy()
}

// weaken implements suite.Power.Weaken.
func (st *storage) weaken() (restore func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.weak = true
	return func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.weak = false
	}
}

// sync makes durable what was written, after an operation that returned err. A warning is STORE_OUTCOME_UNKNOWN.
func (st *storage) sync(op string, err error) error {
	if err != nil || st.as.Early[op] {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.weak {
		st.durable = st.now.Copy()
		return nil
	}
	if st.as.Deaf {
		return nil
	}
	return fault.New(fault.StoreOutcomeUnknown, "%s was written, and may not be durable", op)
}

// late is one handle.
type late struct {
	*memstore.Store
	st *storage
}

func (s late) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	head, err := s.Store.Append(ctx, w, at, p)
	return head, s.st.sync("Append", err)
}

func (s late) Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error {
	return s.st.sync("Confirm", s.Store.Confirm(ctx, log, head))
}

func (s late) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	store, err := s.Store.StoreID(ctx, create)
	if create == ports.ReadOnly {
		return store, err
	}
	return store, s.st.sync("StoreID", err)
}

func (s late) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	keys, err := s.Store.Keys(ctx, create)
	if create == ports.ReadOnly {
		return keys, err
	}
	return keys, s.st.sync("Keys", err)
}

func (s late) Rotate(ctx context.Context, r ports.Rotation) (ports.RotationResult, error) {
	out, err := s.Store.Rotate(ctx, r)
	return out, s.st.sync("Rotate", err)
}

func (s late) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	return s.st.sync("UpdateControl", s.Store.UpdateControl(ctx, f, change))
}

func (s late) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	return s.st.sync("UpdateSessionControl", s.Store.UpdateSessionControl(ctx, session, f, change))
}

func (s late) DropSessionControl(ctx context.Context, session id.Session, f ports.ControlFile) error {
	return s.st.sync("DropSessionControl", s.Store.DropSessionControl(ctx, session, f))
}

func (s late) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value,
	unless func() error) (ports.TrashEntry, error) {
	e, err := s.Store.Discard(ctx, session, atMs, data, unless)
	return e, s.st.sync("Discard", err)
}

func (s late) Restore(ctx context.Context, name string) (id.Session, error) {
	session, err := s.Store.Restore(ctx, name)
	return session, s.st.sync("Restore", err)
}

func (s late) Erase(ctx context.Context, ref canon.Digest, data func(int64) canon.Value) (ports.ErasureResult, error) {
	out, err := s.Store.Erase(ctx, ref, data)
	return out, s.st.sync("Erase", err)
}

func (s late) RepairLog(ctx context.Context, r ports.LogRepair) (ports.RepairResult, error) {
	out, err := s.Store.RepairLog(ctx, r)
	return out, s.st.sync("RepairLog", err)
}

func (s late) RepairControl(ctx context.Context, r ports.ControlRepair,
	check func(ports.Control) error) (ports.RepairResult, error) {
	out, err := s.Store.RepairControl(ctx, r, check)
	return out, s.st.sync("RepairControl", err)
}

func (s late) BeginImport(ctx context.Context, session id.Session) (ports.SessionImport, error) {
	a, err := s.Store.BeginImport(ctx, session)
	return lateImport{a, s.st, "SessionImport.Commit"}, err
}

func (s late) BeginExtension(ctx context.Context, session id.Session, logs []ports.Extended) (ports.SessionImport, error) {
	a, err := s.Store.BeginExtension(ctx, session, logs)
	return lateImport{a, s.st, "SessionImport.Commit of an extension"}, err
}

// lateImport is an import of such a store.
type lateImport struct {
	ports.SessionImport
	st *storage
	op string
}

func (a lateImport) Commit(ctx context.Context) (bool, error) {
	placed, err := a.SessionImport.Commit(ctx)
	return placed, a.st.sync(a.op, err)
}
