package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Position is a durable place in a run.
type Position struct {
	Session id.Session
	Run     id.Run
	Node    id.Node
}

// place is a position with everything that is on record about it.
type resolvedPosition struct {
	fold *projections.Fold
	run  *projections.Run
	node *projections.Node
}

// errLeftOut says that a fold left out what an answer may need. It is no head to go
// on from then, and who meets it in the middle of a call starts over at the log's
// beginning, as with a head of another history.
var errFoldIncomplete = fmt.Errorf("the fold left out what is asked about: %w", manifest.ErrNotOnChain)

// find looks a position up in a fold; what is not there is TOKEN_UNKNOWN_NODE:
// the log that the caller holds a handle of is longer than this one (R9). Only a
// fold that left nothing out may say so.
func resolvePosition(f *projections.Fold, at Position) (resolvedPosition, error) {
	p := resolvedPosition{fold: f, run: f.Runs[at.Run]}
	if f.Missed() || !f.Knows(at.Run, at.Node) {
		return p, errFoldIncomplete
	}
	if p.run != nil {
		p.node = p.run.Node(at.Node)
	}
	if p.node == nil {
		return p, fault.New(fault.TokenUnknownNode, "session %s holds no node %s of run %s", at.Session, at.Node,
			at.Run)
	}
	return p, nil
}

// open reads a session that must be healthy and finds a position in it.
func (g *Engine) openPosition(ctx context.Context, at Position, f *projections.Fold) (resolvedPosition, error) {
	p, err := resolveHealthy(at, f, func() (manifest.Verdict, error) { return g.readFromSaved(ctx, at.Session, f) })
	if errors.Is(err, errFoldIncomplete) {
		f.Reset()
		p, err = resolveHealthy(at, f, func() (manifest.Verdict, error) { return g.read(ctx, at.Session, f) })
	}
	return p, err
}

func resolveHealthy(at Position, f *projections.Fold, read func() (manifest.Verdict, error)) (resolvedPosition, error) {
	v, err := read()
	if err != nil {
		return resolvedPosition{}, err
	}
	if v.Health != manifest.Healthy {
		return resolvedPosition{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	}
	return resolvePosition(f, at)
}

// statesMax bounds how many snapshots are kept decoded between calls. One step
// looks at two, and the next step at one of these again.
const statesMax = 64

// state reads the snapshot of a node, by its digest: what was verified once and
// is named by its bytes cannot change. One of a shape that we do not write cannot
// be built on.
func (g *Engine) state(ctx context.Context, n *projections.Node) (snapshot.State, error) {
	g.mu.Lock()
	s, ok := g.states[n.SnapshotRef]
	g.mu.Unlock()
	if ok {
		return s, nil
	}
	data, err := g.Objects.Object(ctx, manifest.Snapshot, n.SnapshotRef)
	if err != nil {
		return snapshot.State{}, err
	}
	if s, err = snapshot.Decode(data); err != nil {
		return s, fault.Wrap(err, fault.SessionUnhealthy,
			"the snapshot of node %s is of a shape that this version does not know", n.ID)
	}
	g.cacheState(n.SnapshotRef, s)
	return s, nil
}

func (g *Engine) cacheState(ref canon.Digest, s snapshot.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.states == nil || len(g.states) >= statesMax {
		g.states = map[canon.Digest]snapshot.State{}
	}
	g.states[ref] = s
}

// tipState is what a run's status needs to know about a node's snapshot.
func tipState(w compile.Compiled, n *projections.Node, s snapshot.State) projections.TipState {
	return projections.TipState{Complete: s.IsComplete(), NeedsApproval: interpreter.NeedsApproval(w, s, n.Context)}
}

// needsConfirmation: in guided mode a step that asks for it waits for a person,
// whose acknowledgement is the confirmation (R20).
func needsConfirmation(w compile.Compiled, s snapshot.State, n *projections.Node) bool {
	return n.Preferences.Autonomy == event.Guided && interpreter.NeedsConfirmation(w, s, n.Context)
}
