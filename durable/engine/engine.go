// Package engine implements the use cases of one store: starting, advancing,
// cancelling, forking and showing runs, moving sessions between stores,
// verification, repair, cleanup, annotations and proposals. Each use case is a
// method of Engine that takes a context, the caller, a clock reading and, where
// ids are made, one seed.
//
// The package works over ports only. It never runs a command, opens a file,
// reads a clock or draws entropy itself, and it does not parse command lines or
// print anything. Decisions are made by plain functions in durable/run/advance;
// this package collects their inputs under a lock and appends the result.
//
// Start reading at Engine.Advance in advance.go. Answer (answer.go) is the
// document that most run operations return; Position (position.go) names where
// a caller is.
package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Engine implements the use cases of one store. It is safe for concurrent use.
//
// A nil port turns the use cases that need it off; the comment of each field
// names them. The unexported fields are caches: losing them costs a reading,
// never a fact (docs/design.md#engine).
type Engine struct {
	// The ports below are required.

	Logs      ports.Logs
	Locks     ports.Locks
	Objects   ports.Objects
	Sessions  ports.Sessions
	Identity  ports.Identity
	Keyring   ports.Keyring
	Inspector ports.Inspector

	// The ports below may be nil.

	// Without it, verification by digests alone decodes the logs as well.
	Digests ports.Digests
	// Control files of the store: configuration, trust. Without it nothing is
	// audited either.
	Controls ports.Controls
	// Objects too large for memory; export requires it.
	Streams ports.ObjectStreams
	// Control files of sessions. Without it no session is kept or imported.
	SessionControls ports.SessionControls
	// Records of erased artifacts; export requires it.
	Tombstones ports.Tombstones
	// Without it sessions have no side logs.
	SideLogs ports.SideLogs
	// Import requires it.
	Arrivals ports.SessionImporter
	// Deletion and cleanup require it.
	Trash ports.Trash
	// Cleanup, erasure and disk usage require it.
	Retention ports.Retention
	// Repair requires it.
	Repairs ports.Repairs
	// Without it every reading starts at the beginning of the log.
	HeadCache ports.HeadCache

	// mu guards the fields below. It is never held while a port is called.
	mu sync.Mutex
	// Pinned workflows, snapshots and folds by what names them.
	compiled map[canon.Digest]compile.Compiled
	states   map[canon.Digest]snapshot.State
	folds    map[id.Session]*runs.Fold
	// durable is keyed by the owner of a log.
	durable map[string]durableHead
	// pendingAudit has the logs with facts whose audit lines are not written
	// yet, by the directory of each.
	pendingAudit map[string]manifest.Log
}

// Caller identifies who makes a call, and when. Both end in the events that the
// call appends.
type Caller struct {
	// Actor is recorded in every event that the call appends.
	Actor event.Actor
	// AtMs is the clock reading, in milliseconds since 1970.
	AtMs int64
}

// foldsMax bounds how many sessions' folds are kept between calls: enough for a
// few workflows in one conversation.
const foldsMax = 8

// takeFold removes the cached fold of a session from the cache and returns it,
// or returns an empty fold. Two concurrent calls therefore never fold into one
// state; the second one starts from an empty fold. The caller returns the fold
// with putFold after success; a fold is dropped on error because it may be
// ahead of what was committed.
func (g *Engine) takeFold(s id.Session) *runs.Fold {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.folds[s]
	if !ok {
		return runs.NewFold()
	}
	delete(g.folds, s)
	return f
}

// putFold caches a fold that reaches the head of its log, and writes it to the
// head cache once it is saveEvery segments ahead of the saved one. When the
// cache is full it is emptied: an evicted session costs one reading.
func (g *Engine) putFold(s id.Session, f *runs.Fold) {
	if f.Ahead >= saveEvery {
		f = g.saveHead(context.Background(), s, f)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.folds == nil || len(g.folds) >= foldsMax {
		g.folds = map[id.Session]*runs.Fold{}
	}
	g.folds[s] = f
}

// read continues a fold to the end of its log and returns the log's verdict. If
// the log does not contain the fold's head, or the fold skipped an event that
// it needs, the fold belongs to another history or is incomplete; it is reset
// and read from the beginning.
func (g *Engine) read(ctx context.Context, s id.Session, f *runs.Fold) (manifest.Verdict, error) {
	log := manifest.SessionEvents(s)
	v, err := g.Logs.Read(ctx, ports.ReadRequest{Log: log, From: f.Head}, f)
	if errors.Is(err, manifest.ErrNotOnChain) || err == nil && f.Missed() {
		f.Reset()
		return g.Logs.Read(ctx, ports.ReadRequest{Log: log}, f)
	}
	return v, err
}

// readFromSaved is read for callers that continue a run and do not show its
// history: an empty fold starts from the head cache when that matches the log
// and the log is longer than shortLog. A log that ends before the head of its
// saved fold has lost acknowledged events, and its verdict is changed
// accordingly (docs/design.md#log-tail).
func (g *Engine) readFromSaved(ctx context.Context, s id.Session, f *runs.Fold) (manifest.Verdict, error) {
	var claimed manifest.Head
	if f.Head.IsZero() {
		if saved, ok := g.savedFold(ctx, s); ok {
			claimed = saved.Head
			// The head of a short log is still compared, but its fold is not
			// used.
			if claimed.NextRecord > shortLog {
				*f = *saved
			}
		}
	}
	v, err := g.read(ctx, s, f)
	return lostTail(manifest.SessionEvents(s), v, claimed), err
}

// workflow loads a pinned workflow by its hash, from memory if possible. The
// object port checks the digest. Errors are those of the port (STORE_CORRUPT
// for a missing or damaged object) and of compile.Decode.
func (g *Engine) workflow(ctx context.Context, hash canon.Digest) (compile.Compiled, error) {
	g.mu.Lock()
	w, ok := g.compiled[hash]
	g.mu.Unlock()
	if ok {
		return w, nil
	}
	data, err := g.Objects.Object(ctx, manifest.Workflow, hash)
	if err != nil {
		return w, err
	}
	if w, err = compile.Decode(data); err != nil {
		return w, err
	}
	g.cacheWorkflow(w)
	return w, nil
}

// cacheWorkflow keeps a compiled workflow for later calls. The map is not
// bounded: a process uses few workflows.
func (g *Engine) cacheWorkflow(w compile.Compiled) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.compiled == nil {
		g.compiled = map[canon.Digest]compile.Compiled{}
	}
	g.compiled[w.Hash()] = w
}
