package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/ports"
)

// world is a worker over runs in memory, with a clock that only rests move.
type world struct {
	*worker
	clock    int64
	until    int64 // when the world ends
	cancel   func()
	runs     []ports.Claim // that are ready
	claimErr error
	queries  []ports.WorkQuery
	calls    []int64 // the times at which runs were performed
	answer   func(ports.Claim) (perform.Report, error)
	rests    []int64      // how long the worker rested, in milliseconds
	out      bytes.Buffer // hides the report
}

// newWorld returns a worker that performs at most one run at once.
func newWorld(runs int, answer func(ports.Claim) (perform.Report, error)) *world {
	w := &world{answer: answer}
	for i := range runs {
		s := id.Seed{byte(i + 1)}
		w.runs = append(w.runs, ports.Claim{Session: id.NewSession(s), Run: id.NewRun(s), LastIndex: 7, Workflow: canon.Sum([]byte{1})})
	}
	a := &cli.App{Process: cli.Process{Out: &w.out, Clock: func() time.Time { return time.UnixMilli(w.clock) }}}
	w.worker = worker{work: w, most: 1, out: newReport(a), nowMs: func() int64 { return w.clock },
		explain:  fault.Of,
		imported: func(id.Run) *fault.Fault { return fault.New(fault.RunWaiting, "imported") },
		trusts:   func(context.Context, canon.Digest) (trust.Fixed, bool, error) { return trust.Fixed{}, false, nil },
		perform: func(_ context.Context, c ports.Claim) (perform.Report, error) {
			w.calls = append(w.calls, w.clock)
			return w.answer(c)
		},
		changed: func(_ context.Context, p pause) error {
			ms := p.late.Milliseconds()
			w.rests = append(w.rests, ms)
			if w.clock += max(ms, 1); w.clock > w.until {
				w.cancel()
			}
			return nil
		}}.begun()
	return w
}

// Claim implements ports.Work.
func (w *world) Claim(_ context.Context, q ports.WorkQuery) (ports.Claim, error) {
	w.queries = append(w.queries, q)
	for _, c := range w.runs {
		if at, passed := q.Passed[c.Run]; !(passed && at == c.LastIndex) && !q.Without[c.Workflow] {
			return c, w.claimErr
		}
	}
	return ports.Claim{}, w.claimErr
}

// live lets the worker work for a time.
func (w *world) live(long time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.cancel, w.until = cancel, w.clock+long.Milliseconds()
	return w.run(ctx)
}

// TestFullDiskRestsTheWorker: with a full disk no command is begun whose result could not be recorded, but for one now and then. With
// --once the worker ends.
func TestFullDiskRestsTheWorker(t *testing.T) {
	full := func(ports.Claim) (perform.Report, error) {
		return perform.Report{LastIndex: 7}, fault.New(fault.StoreFull, "the disk is full")
	}
	w := newWorld(20, full)
	if err := w.live(10 * time.Minute); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := len(w.calls); n < 10 || n > 18 {
		t.Errorf("%d commands ran in ten minutes, at %d", n, w.calls)
	}
	for i, want := range []int64{1000, 2000, 4000} {
		if got := w.calls[i+1] - w.calls[i]; got < want {
			t.Errorf("the pause %d is %d ms", i, got)
		}
	}
	w = newWorld(20, full)
	w.once = true
	if err := w.live(time.Hour); err != nil || len(w.calls) != 1 || w.clock != 0 {
		t.Errorf("%v, %d commands", err, len(w.calls))
	}
	if err := w.worker.out.finish(); err == nil || !strings.Contains(w.out.String(), "the disk is full") {
		t.Errorf("%s", w.out.String())
	}
}

// TestPassedRuns: a run that waits is tried again when its log has more, or after some minutes; one whose store could not be read
// after a second, then two; one that waits for a moment is not passed.
func TestPassedRuns(t *testing.T) {
	w := newWorld(1, func(ports.Claim) (perform.Report, error) {
		return perform.Report{LastIndex: 7}, fault.New(fault.RunWaiting, "it waits")
	})
	_ = w.live(4 * time.Minute)
	if len(w.calls) != 1 {
		t.Fatalf("%d calls", len(w.calls))
	}
	w.runs[0].LastIndex = 8
	_ = w.live(time.Second)
	if len(w.calls) != 2 {
		t.Errorf("%d calls after a change", len(w.calls))
	}
	_ = w.live(21 * time.Minute)
	if len(w.calls) != 6 || strings.Count(w.out.String(), "it waits") != 2 {
		t.Errorf("%d calls after some minutes: %s", len(w.calls), w.out.String())
	}
	w = newWorld(1, func(ports.Claim) (perform.Report, error) {
		return perform.Report{}, fault.New(fault.SessionLocked, "locked").With("x", 1)
	})
	_ = w.live(8 * time.Second)
	if len(w.calls) != 4 {
		t.Errorf("%d calls of a run that is retried, at %d", len(w.calls), w.calls)
	}
	w = newWorld(1, nil)
	w.answer = func(ports.Claim) (perform.Report, error) {
		w.runs = nil
		return perform.Report{LastIndex: 7, ResumeAtMs: 500}, fault.New(fault.RunWaiting, "it waits until a moment")
	}
	_ = w.live(time.Minute)
	if last := w.queries[len(w.queries)-1]; len(last.Passed) != 0 {
		t.Errorf("%+v", last)
	}
}

// TestUntrustedWorkflowIsAskedForOnce: its runs are passed together, until a person trusts it.
func TestUntrustedWorkflowIsAskedForOnce(t *testing.T) {
	w := newWorld(50, func(ports.Claim) (perform.Report, error) {
		return perform.Report{LastIndex: 7}, fault.New(fault.WorkflowUntrusted, "it is not trusted")
	})
	_ = w.live(time.Minute)
	if len(w.calls) != 1 || strings.Count(w.out.String(), "not trusted") != 1 {
		t.Fatalf("%d calls: %s", len(w.calls), w.out.String())
	}
	w.trusts = func(context.Context, canon.Digest) (trust.Fixed, bool, error) { return trust.Fixed{}, true, nil }
	w.answer = func(c ports.Claim) (perform.Report, error) {
		w.runs = w.runs[1:]
		return perform.Report{Performed: 1}, nil
	}
	_ = w.live(time.Minute)
	if len(w.calls) != 51 || strings.Count(w.out.String(), "is complete") != 50 {
		t.Errorf("%d calls: %s", len(w.calls), w.out.String())
	}
}

// TestStoreThatCannotBeUsed: the worker ends with the error of the store.
func TestStoreThatCannotBeUsed(t *testing.T) {
	w := newWorld(1, nil)
	w.claimErr = fault.New(fault.StoreReadOnly, "read only")
	if err := w.live(time.Minute); !fault.Is(err, fault.StoreReadOnly) || len(w.calls) != 0 {
		t.Errorf("%v, %d calls", err, len(w.calls))
	}
}

// TestUnreachableStore: the worker waits for a store that cannot be reached, as after the failure of a server, and reports each time once. With
// --once it ends.
func TestUnreachableStore(t *testing.T) {
	w := newWorld(1, func(ports.Claim) (perform.Report, error) { return perform.Report{}, nil })
	gone := fault.New(fault.StoreUnreachable, "gone")
	for round := 1; round < 3; round++ {
		w.claimErr = gone
		if err := w.live(time.Minute); !errors.Is(err, context.Canceled) || strings.Count(w.out.String(), "gone") != round {
			t.Errorf("%v: %s", err, w.out.String())
		}
		if n := len(w.queries); len(w.calls) != round-1 || n < 13*round || n > 15*round+2 {
			t.Errorf("%d calls, %d looks in %d minutes", len(w.calls), n, round)
		}
		w.claimErr = nil
		w.answer = func(ports.Claim) (perform.Report, error) { w.cancel(); return perform.Report{}, nil }
		if _ = w.live(time.Minute); len(w.calls) != round {
			t.Errorf("%d calls after the store can be reached again", len(w.calls))
		}
	}
	w.claimErr, w.once = gone, true
	if err := w.live(time.Minute); !fault.Is(err, fault.StoreUnreachable) {
		t.Errorf("with --once: %v", err)
	}
}

// TestIdleWorkerRests: a worker with nothing to do looks at most every half a second, and earlier only for a wait.
func TestIdleWorkerRests(t *testing.T) {
	w := newWorld(0, nil)
	_ = w.live(time.Minute)
	if n := len(w.queries); n < 10 || n > 122 {
		t.Errorf("%d looks in a minute", n)
	}
}

// TestClosedOutput: a worker whose output cannot be written takes no further run.
func TestClosedOutput(t *testing.T) {
	w := newWorld(5, func(ports.Claim) (perform.Report, error) { return perform.Report{Performed: 1}, nil })
	a := &cli.App{Process: cli.Process{Out: closed{}, Clock: func() time.Time { return time.UnixMilli(0) }}}
	w.worker.out = newReport(a)
	_ = w.live(time.Minute)
	if err := w.worker.out.failed(); !fault.Is(err, fault.OutputFailed) || len(w.calls) != 1 {
		t.Errorf("%v, %d calls", err, len(w.calls))
	}
}

// closed is a pipe whose reader has ended.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
