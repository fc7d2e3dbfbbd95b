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
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

type (
	noWatch         struct{ adapters.ChangingStore }
	noWatchSessions struct{ adapters.ChangingStore }
	noClaim         struct{ adapters.WorkStore }
)

func (noWatch) Watch(func(), ...manifest.Log) (stop func())         { return func() {} }
func (noWatchSessions) WatchSessions(func()) (stop func())          { return func() {} }
func (noClaim) Claim(ctx, ports.WorkQuery) (c ports.Claim, e error) { return }

// ofChanges has the rows of Changes, over a store in memory, which reports changes at once.
func ofChanges() (rows []idle) {
	for method, change := range map[string]func(adapters.ChangingStore) adapters.ChangingStore{
		"Watch":         func(s adapters.ChangingStore) adapters.ChangingStore { return noWatch{s} },
		"WatchSessions": func(s adapters.ChangingStore) adapters.ChangingStore { return noWatchSessions{s} },
	} {
		in := map[string]string{"Watch": "a log that does not exist yet is watched", "WatchSessions": "all sessions are watched"}[method]
		for _, c := range adapters.ChangesCases() {
			if c.Name != in {
				continue
			}
			rows = append(rows, ofCase("Changes."+method, in, func(t testing.TB, idle bool) {
				disk := memstore.NewDisk(suite.Seed(1))
				b := adapters.Watching{Open: func() adapters.ChangingStore { return disk.Open(0) }, Quiet: 5 * time.Millisecond}
				if idle {
					b.Open, b.Within = func() adapters.ChangingStore { return change(disk.Open(0)) }, 50*time.Millisecond
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
	runs []adapters.WorkRun
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
func (q *queue) start(t testing.TB, s suite.Store) adapters.WorkRun {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	r := suite.NewSessionFixture(len(q.runs) + 1)
	_, err := suite.Gate(s, r.Start())
	storetest.Fatal(t, err)
	q.runs = append(q.runs, adapters.WorkRun{Session: r.Session, Run: r.RunID, Workflow: canon.Sum([]byte("a workflow"))})
	return q.runs[len(q.runs)-1]
}

// finish removes a run.
func (q *queue) finish(run id.Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var left []adapters.WorkRun
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
	for _, c := range adapters.WorkCases() {
		if c.Name == in {
			return ofCase("Work.Claim", in, func(t testing.TB, idle bool) {
				disk, q := memstore.NewDisk(suite.Seed(1)), &queue{}
				c.Run(t, adapters.WorkSetup{
					Open: func() (s adapters.WorkStore) {
						if s = (taker{q, disk.Open(0).Performers()}); idle {
							s = noClaim{s}
						}
						return s
					},
					Start:  func(adapters.WorkPending, int64, ...string) adapters.WorkRun { return q.start(t, disk.Open(0)) },
					Finish: func(r adapters.WorkRun) { q.finish(r.Run) },
				})
			})
		}
	}
	return idle{method: "Work.Claim", in: in}
}
