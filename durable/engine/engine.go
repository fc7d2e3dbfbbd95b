// Package engine holds the use cases: start, continue, and what is asked about
// runs, each a method that takes a context, who asks, a clock reading and, where
// ids are made, one seed. It works over ports only and never runs a command,
// opens a file or reads a clock itself.
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
	"github.com/waybill/waybill/projections"
)

// Engine is the use cases of one store. It is safe for concurrent use.
type Engine struct {
	Logs      ports.Logs
	Locks     ports.Locks
	Objects   ports.Objects
	Sessions  ports.Sessions
	Identity  ports.Identity
	Keyring   ports.Keyring
	Inspector ports.Inspector
	Digests   ports.Digests  // nil: what is to be hashed is decoded as well
	Controls  ports.Controls // of the store's folder; nil where nothing is audited, kept or rotated
	Streams   ports.ObjectStreams
	Marks     ports.SessionControls // nil where no session is kept or imported
	Graves    ports.Tombstones      // nil where nothing is erased
	SideLogs  ports.SideLogs        // nil where there are none
	Arrivals  ports.Arrivals        // nil where nothing is imported
	Trash     ports.Trash           // nil where nothing is deleted
	Retention ports.Retention       // nil where nothing is cleaned up or erased
	Repairs   ports.Repairs         // nil where nothing is repaired
	Heads     ports.HeadCache       // nil: logs are read from their beginning each time

	mu           sync.Mutex
	compiled     map[canon.Digest]compile.Compiled
	states       map[canon.Digest]snapshot.State
	folds        map[id.Session]*projections.Fold
	durable      map[string]durableHead  // by the log's owner; see headcache.go
	pendingAudit map[string]manifest.Log // by their roots: those with a fact that has no audit line yet
}

// Caller says who asks, and when.
type Caller struct {
	Actor event.Actor
	AtMs  int64 // clock reading in milliseconds since 1970
}

// memoMax bounds how many sessions' folds are kept between calls: enough for a
// few workflows in one conversation.
const foldsMax = 8

// take hands out the fold of a session for the caller alone, so that two calls
// never fold into one state; the second starts afresh.
func (g *Engine) takeFold(s id.Session) *projections.Fold {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.folds[s]
	if !ok {
		return projections.NewFold()
	}
	delete(g.folds, s)
	return f
}

// keep puts a fold back that is the log up to its head, and saves it now and then.
func (g *Engine) putFold(s id.Session, f *projections.Fold) {
	if f.Ahead >= saveEvery {
		f = g.saveHead(context.Background(), s, f)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.folds == nil || len(g.folds) >= foldsMax {
		g.folds = map[id.Session]*projections.Fold{}
	}
	g.folds[s] = f
}

// read brings a fold up to its log and says how healthy the log is. A fold whose
// head the log does not know is of another history and starts over.
func (g *Engine) read(ctx context.Context, s id.Session, f *projections.Fold) (manifest.Verdict, error) {
	log := manifest.SessionEvents(s)
	v, err := g.Logs.Read(ctx, ports.Reading{Log: log, From: f.Head}, f)
	if errors.Is(err, manifest.ErrNotOnChain) || err == nil && f.Missed() {
		f.Reset()
		return g.Logs.Read(ctx, ports.Reading{Log: log}, f)
	}
	return v, err
}

// recall is read for a caller who wants to go on, not to look at history: an empty
// fold is begun with the saved one, where that is the log's. A log that does not
// reach to where a fold of it was saved has lost what was acknowledged (R9).
func (g *Engine) readFromSaved(ctx context.Context, s id.Session, f *projections.Fold) (manifest.Verdict, error) {
	var claimed manifest.Head
	if f.Head.IsZero() {
		if saved, ok := g.savedFold(ctx, s); ok {
			claimed = saved.Head
			if claimed.NextRecord > shortLog {
				*f = *saved
			}
		}
	}
	v, err := g.read(ctx, s, f)
	return lostTail(manifest.SessionEvents(s), v, claimed), err
}

// workflow finds a pinned workflow; its digest is checked by the port.
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

func (g *Engine) cacheWorkflow(w compile.Compiled) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.compiled == nil {
		g.compiled = map[canon.Digest]compile.Compiled{}
	}
	g.compiled[w.Hash()] = w
}
