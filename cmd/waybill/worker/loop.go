package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// How a worker rests.
const (
	// lookPause is how long a worker rests at least before it looks at the store again; a store that takes long to look at is
	// looked at less often, by lookShare of the time that it takes. lookPauseMax is how long it waits for a change: the lease
	// of a performer that ended is free without one.
	lookPause    = 500 * time.Millisecond
	lookShare    = 20
	lookPauseMax = 5 * time.Second
	// retryPause is how long a run rests whose store could not be read or written, doubled with each time up to retryPauseMax.
	retryPause    = time.Second
	retryPauseMax = time.Minute
	// passedFor is after which time a run is tried again that could not be continued and has not changed: what it waits for may
	// be outside of its log.
	passedFor = 5 * time.Minute
)

// worker performs the runs that its store hands out. Its methods are called from one goroutine.
type worker struct {
	work ports.Work
	// perform performs a claimed run as far as it goes, and ends its lease.
	perform func(context.Context, ports.Claim) (perform.Report, error)
	// explain returns an error as it is shown, imported why an imported run is left alone.
	explain  func(error) *fault.Fault
	imported func(id.Run) *fault.Fault
	trusts   func(context.Context, canon.Digest) (trust.Fixed, bool, error)
	nowMs    func() int64
	tags     []string
	most     int
	once     bool
	out      *report
	// changed waits as a pause says. The error is that of ctx.
	changed func(context.Context, pause) error

	active  int
	ended   chan performed
	passed  map[id.Run]passed
	without map[canon.Digest]bool // workflows that are not trusted
	full    passed                // until when nothing is begun, since the disk is full
	away    time.Duration         // how long the worker rested last, since the store cannot be reached; 0: it can be
	outages int                   // how often that began
}

// begun returns a worker that has performed nothing.
func (w worker) begun() *worker {
	w.ended, w.passed, w.without = make(chan performed, w.most), map[id.Run]passed{}, map[canon.Digest]bool{}
	return &w
}

// passed is a run that could not be continued.
type passed struct {
	lastIndex int64
	untilMs   int64
	pause     time.Duration // of a run that is to be retried
	message   string        // why it could not be continued, as it was reported
}

// performed is what became of a claim.
type performed struct {
	claim  ports.Claim
	report perform.Report
	err    error
}

// run performs runs until ctx ends, with once until nothing is ready. It returns after all commands have ended. The error is that of
// ctx, or of a store that cannot be used.
func (w *worker) run(ctx context.Context) (err error) {
	for ctx.Err() == nil && w.out.failed() == nil {
		var pause pause
		if w.active < w.most {
			var claimed bool
			if claimed, pause, err = w.take(ctx); claimed {
				continue
			}
			if err != nil || w.once && w.active == 0 {
				break // also with a full disk
			}
		}
		w.rest(ctx, pause)
	}
	for w.active > 0 {
		w.finish(<-w.ended)
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// pause is how long a worker rests before it looks at the store again: at least soon, then until a change, at most until late.
type pause struct{ soon, late time.Duration }

// until returns a pause of at most a number of milliseconds.
func (p pause) until(ms int64) pause {
	due := time.Duration(max(0, ms)) * time.Millisecond
	return pause{min(p.soon, due), min(p.late, due)}
}

// take begins to perform a run. Without one it returns how long the worker rests. The error is of a store that cannot be used.
func (w *worker) take(ctx context.Context) (claimed bool, rest pause, err error) {
	if ms := w.full.untilMs - w.nowMs(); ms > 0 {
		full := time.Duration(ms) * time.Millisecond
		return false, pause{full, full}, nil
	}
	began := time.Now()
	c, err := w.work.Claim(ctx, w.query(ctx))
	switch {
	case err != nil && ctx.Err() != nil:
		return false, rest, nil
	case fault.Is(err, fault.StoreUnreachable) && !w.once:
		return false, w.await(err), nil
	case err != nil:
		return false, rest, err
	}
	w.away = 0
	if c.Run.IsZero() {
		w.leave(c.Rest)
		rest = pause{min(max(lookPause, lookShare*time.Since(began)), lookPauseMax), lookPauseMax}
		if at := c.Rest.NextAtMs; at != 0 {
			rest = rest.until(at - w.nowMs())
		}
		for _, p := range w.passed {
			if ms := p.untilMs - w.nowMs(); p.pause > 0 && ms > 0 {
				rest = rest.until(ms)
			}
		}
		return false, rest, nil
	}
	w.active++
	w.out.active(w.active)
	go func() {
		r, err := w.perform(ctx, c)
		w.ended <- performed{c, r, err}
	}()
	return true, rest, nil
}

// await reports a store that cannot be reached, once until it can be, and returns how long the worker rests.
func (w *worker) await(err error) pause {
	if w.away == 0 {
		w.outages++
		w.out.left(w.explain(err), ports.Claim{}, fmt.Sprintf("outage %d", w.outages))
	}
	w.away = min(longer(w.away), lookPauseMax)
	return pause{w.away, w.away}
}

// query is what the worker can perform now.
func (w *worker) query(ctx context.Context) ports.WorkQuery {
	for hash := range w.without {
		if _, ok, err := w.trusts(ctx, hash); err == nil && ok {
			delete(w.without, hash)
		}
	}
	now := w.nowMs()
	q := ports.WorkQuery{Tags: w.tags, NowMs: now, Passed: map[id.Run]int64{}, Without: maps.Clone(w.without)}
	for run, p := range w.passed {
		if p.untilMs > now {
			q.Passed[run] = p.lastIndex
		} else if p.untilMs+2*retryPauseMax.Milliseconds() < now {
			delete(w.passed, run)
		}
	}
	return q
}

// rest waits until a run has ended, or the store may have changed.
func (w *worker) rest(ctx context.Context, p pause) {
	looks, stop := context.WithCancel(ctx)
	defer stop()
	changed := make(chan struct{})
	if w.active < w.most {
		go func() {
			if w.changed(looks, p) == nil {
				close(changed)
			}
		}()
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case done := <-w.ended:
		w.finish(done)
	}
}

// finish reports what became of a run, and passes it if it could not be continued.
func (w *worker) finish(d performed) {
	w.active--
	w.out.active(w.active)
	run, outcome := d.claim.Run, outcomeOf(d.report, d.err)
	before := w.passed[run]
	delete(w.passed, run)
	item := document.WorkItem{Event: unattended.WorkRun, SessionID: d.claim.Session, RunID: run, Outcome: outcome, Performed: d.report.Performed}
	message := ""
	if d.err != nil && outcome != unattended.WorkEnded && !errors.Is(d.err, perform.ErrMoved) {
		item.Error = document.DueFaultOf(w.explain(d.err))
		message = item.Error.Message
	}
	now, lastIndex := w.nowMs(), max(d.report.LastIndex, d.claim.LastIndex)
	if fault.Is(d.err, fault.StoreFull) {
		// Each command would run, and its result would not be recorded.
		w.full = passed{pause: longer(w.full.pause)}
		w.full.untilMs = now + w.full.pause.Milliseconds()
	} else if d.report.Performed > 0 {
		w.full = passed{}
	}
	switch code := fault.CodeOf(d.err); {
	case outcome == unattended.WorkComplete, outcome == unattended.WorkEnded, outcome == unattended.WorkStopped, code == fault.RunPaused,
		perform.After(d.report, d.err).AtMs != 0: // it is not handed out before its time
	case code == fault.WorkflowUntrusted, code == fault.PolicyUnconfirmed:
		// The commands of the workflow wait for a person; that is reported once for all its runs.
		w.without[d.claim.Workflow] = true
		if d.report.Performed == 0 {
			w.out.left(w.explain(d.err), d.claim, d.claim.Workflow.String())
			return
		}
	case outcome == unattended.WorkRetried:
		pause := longer(before.pause)
		w.passed[run] = passed{lastIndex, now + pause.Milliseconds(), pause, message}
	default:
		w.passed[run] = passed{lastIndex: lastIndex, untilMs: now + passedFor.Milliseconds(), message: message}
	}
	if message == "" || message != before.message || lastIndex != before.lastIndex { // else it was reported
		w.out.run(item)
	}
}

// longer returns the pause after a pause that did not help.
func longer(pause time.Duration) time.Duration { return min(max(retryPause, 2*pause), retryPauseMax) }

// leave reports what the worker leaves alone.
func (w *worker) leave(rest ports.Rest) {
	sorting.Stable(rest.Left, func(a, b ports.Left) int { return a.Session.Compare(b.Session) })
	for _, l := range rest.Left {
		f := w.explain(l.Err)
		if f.Code == fault.RunWaiting {
			f = w.imported(l.Run)
		}
		w.out.left(f, ports.Claim{Session: l.Session, Run: l.Run}, l.Session.String()+l.Run.String()+f.Message)
	}
}

// outcomeOf returns how far a run got. The error states why it stopped.
func outcomeOf(report perform.Report, err error) unattended.WorkOutcome {
	next := perform.After(report, err)
	switch code := fault.CodeOf(err); {
	case err == nil && report.Last.Status != runs.Failed:
		return unattended.WorkComplete
	case code == fault.RunClosed:
		return unattended.WorkEnded
	case code == fault.Interrupted, errors.Is(err, context.Canceled):
		return unattended.WorkStopped
	case errors.Is(err, perform.ErrMoved), code == fault.RunBusy:
		return unattended.WorkBusy
	case next.Retry:
		return unattended.WorkRetried
	case fault.ExitOf(err) == fault.ExitWaiting, code == fault.PolicyUnconfirmed:
		return unattended.WorkWaiting
	}
	return unattended.WorkFailed
}
