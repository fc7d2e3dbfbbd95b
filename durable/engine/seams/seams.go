// Package seams implements what a host of the OpenWOP protocol does for tests of the protocol (docs/design.md#test-seams):
// run events that a test sends, and the end of the runs that were made for them. A store in which it writes is a test
// store.
//
// Start reading at Seams.Emit.
package seams

import (
	"context"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// Workflow is the id of the workflow of the runs that are made for names. Its step waits for an agent, so that the run stays
// open.
const Workflow = "conformance-test-log"

// Seams are those of one store. They are safe for concurrent use.
type Seams struct {
	e    *engine.Engine
	logs ports.Logs
	runs hosting.Runs
	wire *wire.Wire
	// definition finds workflows, of which Workflow is one.
	definition func(context.Context, string) (engine.Definition, error)
}

// New returns the seams of the store of an engine.
func New(e *engine.Engine, logs ports.Logs, r hosting.Runs, w *wire.Wire,
	definition func(context.Context, string) (engine.Definition, error)) Seams {
	return Seams{e, logs, r, w, definition}
}

// Refuse returns why a store may not become, or be, a test store: it holds a run that no key of a server made, one that came
// with a bundle, or a session that cannot be read. marked reports that it is one already, before which it must be empty.
func (s Seams) Refuse(ctx context.Context, marked bool) error {
	all, err := s.e.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if !marked {
			return refused("it holds runs already")
		}
		mine, err := s.isTest(ctx, one)
		if err != nil {
			return err
		}
		if !mine {
			return refused("it holds a run that no program made over HTTP").With("sessionId", one.String())
		}
	}
	return nil
}

// refused is the error for a store that is no test store.
func refused(why string) *fault.Fault {
	return fault.New(fault.UsageError, "--test-seams needs a store of its own: %s", why).
		Suggest("Give a new one: %s.", fault.Command{"--store", "DIR", "serve", "--test-seams"})
}

// errRead ends a reading after the first segment.
var errRead = errors.New("read")

// isTest reports a session that a key of a server made here.
func (s Seams) isTest(ctx context.Context, one id.Session) (mine bool, err error) {
	came, err := s.e.Ledger().ImportedOf(ctx, one)
	if err != nil || came.Has(0) {
		return false, err
	}
	_, err = s.logs.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(one)},
		ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				if started, ok := e.Data.(event.RunStarted); ok {
					mine = hosting.Requested(started, e.Actor)
				}
			}
			return errRead
		}))
	if errors.Is(err, errRead) {
		err = nil
	}
	return mine, err
}

// Emit records a run event, and returns it as clients read it. RUN_CLOSED for a run that has ended.
func (s Seams) Emit(ctx context.Context, by engine.Caller, seed id.Seed, in openwop.Emission) (openwop.RunEvent, error) {
	at, err := s.run(ctx, by, seed, in.RunID)
	if err != nil {
		return openwop.RunEvent{}, err
	}
	e := event.RunEventRecorded{CausationID: in.CorrelationID, NodeID: in.NodeID, Type: string(in.Type), Payload: in.Payload}
	added, err := s.record(ctx, by, at, e)
	if err != nil {
		return openwop.RunEvent{}, err
	}
	var out openwop.RunEvent
	_, err = s.wire.Each(ctx, at.Run.String(), -1, func(events []openwop.RunEvent) error {
		for _, e := range events {
			if e.EventID == added {
				out = e
			}
		}
		return nil
	})
	if err == nil && out.EventID == "" {
		err = fault.New(fault.Internal, "the event is recorded and not shown")
	}
	return out, err
}

// record appends a run event at the current node of a run, and returns its id.
func (s Seams) record(ctx context.Context, by engine.Caller, at engine.Position, e event.RunEventRecorded) (added string, err error) {
	h := s.e.TakeHistory(at.Session)
	p, err := h.OpenRun(ctx, engine.Position{Session: at.Session, Run: at.Run})
	if err != nil {
		return "", err
	}
	at.Node = p.Run.Tip
	tip, err := s.e.State(ctx, p.Run.Node(p.Run.Tip))
	if err == nil && tip.IsComplete() {
		err = ended(at.Run)
	}
	if err != nil {
		return "", err
	}
	_, err = s.e.CommitAt(ctx, h, at, func(p session.Resolved) (manifest.Plan, error) {
		switch {
		case p.Run.Closed != nil || p.Run.CancelRequested != nil:
			return manifest.Plan{}, ended(at.Run)
		case p.Run.Tip != at.Node: // the run continued meanwhile, perhaps to its end
			return manifest.Plan{}, fault.New(fault.StoreConflict, "the run continued meanwhile")
		}
		e.Number = p.Fold.Next
		if err := e.Check(event.Scope{RunID: at.Run, NodeID: at.Node}); err != nil {
			return manifest.Plan{}, fault.Wrap(err, fault.StoreLimit, "the event cannot be recorded: %s", err)
		}
		plan := advance.NoteRunEvent(at.Session, event.Scope{RunID: at.Run, NodeID: at.Node}, p.Fold.Next, e, by.Actor, by.AtMs)
		added = plan.Events[0].IDText()
		return plan, nil
	})
	if err == nil {
		h.Keep()
	}
	return added, err
}

// ended is the refusal of an event of a run that has ended: its last event is the last one.
func ended(run id.Run) error {
	return fault.New(fault.RunClosed, "run %s has ended: no event follows its last one", run)
}

// run returns the run with an id, or the one that is made for a name.
func (s Seams) run(ctx context.Context, by engine.Caller, seed id.Seed, name string) (engine.Position, error) {
	if _, err := id.ParseRun(name); err == nil {
		return s.runs.Find(ctx, name)
	}
	at, n, open, err := s.named(ctx, by, name)
	if err != nil || open {
		return at, err
	}
	created, err := s.runs.Create(ctx, by, seed, hosting.Request{Body: openwop.CreateRun{WorkflowID: Workflow}, Key: key(name, n),
		Definition: s.definition, Allow: func(context.Context, engine.Definition) error { return nil }})
	return created.At, err
}

// key is the idempotency key of the n-th run that is made for a name.
func key(name string, n int) string { return "test-run:" + strconv.Itoa(n) + ":" + name }

// named returns the latest run that was made for a name, and whether it is open. n is the number of the next one.
func (s Seams) named(ctx context.Context, by engine.Caller, name string) (at engine.Position, n int, open bool, err error) {
	for ; ; n++ {
		found, ok, err := s.e.Starts().Find(ctx, startkey.OfRequest(by.Actor.Ref, key(name, n)), Workflow)
		if err != nil || !ok {
			return at, n, false, err
		}
		at = engine.Position{Session: found.Session, Run: found.Run}
		h := s.e.NewHistory(found.Session)
		p, err := h.OpenRun(ctx, at)
		if err != nil {
			return at, n, false, err
		}
		if at.Node = p.Run.Tip; p.Run.Closed == nil && p.Run.CancelRequested == nil {
			s.e.NoteHome(found.Run, found.Session)
			return at, n, true, nil
		}
	}
}

// Filter selects run events. Its zero value selects all.
type Filter struct{ Type, CausationID, NodeID string }

// Events returns the run events of a run, or of the one that is made for a name, none for a name without one.
func (s Seams) Events(ctx context.Context, by engine.Caller, name string, f Filter) ([]openwop.RunEvent, error) {
	out := []openwop.RunEvent{}
	if _, err := id.ParseRun(name); err != nil {
		at, _, open, err := s.named(ctx, by, name)
		if err != nil || !open {
			return out, err
		}
		name = at.Run.String()
	} else if _, err := s.runs.Find(ctx, name); err != nil {
		return out, err
	}
	_, err := s.wire.Each(ctx, name, -1, func(events []openwop.RunEvent) error {
		for _, e := range events {
			if (f.Type == "" || f.Type == string(e.Type)) && (f.CausationID == "" || f.CausationID == e.CausationID) &&
				(f.NodeID == "" || f.NodeID == e.NodeID) {
				out = append(out, e)
			}
		}
		return nil
	})
	return out, err
}

// Reset ends the runs that were made for names of a caller, so that a name has another run from then on. Runs that a test
// created itself are not touched: other tests may be at work with theirs.
func (s Seams) Reset(ctx context.Context, by engine.Caller) (n int, err error) {
	var open []engine.Position
	err = s.runs.Open(ctx, func(at engine.Position, _ bool) { open = append(open, at) }, func(id.Session, error) {})
	for _, at := range open {
		if err != nil {
			break
		}
		h := s.e.NewHistory(at.Session)
		p, readErr := h.OpenRun(ctx, at)
		if readErr != nil || p.Run.Started.WorkflowID != Workflow {
			continue
		}
		if _, err = s.runs.Cancel(ctx, by, at.Run.String(), "the test is over"); err == nil {
			n++
		}
	}
	return n, err
}
