package perform

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// watchMs is the interval in milliseconds at which the log is polled for a
// cancellation while a step is performed: a command should end well within a
// second. A poll that finds nothing new reads one group of lines.
const watchMs = 200

// errCancelled is the cause of the context that ends when the run's end is
// requested.
var errCancelled = errors.New("the end of the run was requested")

// logWatch polls a session's log for the end of a run and for its pause while the performer or a
// person is busy. It keeps only what it looks for, so that its memory does not
// depend on the length of the run.
type logWatch struct {
	log manifest.Log
	run id.Run

	mu        sync.Mutex // two goroutines poll
	head      manifest.Head
	requested *event.RunCancelRequested
	closed    *event.RunClosed
	pause     *runs.Pause
}

// Visit implements ports.Visitor. It keeps the request for the run's end, the end, and the pause.
func (w *logWatch) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, e := range seg.Events {
		if e.Scope.RunID != w.run {
			continue
		}
		switch p := e.Data.(type) {
		case event.RunCancelRequested:
			w.requested = &p
		case event.RunClosed:
			w.closed = &p
		}
		w.pause = w.pause.After(e)
	}
	w.head = head
	return nil
}

// poll reads what is new in the log. A replaced log is read from its beginning.
func (w *logWatch) poll(ctx context.Context, logs ports.Logs) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := ports.Continue(ctx, logs, ports.ReadRequest{Log: w.log, From: w.head},
		func(from manifest.Head) ports.Visitor {
			if from.IsZero() {
				w.head, w.requested, w.closed, w.pause = from, nil, nil, nil
			}
			return w
		})
	return err
}

// ending reports that the run's end was requested or recorded.
func (w *logWatch) ending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requested != nil || w.closed != nil
}

// paused returns the pause that was in force at the last poll, nil without one.
func (w *logWatch) paused() *runs.Pause {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.pause.InForce() {
		return nil
	}
	return w.pause
}

// checkPaused refuses to begin a step of a run that is paused, with RUN_PAUSED. The log is polled first: another process
// pauses a run. One that begins in the same moment is in progress, and its attempt is recorded (docs/design.md#pauses).
func (e *execution) checkPaused(ctx context.Context) error {
	_ = e.watch.poll(ctx, e.Logs)
	if p := e.watch.paused(); p != nil {
		return e.pausedFault(session.PausedRun{Reason: p.Reason, SinceMs: p.AtMs})
	}
	return nil
}

// pausedFault is RUN_PAUSED at the pending step.
func (e *execution) pausedFault(p session.PausedRun) error {
	f := session.Paused(e.report.Run, p)
	f.Suggestion = fault.Suggest("Resume it with %s.", e.OfStore(fault.Command{"runs", "resume", e.report.Run.String()}))
	return e.withIDs(f)
}

// watchForEnd returns a context that is cancelled when the run's end is
// requested. stop ends the polling and waits for it. Errors of polling are
// ignored: the performer meets them itself where they matter.
func (e *execution) watchForEnd(ctx context.Context) (within context.Context, stop func()) {
	wait := e.Watch
	if wait == nil {
		wait = e.Pause
	}
	within, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait(within, watchMs) == nil {
			if e.watch.poll(within, e.Logs) == nil && e.watch.ending() {
				cancel(errCancelled)
				return
			}
		}
	}()
	return within, func() {
		cancel(nil)
		<-done
	}
}

// finish closes a run whose end was requested. It is called after all work has
// stopped and the performer's lock is released: a canceller that comes later
// finds the lock free and closes the run itself, and the request of an earlier
// one is found here. err is the result of the work and is returned if no end
// was requested.
func (e *execution) finish(ctx context.Context, err error) error {
	if err == nil && e.answer.IsComplete {
		return nil // after a request the engine refuses the last step, so there was none
	}
	ctx = context.WithoutCancel(ctx)
	// If the log cannot be read now, the next performer or canceller closes the
	// run.
	_ = e.watch.poll(ctx, e.Logs)
	if e.watch.closed == nil && e.watch.requested == nil {
		return err
	}
	end, closeErr := e.Engine.Close(ctx, e.caller(), e.view.at)
	if closeErr != nil {
		return fmt.Errorf("closing the run: %w", closeErr)
	}
	e.answer.Status = end.Status
	return e.withIDs(fault.New(fault.RunClosed, "run %s was %s at %s: %s", e.report.Run, statusPhrase(end.Status),
		e.stepPhrase(),
		end.Reason)).
		With("status", string(end.Status)).With("reason", end.Reason)
}

// statusPhrase is a status in a sentence about the end of a run.
func statusPhrase(s runs.Status) string {
	if s == runs.Failed {
		return "ended as failed"
	}
	return string(s)
}
