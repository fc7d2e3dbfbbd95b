package perform

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// watchMs is how often the log is looked at for a request to end the run while
// something is under way: a command should be dead well within a second. A look
// that finds nothing new reads one group of lines.
const watchMs = 200

// errCancelled ends what is under way when somebody asked for the run to end.
var errCancelled = errors.New("the end of the run was asked for")

// watch is the performer's look at its log from the side, while it or a person is
// busy. It keeps nothing but what it looks for, so that it costs the same however
// long the run is.
type watch struct {
	log  manifest.Log
	run  id.Run
	head manifest.Head

	requested *event.RunCancelRequested
	closed    *event.RunClosed
}

// Reset starts over.
func (w *watch) Reset() { w.head, w.requested, w.closed = manifest.Head{}, nil, nil }

// Visit takes from a segment what asks for the run's end, or is it.
func (w *watch) Visit(seg manifest.Segment, head manifest.Head) error {
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
	}
	w.head = head
	return nil
}

// look reads on.
func (w *watch) look(ctx context.Context, logs ports.Logs) error {
	_, err := logs.Read(ctx, ports.Reading{Log: w.log, From: w.head}, w)
	if errors.Is(err, manifest.ErrNotOnChain) {
		w.Reset()
		_, err = logs.Read(ctx, ports.Reading{Log: w.log}, w)
	}
	return err
}

func (w *watch) ended() bool { return w.requested != nil || w.closed != nil }

// watched gives a context that ends as soon as somebody asked for the run to end.
// stop waits until nobody looks any more. What keeps a look from succeeding is not
// told: the performer meets it itself where it matters.
func (w *work) watched(ctx context.Context) (within context.Context, stop func()) {
	wait := w.Watch
	if wait == nil {
		wait = w.Pause
	}
	within, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait(within, watchMs) == nil {
			if w.watch.look(within, w.Logs) == nil && w.watch.ended() {
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

// finish closes a run whose end was asked for. It is called when nothing is under
// way any more and the performer's lock is let go: whoever asks from then on finds
// the lock free and closes the run themselves, and who asked before is seen here.
// err is how the work ended by itself.
func (w *work) finish(ctx context.Context, err error) error {
	if err == nil && w.answer.IsComplete {
		return nil // the engine refuses the last step of a run whose end is asked for
	}
	ctx = context.WithoutCancel(ctx)
	// What cannot be read now, the next performer or canceller closes.
	_ = w.watch.look(ctx, w.Logs)
	if w.watch.closed == nil && w.watch.requested == nil {
		return err
	}
	how, closeErr := w.Engine.Close(ctx, engine.Caller{Actor: w.Actor, AtMs: w.NowMs()}, w.view.at)
	if closeErr != nil {
		return fmt.Errorf("closing the run: %w", closeErr)
	}
	w.answer.Status = how.Status
	return w.about(fault.New(fault.RunClosed, "run %s was %s at %s: %s", w.report.Run, word(how.Status), w.place(),
		how.Reason)).
		With("status", string(how.Status)).With("reason", how.Reason)
}

// word is a status in a sentence about what was done to a run.
func word(s projections.Status) string {
	if s == projections.Failed {
		return "ended as failed"
	}
	return string(s)
}
