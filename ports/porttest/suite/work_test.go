package suite_test

import (
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

type (
	noWatch         struct{ suite.ChangingStore }
	noWatchSessions struct{ suite.ChangingStore }
	noClaim         struct{ suite.WorkStore }
)

func (noWatch) Watch(func(), ...manifest.Log) (stop func())         { return func() {} }
func (noWatchSessions) WatchSessions(func()) (stop func())          { return func() {} }
func (noClaim) Claim(ctx, ports.WorkQuery) (c ports.Claim, e error) { return }

// ofChanges has the rows of Changes, over a store in memory, which reports changes at once.
func ofChanges() (rows []idle) {
	for method, change := range map[string]func(suite.ChangingStore) suite.ChangingStore{
		"Watch":         func(s suite.ChangingStore) suite.ChangingStore { return noWatch{s} },
		"WatchSessions": func(s suite.ChangingStore) suite.ChangingStore { return noWatchSessions{s} },
	} {
		in := map[string]string{"Watch": "a log that does not exist yet is watched", "WatchSessions": "all sessions are watched"}[method]
		for _, c := range suite.ChangesCases() {
			if c.Name != in {
				continue
			}
			rows = append(rows, ofCase("Changes."+method, in, func(t testing.TB, idle bool) {
				disk := memstore.NewDisk(suite.Seed(1))
				b := suite.Watching{Open: func() suite.ChangingStore { return disk.Open(0) }, Quiet: 5 * time.Millisecond}
				if idle {
					b.Open, b.Within = func() suite.ChangingStore { return change(disk.Open(0)) }, 50*time.Millisecond
				}
				c.Run(t, b)
			}))
		}
	}
	return rows
}

// queue is what runs a store in memory has, all of which have a command.
type queue struct {
	mu   sync.Mutex
	runs []suite.WorkRun
}

// taker is a handle on a queue. It is the second implementation of ports.Work; that of package working runs the same
// suite.
type taker struct {
	*queue
	ports.Performers
}

func (h taker) Claim(c ctx, _ ports.WorkQuery) (out ports.Claim, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.runs {
		lease, err := h.Hold(c, r.Session)
		switch {
		case err == nil:
			return ports.Claim{Session: r.Session, Run: r.Run, Workflow: r.Workflow, Commands: true, Lease: lease}, nil
		case !fault.Is(err, fault.RunBusy):
			return out, err
		}
		out.Rest.Busy++
	}
	return out, nil
}

// start adds a run with a session of its own.
func (q *queue) start(t testing.TB, s suite.Store) suite.WorkRun {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	r := suite.NewSessionFixture(len(q.runs) + 1)
	_, err := suite.Gate(s, r.Start())
	storetest.Fatal(t, err)
	q.runs = append(q.runs, suite.WorkRun{Session: r.Session, Run: r.RunID, Workflow: canon.Sum([]byte("a workflow"))})
	return q.runs[len(q.runs)-1]
}

// finish removes a run.
func (q *queue) finish(run id.Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var left []suite.WorkRun
	for _, r := range q.runs {
		if r.Run != run {
			left = append(left, r)
		}
	}
	q.runs = left
}

// ofWork has the row of Work.
func ofWork() idle {
	const in = "each run is handed out to one performer at a time"
	for _, c := range suite.WorkCases() {
		if c.Name == in {
			return ofCase("Work.Claim", in, func(t testing.TB, idle bool) {
				disk, q := memstore.NewDisk(suite.Seed(1)), &queue{}
				c.Run(t, suite.WorkSetup{
					Open: func() (s suite.WorkStore) {
						if s = (taker{q, disk.Open(0).Performers()}); idle {
							s = noClaim{s}
						}
						return s
					},
					Start:  func(suite.WorkPending, int64, ...string) suite.WorkRun { return q.start(t, disk.Open(0)) },
					Finish: func(r suite.WorkRun) { q.finish(r.Run) },
				})
			})
		}
	}
	return idle{method: "Work.Claim", in: in}
}
