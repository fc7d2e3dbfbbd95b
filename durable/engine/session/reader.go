// Package session reads the sessions of one store or bundle: a run by its reference, a position in
// its log, the fold of the log, pinned workflows and snapshots (docs/design.md#reading). It remembers
// what it read during a process, and saves folds in head caches for the next one.
//
// The package does not append, decide or render. Start with Reader (reader.go), which keeps the
// caches, and History (history.go), the fold of one session during one call.
package session

import (
	"context"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Source is what a Reader requires. Every store provides it, and ReadOnly
// provides it for a bundle.
type Source interface {
	ports.Logs
	ports.Objects
	ports.Sessions
	ports.HeadCache
	ports.Keyring
	ports.Availability
}

// Reader reads the sessions of one store and remembers what it read. It is safe
// for concurrent use. Its caches cost a reading when they are lost, never a
// fact (docs/design.md#engine).
type Reader struct {
	source Source
	// Origins tells from which sources workflows are.
	Origins origin.Origins

	// mu guards the fields below. It is never held while the source is called.
	mu sync.Mutex
	// Pinned workflows, snapshots and folds by what names them.
	compiled map[canon.Digest]compile.Compiled
	pinned   int // bytes of compiled
	states   map[canon.Digest]snapshot.State
	keys     int // completed steps of states
	views    map[rawDigest]snapshot.View
	older    map[rawDigest]snapshot.View // views before they were full
	folds    map[id.Session]*runs.Fold
	// durable is keyed by the owner of a log.
	durable map[string]durableHead
	// homes are the sessions in which runs were found last: where a search for one begins.
	homes map[id.Run]id.Session
	// Index keeps which runs the sessions of the store have: a search for a run begins there. nil: each session is read.
	Index index.Catalogue
}

// NewReader returns a Reader that has read nothing.
func NewReader(s Source) *Reader {
	return &Reader{source: s, compiled: map[canon.Digest]compile.Compiled{}, states: map[canon.Digest]snapshot.State{},
		views: map[rawDigest]snapshot.View{}, older: map[rawDigest]snapshot.View{},
		folds: map[id.Session]*runs.Fold{}, durable: map[string]durableHead{}, homes: map[id.Run]id.Session{}}
}

// foldsMax bounds how many sessions' folds are kept between calls: enough for a
// few workflows in one conversation.
const foldsMax = 8

// statesMax bounds how many decoded snapshots are kept between calls. One step
// uses two of them, and the next step one of these again.
const statesMax = 64

// homesMax bounds how many runs are remembered with their sessions: those of a server for weeks, in 2 MiB.
const homesMax = 16 << 10

// NoteHome remembers in which session a run is. A full memory is emptied.
func (r *Reader) NoteHome(run id.Run, s id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.homes) >= homesMax {
		clear(r.homes)
	}
	r.homes[run] = s
}

// Drop forgets a session that was moved away or replaced.
func (r *Reader) Drop(s id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.folds, s)
	delete(r.durable, s.String())
}

// Workflow loads a pinned workflow by its hash, from memory if possible. The
// object port checks the digest. Errors are those of the port (STORE_CORRUPT
// for a missing or damaged object) and of compile.Decode.
func (r *Reader) Workflow(ctx context.Context, hash canon.Digest) (compile.Compiled, error) {
	r.mu.Lock()
	w, ok := r.compiled[hash]
	r.mu.Unlock()
	if ok {
		return w, nil
	}
	data, err := r.source.Object(ctx, manifest.Workflow, hash)
	if err != nil {
		return w, err
	}
	if w, err = compile.Decode(data); err != nil {
		return w, err
	}
	r.CacheWorkflow(w)
	return w, nil
}

// pinnedMax bounds the bytes of the workflows that are kept between calls. A
// process uses few, and a bundle may hold thousands.
const pinnedMax = 4 << 20

// CacheWorkflow keeps a compiled workflow for later calls. A full cache is
// emptied.
func (r *Reader) CacheWorkflow(w compile.Compiled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pinned += len(w.Bytes()); r.pinned > pinnedMax {
		clear(r.compiled)
		r.pinned = len(w.Bytes())
	}
	r.compiled[w.Hash()] = w
}

// State returns the snapshot of a node, from memory if possible; a snapshot is
// named by its digest and cannot change. One in a form that this version does
// not write is SESSION_UNHEALTHY: no step can be decided from it.
func (r *Reader) State(ctx context.Context, n *runs.Node) (snapshot.State, error) {
	r.mu.Lock()
	s, ok := r.states[n.SnapshotRef]
	r.mu.Unlock()
	if ok {
		return s, nil
	}
	data, err := r.source.Object(ctx, manifest.Snapshot, n.SnapshotRef)
	if err != nil {
		return snapshot.State{}, err
	}
	if s, err = snapshot.Decode(data); err != nil {
		return s, fault.Wrap(err, fault.SessionUnhealthy,
			"the snapshot of node %s is of a shape that this version does not know", n.ID)
	}
	r.CacheState(n.SnapshotRef, s)
	return s, nil
}

// stateKeysMax bounds the completed steps of the snapshots that are kept, in about 50 bytes each: of a run of thousands
// of steps each snapshot has all that were completed.
const stateKeysMax = 32 << 10

// CacheState keeps a decoded snapshot. A full cache is emptied.
func (r *Reader) CacheState(ref canon.Digest, s snapshot.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys += len(s.CompletedKeys()); len(r.states) >= statesMax || r.keys > stateKeysMax {
		clear(r.states)
		r.keys = len(s.CompletedKeys())
	}
	r.states[ref] = s
}

// rawDigest is the bytes of a digest, which share no memory with the log.
type rawDigest = [32]byte

// viewsMax bounds how many snapshots are kept as they are shown, in about 200 bytes each, before the older ones are dropped:
// those of a long run, of which several views show each node.
const viewsMax = 4 << 10

// ViewOf returns a snapshot of this version as it is shown, without the keys of the completed steps, if it is kept.
func ViewOf(r *Reader, ref canon.Digest) (v snapshot.View, ok bool) {
	return viewOf(r, ref.Raw())
}

func viewOf(r *Reader, raw rawDigest) (v snapshot.View, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok = r.views[raw]; !ok {
		v, ok = r.older[raw]
	}
	return v, ok
}

// KeepView keeps a snapshot as it is shown, which is a copy (snapshot.View.Brief), until twice viewsMax later ones are kept.
func KeepView(r *Reader, ref canon.Digest, v snapshot.View) { keepView(r, ref.Raw(), v) }

func keepView(r *Reader, raw rawDigest, v snapshot.View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.views) >= viewsMax {
		clear(r.older)
		r.views, r.older = r.older, r.views
	}
	r.views[raw] = v
}

// Object reads an object whose digest matches ref. Errors: STORE_CORRUPT,
// ARTIFACT_ERASED, those of the source.
//
//go:noinline
func (r *Reader) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	return r.source.Object(ctx, kind, ref)
}

// Artifact reads an artifact that an event records as JSON. Bytes that do not
// parse are INVARIANT: the digest matched, so the event is wrong.
func (r *Reader) Artifact(ctx context.Context, ref canon.Digest) (canon.Value, error) {
	data, err := r.Object(ctx, manifest.Artifact, ref)
	if err != nil {
		return canon.Value{}, err
	}
	v, err := canon.Parse(data)
	if err != nil {
		return v, fault.Wrap(err, fault.Invariant, "artifact %s is recorded as JSON and is none", ref)
	}
	return v, nil
}

// Sessions lists the sessions of the source in the order of their ids.
func (r *Reader) Sessions(ctx context.Context) ([]id.Session, error) { return r.source.Sessions(ctx) }

// Load returns the pinned workflow and the snapshot of a resolved node.
func (r *Reader) Load(ctx context.Context, p Resolved) (w compile.Compiled, s snapshot.State, err error) {
	if w, err = r.Workflow(ctx, p.Run.Started.WorkflowHash); err != nil {
		return w, s, err
	}
	s, err = r.State(ctx, p.Node)
	return w, s, err
}

// IsForeignForm reports an object that another program or a newer version
// wrote. Use cases that only read display less then, and do not fail
// (docs/design.md#foreign-stores).
func IsForeignForm(err error) bool {
	return fault.Is(err, fault.StoreForeign) || fault.Is(err, fault.StoreNewer) || fault.Is(err, fault.SessionUnhealthy)
}

// IsMissing reports an object that the store does not have.
func IsMissing(err error) bool { return err != nil && fault.Of(err).Details["missing"] == true }
