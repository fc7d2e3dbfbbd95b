// Package wire implements the use cases that read runs as clients of the OpenWOP protocol do
// (docs/design.md#openwop): the run events of a run, what is new in it, its snapshot and its debug bundle.
//
// It reads a store or a bundle by package session and projects with package projections/wire. It appends
// nothing, waits for nothing and speaks no HTTP. Start reading at Wire.Follow.
package wire

import (
	"context"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
	projection "github.com/waybill/waybill/projections/wire"
)

// About is what snapshots and bundles state beside the log.
type About struct {
	// Version is that of the program.
	Version string
	// Tenancy names the owner of the runs; nil: none is stated, as of a bundle.
	Tenancy ports.Tenancy
}

// Wire has the use cases of one store or bundle. It is safe for concurrent use.
type Wire struct {
	r     *session.Reader
	s     session.Source
	about About

	mu sync.Mutex // guards the fields below, and is not held while the source is read
	// sessions are those of runs that were looked up or noted, so that a store is not searched again.
	sessions map[id.Run]id.Session
	// recent are projections that calls about a run share, so that a poll reads what is new.
	recent map[id.Run]*shared
}

// Bounds of what is remembered between calls.
const (
	sessionsMax    = 16_384
	recentMax      = 64
	recentNodesMax = 4096 // of a run that is remembered
)

// shared is a projection that several calls use, one at a time.
type shared struct {
	mu sync.Mutex
	f  *Follower
}

// New returns the use cases of what r reads, which is s.
func New(r *session.Reader, s session.Source, about About) *Wire {
	return &Wire{r: r, s: s, about: about, sessions: map[id.Run]id.Session{}, recent: map[id.Run]*shared{}}
}

// Place is a run with its session.
type Place struct {
	Session id.Session
	Run     id.Run
}

// Locate finds a run by its id, a unique prefix of it, or @last. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS.
func (w *Wire) Locate(ctx context.Context, ref string) (Place, error) {
	if run, err := id.ParseRun(ref); err == nil {
		w.mu.Lock()
		s, known := w.sessions[run]
		w.mu.Unlock()
		if known {
			return Place{s, run}, nil
		}
	}
	at, err := w.r.Locate(ctx, ref)
	if err != nil {
		return Place{}, err
	}
	p := Place{at.Session, at.Run}
	w.Note(p)
	return p, nil
}

// Note remembers where a run is, so that Locate does not search for it: its caller started the run.
func (w *Wire) Note(p Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sessions) >= sessionsMax {
		clear(w.sessions)
	}
	w.sessions[p.Run] = p.Session
}

// Forget drops what is remembered of a run: its session was moved away.
func (w *Wire) Forget(run id.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, run)
	delete(w.recent, run)
}

// lookups are the Lookups of one call.
type lookups struct {
	state    func(canon.Digest) (projection.State, error)
	workflow func(canon.Digest) (*compile.Compiled, error)
}

// State implements projection.Lookups.
func (l lookups) State(ref canon.Digest) (projection.State, error) { return l.state(ref) }

// Workflow implements projection.Lookups.
func (l lookups) Workflow(hash canon.Digest) (*compile.Compiled, error) { return l.workflow(hash) }

// lookups reads objects in the forms of this version and, as far as they are known, of others
// (docs/design.md#foreign-stores).
func (w *Wire) lookups(ctx context.Context) lookups {
	return lookups{
		state: func(ref canon.Digest) (projection.State, error) {
			s, err := w.r.State(ctx, &runs.Node{SnapshotRef: ref})
			if err == nil {
				return projection.State{View: s.View(), Known: &s}, nil
			}
			if !session.IsForeignForm(err) {
				return projection.State{}, err
			}
			data, err := w.r.Object(ctx, manifest.Snapshot, ref)
			if err != nil {
				return projection.State{}, err
			}
			v, _ := snapshot.DecodeForeign(data) // the zero View for an unknown form
			return projection.State{View: v}, nil
		},
		workflow: func(hash canon.Digest) (*compile.Compiled, error) {
			c, err := w.r.Workflow(ctx, hash)
			if err == nil {
				return &c, nil
			}
			if session.IsForeignForm(err) {
				return nil, nil
			}
			return nil, err
		},
	}
}
