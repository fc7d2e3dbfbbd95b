// Package startkey finds the run that was started under a key: a start with that
// key returns it instead of starting another.
//
// It reads the first segment of one log, and writes nothing.
package startkey

import (
	"context"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Starts finds what was started in one store.
type Starts struct {
	store  ledger.Store
	ledger *ledger.Ledger
}

// New returns the starts of the store of a ledger.
func New(s ledger.Store, l *ledger.Ledger) Starts { return Starts{s, l} }

// Run is the run that was started under a key.
type Run struct {
	Session id.Session
	Run     id.Run
	// WorkflowHash is the version of the workflow that the run is pinned to.
	WorkflowHash canon.Digest
}

// Find returns the run that a start of a workflow with a key returns
// instead of starting one, false if there is none. It writes nothing, so that
// callers can decide what a start means before they ask for anything.
//
// START_KEY_TAKEN: the session of the key was imported, or its run is of
// another workflow (docs/design.md#ids). A run of another version of the same
// workflow is returned. SESSION_UNHEALTHY: it cannot be read which run it is.
func (s Starts) Find(ctx context.Context, key, workflowID string) (found Run, ok bool, err error) {
	store, err := s.store.StoreID(ctx, ports.ReadOnly)
	if key == "" || err != nil || store.IsZero() {
		return Run{}, false, err
	}
	session := id.KeyedSession(store, key)
	return s.find(ctx, manifest.SessionEvents(session), Run{Session: session, Run: id.KeyedRun(store, key)}, key,
		workflowID)
}

// FindDeleted is Find for the session of a log in the trash.
func (s Starts) FindDeleted(ctx context.Context, t ports.TrashEntry, key, workflowID string) (ok bool,
	err error) {
	store, err := s.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() || id.KeyedSession(store, key) != t.Session {
		return false, err
	}
	log := manifest.SessionEvents(t.Session)
	log.Root = t.Root
	_, ok, err = s.find(ctx, log, Run{Session: t.Session, Run: id.KeyedRun(store, key)}, key, workflowID)
	return ok, err
}

// errEnough ends a reading after the first segment.
var errEnough = errors.New("enough")

// find reads the first segment of a log, which has the start of its run.
func (s Starts) find(ctx context.Context, log manifest.Log, at Run, key, workflowID string) (found Run,
	ok bool, err error) {
	fold := runs.NewFold()
	v, err := s.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		fold = runs.NewFold()
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if err := fold.Visit(seg, head); err != nil {
				return err
			}
			return errEnough
		})
	})
	read := errors.Is(err, errEnough)
	if err != nil && !read {
		return Run{}, false, err
	}
	if !read && v.Unborn() {
		return Run{}, false, nil
	}
	run := fold.Runs[at.Run]
	if err := s.Check(ctx, at.Session, run, key, workflowID); err != nil {
		return Run{}, false, err
	}
	if run == nil {
		return Run{}, false, ports.Unhealthy(log, v)
	}
	at.WorkflowHash = run.Started.WorkflowHash
	return at, true, nil
}

// AutomationPrefix begins the start keys of automations (docs/design.md#ids).
const AutomationPrefix = "automation/"

// RequestPrefix begins the start keys of requests over HTTP (docs/design.md#openwop-host).
const RequestPrefix = "http/"

// OfRequest is the start key of a request with an idempotency key, which an actor has chosen.
func OfRequest(actor, key string) string {
	return RequestPrefix + canon.Sum([]byte(actor+"\x00"+key)).String()
}

// CheckReserved returns USAGE_ERROR for a key that only automations, or requests over HTTP, start runs under. A
// caller's run under it would be answered in place of one that these start.
func CheckReserved(key string) error {
	if strings.HasPrefix(key, RequestPrefix) {
		return fault.New(fault.UsageError, "the start key %q begins with %q, which is reserved for requests over HTTP", key,
			RequestPrefix).Suggest("Start with another --key.")
	}
	if !strings.HasPrefix(key, AutomationPrefix) {
		return nil
	}
	return fault.New(fault.UsageError, "the start key %q begins with %q, which is reserved for automations", key,
		AutomationPrefix).Suggest("Start with another --key; %s starts what is due.",
		fault.Command{"automations", "due", "--start"})
}

// Check returns START_KEY_TAKEN for a session whose beginning was imported: any program
// can write a bundle whose session has the id that a key results in. A session that was
// started here and came home still answers its key. Check returns
// the same for a run of another workflow: a start must not answer with what the
// caller did not ask for. run is nil if it could not be read.
func (s Starts) Check(ctx context.Context, session id.Session, run *runs.Run, key, workflowID string) error {
	came, err := s.ledger.ImportedEvents(ctx, manifest.SessionEvents(session), s.ledger.NewImports())
	switch {
	case err != nil:
		return err
	case came.Has(0):
		return keyTaken(session, key, "session %s, which was imported from a bundle", session).
			Suggest("Start with another --key; %s shows the sessions.", fault.Command{"sessions", "list"})
	case run != nil && run.Started.WorkflowID != workflowID:
		return keyTaken(session, key, "run %s of the workflow %q, not of %q", run.ID, run.Started.WorkflowID, workflowID).
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
