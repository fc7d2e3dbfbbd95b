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
	"github.com/waybill/waybill/projections/runs"
)

// Position names a node of a run durably. It remains valid as long as the
// session exists.
type Position struct {
	Session id.Session
	Run     id.Run
	Node    id.Node
}

// resolvedPosition is a position with its run and node in a fold. node is nil
// when a run as a whole was looked up.
type resolvedPosition struct {
	fold *runs.Fold
	run  *runs.Run
	node *runs.Node
}

// errFoldIncomplete reports that a fold skipped events that an answer may need.
// It wraps manifest.ErrNotOnChain: callers reset the fold and read the log from
// its beginning, as for a head of another history.
var errFoldIncomplete = fmt.Errorf("the fold left out what is asked about: %w", manifest.ErrNotOnChain)

// resolvePosition looks a position up in a fold. An unknown node is
// TOKEN_UNKNOWN_NODE: the caller's token was made from a longer log
// (docs/design.md#log-tail). A fold that skipped events cannot prove that, and
// returns errFoldIncomplete.
func resolvePosition(f *runs.Fold, at Position) (resolvedPosition, error) {
	p := resolvedPosition{fold: f, run: f.Runs[at.Run]}
	// A windowed fold cannot distinguish an unknown node from a dropped one.
	if f.Missed() || !f.Covers(at.Run, at.Node) {
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

// openPosition reads a session, requires it to be healthy and looks a position
// up. An incomplete saved fold is replaced by a full reading.
func (g *Engine) openPosition(ctx context.Context, at Position, f *runs.Fold) (resolvedPosition, error) {
	p, err := resolveHealthy(at, f, func() (manifest.Verdict, error) { return g.readFromSaved(ctx, at.Session, f) })
	if errors.Is(err, errFoldIncomplete) {
		f.Reset()
		p, err = resolveHealthy(at, f, func() (manifest.Verdict, error) { return g.read(ctx, at.Session, f) })
	}
	return p, err
}

// resolveHealthy calls read and resolves the position if the verdict is
// healthy. Any other verdict is SESSION_UNHEALTHY with the findings.
func resolveHealthy(at Position, f *runs.Fold, read func() (manifest.Verdict, error)) (resolvedPosition, error) {
	v, err := read()
	if err != nil {
		return resolvedPosition{}, err
	}
	if v.Health != manifest.Healthy {
		return resolvedPosition{}, ports.Unhealthy(manifest.SessionEvents(at.Session), v)
	}
	return resolvePosition(f, at)
}

// statesMax bounds how many decoded snapshots are kept between calls. One step
// uses two of them, and the next step one of these again.
const statesMax = 64

// state returns the snapshot of a node, from memory if possible; a snapshot is
// named by its digest and cannot change. One in a form that this version does
// not write is SESSION_UNHEALTHY: no step can be decided from it.
func (g *Engine) state(ctx context.Context, n *runs.Node) (snapshot.State, error) {
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

// cacheState keeps a decoded snapshot. A full cache is emptied.
func (g *Engine) cacheState(ref canon.Digest, s snapshot.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.states == nil || len(g.states) >= statesMax {
		g.states = map[canon.Digest]snapshot.State{}
	}
	g.states[ref] = s
}

// tipState extracts from a node's snapshot what projections.Run.StatusAt needs.
func tipState(w compile.Compiled, n *runs.Node, s snapshot.State) runs.TipState {
	return runs.TipState{Complete: s.IsComplete(), NeedsApproval: interpreter.NeedsApproval(w, s, n.Context)}
}

// needsConfirmation reports whether the pending step waits for a person's
// confirmation. Only the guided mode waits; the attempt that follows is the
// confirmation (docs/design.md#requirements-on-the-caller).
func needsConfirmation(w compile.Compiled, s snapshot.State, n *runs.Node) bool {
	return n.Preferences.Autonomy == event.Guided && interpreter.NeedsConfirmation(w, s, n.Context)
}
