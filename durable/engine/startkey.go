package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// KeyedRun is the run that was started under a key.
type KeyedRun struct {
	Session id.Session
	Run     id.Run
	// WorkflowHash is the version of the workflow that the run is pinned to.
	WorkflowHash canon.Digest
}

// FindStart returns the run that a start of a workflow with a key returns
// instead of starting one, false if there is none. It writes nothing, so that
// callers can decide what a start means before they ask for anything.
//
// START_KEY_TAKEN: the session of the key was imported, or its run is of
// another workflow (docs/design.md#ids). A run of another version of the same
// workflow is returned. SESSION_UNHEALTHY: it cannot be read which run it is.
func (e *Engine) FindStart(ctx context.Context, key, workflowID string) (found KeyedRun, ok bool, err error) {
	store, err := e.store.StoreID(ctx, ports.ReadOnly)
	if key == "" || err != nil || store.IsZero() {
		return KeyedRun{}, false, err
	}
	at := Position{Session: id.KeyedSession(store, key), Run: id.KeyedRun(store, key)}
	return e.findStart(ctx, manifest.SessionEvents(at.Session), at, key, workflowID)
}

// FindDeletedStart is FindStart for the session of a log in the trash.
func (e *Engine) FindDeletedStart(ctx context.Context, t ports.TrashEntry, key, workflowID string) (ok bool,
	err error) {
	store, err := e.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() || id.KeyedSession(store, key) != t.Session {
		return false, err
	}
	log := manifest.SessionEvents(t.Session)
	log.Root = t.Root
	_, ok, err = e.findStart(ctx, log, Position{Session: t.Session, Run: id.KeyedRun(store, key)}, key, workflowID)
	return ok, err
}

// findStart reads the first segment of a log, which has the start of its run.
func (e *Engine) findStart(ctx context.Context, log manifest.Log, at Position, key, workflowID string) (found KeyedRun,
	ok bool, err error) {
	fold := runs.NewFold()
	v, err := e.source.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		fold = runs.NewFold()
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if err := fold.Visit(seg, head); err != nil {
				return err
			}
			return ErrStopReading
		})
	})
	read := errors.Is(err, ErrStopReading)
	if err != nil && !read {
		return KeyedRun{}, false, err
	}
	if !read && v.Unborn() {
		return KeyedRun{}, false, nil
	}
	run := fold.Runs[at.Run]
	if err := e.checkKey(ctx, at.Session, run, key, workflowID); err != nil {
		return KeyedRun{}, false, err
	}
	if run == nil {
		return KeyedRun{}, false, ports.Unhealthy(log, v)
	}
	return KeyedRun{at.Session, at.Run, run.Started.WorkflowHash}, true, nil
}

// checkKey returns START_KEY_TAKEN for a session that was imported: any program
// can write a bundle whose session has the id that a key results in. It returns
// the same for a run of another workflow: a start must not answer with what the
// caller did not ask for. run is nil if it could not be read.
func (e *Engine) checkKey(ctx context.Context, s id.Session, run *runs.Run, key, workflowID string) error {
	imported, err := e.ledger.ImportedEvents(ctx, manifest.SessionEvents(s), e.ledger.NewImports())
	switch {
	case err != nil:
		return err
	case imported > 0:
		return keyTaken(s, key, "session %s, which was imported from a bundle", s).
			Suggest("Start with another --key; %s shows the sessions.", fault.Command{"sessions", "list"})
	case run != nil && run.Started.WorkflowID != workflowID:
		return keyTaken(s, key, "run %s of the workflow %q, not of %q", run.ID, run.Started.WorkflowID, workflowID).
			Suggest("Start with another --key; %s shows the run.",
				fault.Command{"runs", "show", run.ID.String()}).
			With("runId", run.ID.String()).With("workflowId", run.Started.WorkflowID)
	}
	return nil
}

// keyTaken is START_KEY_TAKEN for what a key names.
func keyTaken(s id.Session, key, format string, args ...any) *fault.Fault {
	return fault.New(fault.StartKeyTaken, "the start key %q names "+format, append([]any{key}, args...)...).
		With("sessionId", s.String())
}
