// Package perform carries out a run from its preferred tip: it reads the
// pending step, lets a command or a person perform it, and sends the outcome to
// the engine as an attempt, until the run is complete or has to wait
// (docs/design.md#requirements-on-the-caller,
// docs/design.md#commands-and-trust).
//
// It is a caller of durable/engine like any other: it decides nothing about a
// run and appends nothing itself. It starts no process and prints nothing;
// commands, the person, the lock and the display are ports. Start reading at
// Performer.Perform; step.go has the loop of one step.
package perform

import (
	"cmp"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Engine has the use cases that a performer calls; *engine.Engine implements
// it.
type Engine interface {
	// Rehydrate returns what is pending at a position and appends nothing.
	Rehydrate(ctx context.Context, at engine.Position) (engine.Answer, error)
	// Workflow returns the workflow with a hash that a run is pinned to.
	Workflow(ctx context.Context, hash canon.Digest) (compile.Compiled, error)
	// Ledger returns the audit log of the store, which distinguishes imported events.
	Ledger() *ledger.Ledger
	// Perform makes an attempt under a live hold of the session; a repeated
	// call with the same attempt id is answered from the log.
	Perform(ctx context.Context, hold ports.Hold, by engine.Caller, at engine.Position, attempt id.Attempt,
		req advance.Request) (engine.Answer, error)
	// Approvable returns the outputs that an approval at a position would be
	// bound to.
	Approvable(ctx context.Context, by engine.Caller, at engine.Position) (engine.Approvable, error)
	// MayDecide returns the refusal of a decision about what was shown, nil if
	// it would be recorded.
	MayDecide(ctx context.Context, by engine.Caller, shown engine.Approvable, word event.DecisionWord) error
	// Decide records a person's decision about exactly what was shown.
	Decide(ctx context.Context, by engine.Caller, shown engine.Approvable, word event.DecisionWord,
		reason string) (engine.Answer, error)
	// Fail ends a run as failed, under a live hold of the session; what is recorded is not changed.
	Fail(ctx context.Context, hold ports.Hold, by engine.Caller, at engine.Position, reason string) (engine.Cancelled, error)
	// Close ends a run whose cancellation was requested, after its performer
	// has stopped.
	Close(ctx context.Context, by engine.Caller, at engine.Position) (engine.Cancelled, error)
}

// Performer carries out runs of one store, one at a time. All fields but Hosts and
// Watch are required.
type Performer struct {
	Engine     Engine
	Logs       ports.Logs
	Commands   ports.Commands
	Person     ports.Person
	Performers ports.Performers
	Display    Display

	Pins ports.Pins

	// Hosts performs the steps of the HTTP host: host.Perform. nil: they are left to it, with RUN_WAITING
	// (docs/design.md#host-steps).
	Hosts func(host.Step) (host.Result, error)

	// Trusted returns what was fixed when a person trusted a version of a
	// workflow, false if it is not trusted; Remember records that a person just did, for
	// all later calls.
	Trusted  func(ctx context.Context, hash canon.Digest) (trust.Fixed, bool, error)
	Remember func(ctx context.Context, w compile.Compiled, fixed trust.Fixed) error
	// EachStep asks Trusted before each step: a person who is not present may revoke trust while the run is performed.
	EachStep bool
	// TrustedBefore reports whether a person trusted a version of a workflow at any
	// time, in any place, also if that was revoked.
	TrustedBefore func(ctx context.Context, hash canon.Digest) (bool, error)
	// OnlyOnce says why Remember would fail; "" if it would not, nil: it never does.
	OnlyOnce func(ctx context.Context) string

	// By is the caller of attempts and approvals; the times are those of NowMs.
	By    engine.Caller
	NowMs func() int64
	// Pause waits for a number of milliseconds, or returns ctx's error if that
	// ends first.
	Pause func(ctx context.Context, ms int64) error
	// Watch waits like Pause, in another goroutine that polls the log. nil:
	// Pause is used, and must then be safe for two goroutines.
	Watch func(ctx context.Context, ms int64) error
	// OfStore returns a command with the flags that select the store.
	OfStore func(fault.Command) fault.Command
	// ContinueLine returns the command line that continues a run, with more flags
	// appended.
	ContinueLine func(run id.Run, more ...string) fault.Command
	// SubmitLine returns the command line that submits outputs without performing
	// the run.
	SubmitLine func(run id.Run, more ...string) fault.Command
	// ApproveLine returns the command line that approves the pending step of a
	// run, with more flags appended.
	ApproveLine func(run id.Run, more ...string) fault.Command

	// allowed is the workflow version whose commands may run in this process, and
	// fixed what its checks depend on.
	allowed canon.Digest
	fixed   trust.Fixed
}

// Options are answers given before the run starts, usually as flags.
type Options struct {
	// At is the node to continue from, zero for the preferred tip. A node that
	// the run has left is continued on a branch.
	At id.Node
	// Trust is the version of a workflow whose commands may run in this call,
	// zero for none. A run that is pinned to another version gains nothing.
	Trust   canon.Digest
	Yes     bool        // confirms every step that waits for a confirmation
	Notes   *string     // notes for every person step; nil: none
	Context canon.Value // sent with the first attempt of this call
	// Expect is the attempt that the caller has seen as the next one of the run, zero for any. If
	// another process was faster, nothing is performed and the error is ErrMoved.
	Expect id.Attempt
	// Answer is that of the pending step, a gate of the host.
	Answer *host.Answer
	// Only leaves the run with ErrStepped behind the pending step: what was given is for this step.
	Only bool
	// NoWait leaves a run at a step that waits, also if a person is present who could watch the clock, and
	// at a delay of the host: Report.ResumeAtMs is when to call again.
	NoWait bool
	// Preferences are sent with the first attempt as well, and are in force for
	// it.
	Preferences []event.PreferenceChange
}

// Report describes what a call did.
type Report struct {
	Session   id.Session
	Run       id.Run
	Workflow  string // its name
	Performed int    // steps that were acknowledged in this call
	ElapsedMs int64
	// ResumeAtMs is the moment until which the run waits, in milliseconds since 1970 UTC; 0: it waits for
	// none.
	ResumeAtMs int64
	// LastIndex is that of the run's last activity as this call has read it, before its last attempt.
	LastIndex int64
	// Already reports that the run was complete before this call.
	Already bool
	// Last is the answer at which the run is now.
	Last engine.Answer
	// Suspected are the warnings about secrets in what this call recorded
	// (docs/design.md#warnings-about-secrets).
	Suspected []Suspected
}

// Suspected is a warning about a secret that an attempt at a step recorded.
type Suspected struct {
	StepID string
	warning.Warning
}

// Perform carries out a run from its preferred tip, or from Options.At, to its
// end. nil reports that the run is complete. Any error states where the run stopped, why, and how to
// continue; everything that was acknowledged before is recorded.
//
// Errors: RUN_WAITING if a person is required and not present, RUN_BLOCKED if
// an attempt was refused, STEP_FAILED if a command failed, WORKFLOW_UNTRUSTED,
// RUN_CLOSED, RUN_PAUSED, RUN_BUSY if another process performs the session or the lease was lost
// (docs/design.md#leases), INTERRUPTED if the context ended, and those of the store. After says what follows them.
func (p *Performer) Perform(ctx context.Context, session id.Session, run id.Run, o Options) (Report, error) {
	w := &execution{Performer: p, opts: o, began: p.NowMs(), view: newView(session, run)}
	w.Person = person{p.Person, w.goBack}
	w.watch.log, w.watch.run = w.view.log, run
	w.report.Session, w.report.Run = session, run
	err := w.perform(ctx)
	w.report.ElapsedMs = p.NowMs() - w.began
	w.report.Last = w.answer
	if r := w.view.run(); r != nil {
		w.report.LastIndex = r.LastIndex
	}
	return w.report, w.withRecovery(ctx, err)
}

// ErrMoved reports that the run is not where the caller has seen it: see Options.Expect.
var ErrMoved = errors.New("another process has continued the run")

// ErrStepped reports that the pending step is accepted, and that no other was to be performed: see Options.Only.
var ErrStepped = errors.New("the step is accepted, and the run has more")

// execution is one call of Perform.
type execution struct {
	*Performer
	Person person // that of the Performer, who can go back
	opts   Options
	view   *sessionView
	hold   ports.Hold // while the steps are performed
	watch  logWatch
	flow   compile.Compiled
	answer engine.Answer // of the last call to the engine
	branch id.Node       // the node of answer, if another one than the preferred tip; else zero
	began  int64
	report Report
}

// perform locates the tip, takes the performer's lock and performs the steps.
// After the lock is released, finish closes a run whose end was requested
// meanwhile.
func (e *execution) perform(ctx context.Context) error {
	// A complete or closed run needs no lock, so nothing is written for it.
	if err := e.locateStart(ctx); err != nil {
		return err
	}
	if e.answer.IsComplete {
		e.report.Already = true
		return nil
	}
	// A run whose end is only requested needs a performer to close it.
	if err := e.checkOpen(); err != nil && e.answer.Status != runs.Cancelling {
		return err
	}
	held := false
	err := ports.WithHold(ctx, e.Performers, e.report.Session, func(h ports.Hold) error {
		held, e.hold = true, h
		return e.performSteps(ctx)
	})
	if !held {
		return err
	}
	if err != nil && e.hold.IsLost() || isLostLease(err) {
		return e.lostLease(ctx, err)
	}
	return e.finish(ctx, err)
}

// caller is the caller of a call to the engine now.
func (e *execution) caller() engine.Caller {
	by := e.By
	by.AtMs = e.NowMs()
	return by
}

// performSteps performs step after step while this process holds the
// performer's lock.
func (e *execution) performSteps(ctx context.Context) error {
	// Another performer may have advanced the run before the lock was taken.
	if moved, err := e.view.refresh(ctx, e.Logs); err != nil {
		return err
	} else if moved {
		if err := e.locateTip(ctx); err != nil {
			return err
		}
	}
	if !e.opts.Expect.IsZero() && e.opts.Expect != e.answer.AttemptID {
		return ErrMoved
	}
	if err := e.Engine.Ledger().RefuseHandedOver(ctx, e.report.Session, e.view.fold); err != nil {
		return err // before a command runs
	}
	e.watch.head, e.watch.requested, e.watch.pause = e.view.fold.Head, e.view.run().CancelRequested, e.view.run().Pause
	if err := e.checkOpen(); err != nil {
		return err
	}
	ctx, leave := e.hold.Within(ctx)
	defer leave()
	ctx, stop := e.watchForEnd(ctx)
	defer stop()
	e.Display.RunOpened(e.runView())
	for !e.answer.IsComplete {
		err := cmp.Or(ctx.Err(), e.checkOpen(), e.checkPaused(ctx))
		if err == nil {
			err = e.step(ctx)
		}
		if err == errWentBack || err == errSentBack {
			continue
		}
		if err != nil {
			return err
		}
		e.report.Performed++
		if e.opts.Only && !e.answer.IsComplete {
			return ErrStepped
		}
	}
	return nil
}

// locateTip sets answer and workflow to those of the run's preferred tip, or of
// the node at which a branch begins.
func (e *execution) locateTip(ctx context.Context) error {
	if _, err := e.view.refresh(ctx, e.Logs); err != nil {
		return err
	}
	tip, err := e.view.tip()
	if err != nil {
		return err
	}
	if !e.branch.IsZero() {
		tip.Node = e.branch
	}
	if e.answer, err = e.Engine.Rehydrate(ctx, tip); err != nil {
		return err
	}
	e.report.Workflow = e.answer.Workflow.Name
	if e.flow.Hash() == e.answer.Workflow.WorkflowHash {
		return nil
	}
	e.flow, err = e.Engine.Workflow(ctx, e.answer.Workflow.WorkflowHash)
	return err
}
