// Package perform carries a run to its end: it looks at what is pending, lets the
// right performer do it, and sends what came of it to the engine as an attempt,
// until nothing is pending or somebody has to be waited for (R20, R24).
//
// It is a caller of the engine like any other. It starts no process and draws
// nothing: commands, the person, the lock and the screen are ports.
package perform

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Engine is what a performer asks of the engine.
type Engine interface {
	// Rehydrate answers what is pending at a position and writes nothing.
	Rehydrate(ctx context.Context, at engine.Position) (engine.Answer, error)
	// Pinned is a workflow that a run is bound to.
	Pinned(ctx context.Context, hash canon.Digest) (compile.Compiled, error)
	// Advance carries an attempt; the same one again is answered from the log.
	Advance(ctx context.Context, by engine.Caller, at engine.Position, attempt id.Attempt,
		req advance.Request) (engine.Answer, error)
	// Approvable reads what an approval at a position would be bound to.
	Approvable(ctx context.Context, by engine.Caller, at engine.Position) (engine.Approvable, error)
	// ApproveShown records a person's approval of what they were shown, and of nothing else.
	ApproveShown(ctx context.Context, by engine.Caller, shown engine.Approvable, comment string) (engine.Answer, error)
	// Close ends a run whose cancellation was asked for, when nothing of it is under
	// way any more.
	Close(ctx context.Context, by engine.Caller, at engine.Position) (engine.Cancelled, error)
}

// Performer carries out runs of one store, one at a time. All fields but Watch are needed.
type Performer struct {
	Engine     Engine
	Logs       ports.Logs
	Commands   ports.Commands
	Person     ports.Person
	Performers ports.Performers
	Display    Display

	// Trusted tells whether a person has trusted a version of a workflow; Remember
	// records that one just did, for all later calls.
	Trusted  func(ctx context.Context, hash canon.Digest) (bool, error)
	Remember func(ctx context.Context, w compile.Compiled) error

	Actor event.Actor
	NowMs func() int64
	// Pause waits, or returns ctx's error when that ends first.
	Pause func(ctx context.Context, ms int64) error
	// Watch waits as Pause does, while something else is under way or pauses itself.
	// nil: Pause, which then has to stand being called by two goroutines.
	Watch func(ctx context.Context, ms int64) error
	// GoOn is the command line that takes a run up again, with more flags behind it.
	GoOn func(run id.Run, more ...string) string
	// HandIn is the command line that hands something in from elsewhere.
	HandIn func(run id.Run, more ...string) string
	// ApproveLine is the command line that approves what a run waits with.
	ApproveLine func(run id.Run) string

	allowed canon.Digest // the version that may run commands in this call
}

// Options are what a person said beforehand.
type Options struct {
	Trust   bool        // commands may run, for this call
	Yes     bool        // every confirmation is given
	Notes   *string     // the answer of every person step; nil: none given
	Context canon.Value // sent with the first attempt of this call
	// Preferences go with the first attempt too, and count for it already.
	Preferences []event.PreferenceChange
}

// Report is what a call did.
type Report struct {
	Session   id.Session
	Run       id.Run
	Workflow  string // its name
	Performed int    // steps that this call had acknowledged
	ElapsedMs int64
	// Already says that the run was complete before this call.
	Already bool
	// Last is the answer that the run stands at now.
	Last engine.Answer
}

// Perform carries a run from its preferred tip to its end. A nil error says that
// it is complete; any other says where it stopped, why, and how to go on. What was
// acknowledged before is recorded in any case.
func (p *Performer) Perform(ctx context.Context, session id.Session, run id.Run, o Options) (Report, error) {
	w := &work{Performer: p, opts: o, began: p.NowMs(), view: newView(session, run)}
	w.watch = watch{log: w.view.log, run: run}
	w.report.Session, w.report.Run = session, run
	err := w.perform(ctx)
	w.report.ElapsedMs = p.NowMs() - w.began
	w.report.Last = w.answer
	return w.report, w.stopped(ctx, err)
}

// work is one call of Perform.
type work struct {
	*Performer
	opts   Options
	view   *view
	watch  watch
	flow   compile.Compiled
	answer engine.Answer // where the run stands
	began  int64
	report Report
}

func (w *work) perform(ctx context.Context) error {
	// What is complete or closed needs no lock, and so writes nothing at all.
	if err := w.find(ctx); err != nil {
		return err
	}
	if w.answer.IsComplete {
		w.report.Already = true
		return nil
	}
	// One whose end is only asked for waits for a performer to close it.
	if err := w.closed(); err != nil && w.answer.Status != projections.Cancelling {
		return err
	}
	release, err := w.Performers.Hold(ctx, w.report.Session)
	if err != nil {
		return err
	}
	err = w.carry(ctx)
	// The end of the process lets go of it in any case.
	_ = release()
	return w.finish(ctx, err)
}

// carry performs step after step while this process is the run's only performer.
func (w *work) carry(ctx context.Context) error {
	// Another performer may have been at work until a moment ago.
	if moved, err := w.view.refresh(ctx, w.Logs); err != nil {
		return err
	} else if moved {
		if err := w.find(ctx); err != nil {
			return err
		}
	}
	w.watch.head, w.watch.requested = w.view.fold.Head, w.view.run().CancelRequested
	if err := w.closed(); err != nil {
		return err
	}
	ctx, stop := w.watched(ctx)
	defer stop()
	w.Display.RunOpened(w.runView())
	for !w.answer.IsComplete {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.closed(); err != nil {
			return err
		}
		if err := w.step(ctx); err != nil {
			return err
		}
		w.report.Performed++
	}
	return nil
}

// find brings answer and workflow to the run's preferred tip.
func (w *work) find(ctx context.Context) error {
	if _, err := w.view.refresh(ctx, w.Logs); err != nil {
		return err
	}
	tip, err := w.view.tip()
	if err != nil {
		return err
	}
	if w.answer, err = w.Engine.Rehydrate(ctx, tip); err != nil {
		return err
	}
	w.report.Workflow = w.answer.Workflow.Name
	if w.flow.Hash() == w.answer.Workflow.WorkflowHash {
		return nil
	}
	w.flow, err = w.Engine.Pinned(ctx, w.answer.Workflow.WorkflowHash)
	return err
}
