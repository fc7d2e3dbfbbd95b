//go:build unix

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// The size of the load.
const (
	writerCount    = 16
	performerCount = 4
	sharedCount    = 4  // logs of all writers
	leasedCount    = 2  // sessions of all performers, which are the first of the shared ones
	ownAppends     = 40 // appends to a session of one writer, before it begins another
)

// The patience of handles, which is shorter than that of a user, so that a fault lasts longer than it.
const (
	lockWait    = time.Second
	commitMost  = 1500 * time.Millisecond
	resolveMost = 2 * time.Second
)

// session is a session that several goroutines append to.
type session struct {
	mu sync.Mutex // guards the fixture, which counts its steps
	*fixture.SessionFixture
}

// advance returns the next plan of a session. Its snapshot is its own: the digest of it is the marker of the append.
func (s *session) advance(next, token int64) manifest.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.Advance(next)
	p.Lease = token
	return p
}

// load is the writers and performers.
type load struct {
	address func(schema string, first int, settings url.Values) string // of the cluster
	ledger  *ledger
	seed    uint64
	shared  []*session
	made    atomic.Int64 // sessions
	wg      sync.WaitGroup
}

// newLoad makes the store and its shared sessions.
func newLoad(ctx context.Context, address func(string, int, url.Values) string, seed uint64) (*load, error) {
	l := &load{address: address, seed: seed, ledger: newLedger()}
	w, err := l.worker(0)
	if err != nil {
		return nil, err
	}
	defer w.store.Close()
	if _, err := pgstore.Init(ctx, w.at, pgstore.Options{}, pgstore.Roles{}); err != nil {
		return nil, err
	}
	for range sharedCount {
		s := l.session()
		if err := w.append(ctx, s, 0, 1); err != nil {
			return nil, err
		}
		l.shared = append(l.shared, s)
	}
	return l, nil
}

// session returns a session that no other one is equal to.
func (l *load) session() *session {
	return &session{SessionFixture: fixture.NewSessionFixture(int(l.made.Add(1)))}
}

// start starts all writers and performers, which end with the context.
func (l *load) start(ctx context.Context) error {
	for i := range writerCount + performerCount {
		w, err := l.worker(i)
		if err != nil {
			return err
		}
		do := w.write
		if i >= writerCount {
			do = w.perform
		}
		l.wg.Go(func() { do(ctx); _ = w.store.Close() })
	}
	return nil
}

// worker is one writer or performer, with its own handle.
type worker struct {
	*load
	at      pgstore.Address
	store   *pgstore.Store
	random  *rand.Rand
	heads   map[string]manifest.Head // by root: the last head that it knows
	own     *session
	appends int // to own
}

// worker returns the worker with an index. The nodes are in another order in the address of each.
func (l *load) worker(i int) (*worker, error) {
	a, err := pgstore.Parse(l.address("torture", i, url.Values{"connect_timeout": {"1"}}))
	if err != nil {
		return nil, err
	}
	o := pgstore.Options{LockWait: lockWait, CommitMost: commitMost, ResolveMost: resolveMost}
	return &worker{load: l, at: a, store: pgstore.Open(a, o), random: rand.New(rand.NewPCG(l.seed, uint64(i)+1)),
		heads: map[string]manifest.Head{}}, nil
}

// pause waits for a while, and reports that the context is not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// write appends to shared sessions and to own ones, and confirms what others appended, until the context ends.
func (w *worker) write(ctx context.Context) {
	for pause(ctx, time.Duration(w.random.IntN(120))*time.Millisecond) {
		one, times := w.shared[w.random.IntN(len(w.shared))], 1
		switch n := w.random.IntN(20); {
		case n < 3:
			w.confirm(one)
			continue
		case n < 5:
			times = 2
		case n < 10:
			if w.own == nil || w.appends >= ownAppends {
				w.own, w.appends = w.session(), 0
			}
			one = w.own
			w.appends++
		}
		limited, cancel := context.Background(), func() {}
		if w.random.IntN(20) == 0 {
			limited, cancel = context.WithTimeout(limited, time.Duration(w.random.IntN(40))*time.Millisecond)
		}
		err := w.append(limited, one, 0, times)
		cancel()
		if err != nil && one == w.own && w.heads[one.Log.Root].IsZero() {
			w.own = nil // the plan that begins a session has one marker: it is not used again
		}
	}
}

// append appends to a session so many times behind one gate. The ledger has the result of each.
func (w *worker) append(ctx context.Context, s *session, token int64, times int) error {
	root, begun := s.Log.Root, false
	err := ports.WithHealthySession(ctx, w.store, w.store, s.Log, w.heads[root], ports.Skip, func(by ports.Witness, v manifest.Verdict) error {
		head := v.Head
		for range times {
			begun = true
			var p manifest.Plan
			if head.IsZero() {
				p = s.Start()
			} else {
				p = s.advance(head.Next, token)
			}
			o := w.ledger.begin(p, s.SessionFixture)
			next, err := w.store.Append(ctx, by, head, p)
			w.ledger.end(o, next, err)
			if err != nil {
				return err
			}
			head = next
			w.heads[root] = head
		}
		return nil
	})
	if !begun {
		w.ledger.notBegun(err)
	}
	if errors.Is(err, manifest.ErrNotOnChain) {
		delete(w.heads, root) // it was read of a commit that was not durable
	}
	return err
}

// confirm reads a shared session and confirms what it read.
func (w *worker) confirm(s *session) {
	v, err := ports.Continue(context.Background(), w.store, ports.ReadRequest{Log: s.Log, From: w.heads[s.Log.Root]}, ports.Skip)
	if err == nil && v.Health == manifest.Healthy {
		if err = w.store.Confirm(context.Background(), s.Log, v.Head); err == nil {
			w.ledger.confirmed(s.Log, v.Head)
		}
	}
	if errors.Is(err, manifest.ErrNotOnChain) {
		delete(w.heads, s.Log.Root)
	}
}

// perform holds the lease of a session for some appends, again and again, until the context ends. After a release it
// pauses, for another one to get the lease, and tries once more with the same token.
func (w *worker) perform(ctx context.Context) {
	for pause(ctx, time.Duration(w.random.IntN(300))*time.Millisecond) {
		s := w.shared[w.random.IntN(leasedCount)]
		lease, err := w.store.Performers().Hold(context.Background(), s.Session)
		if err != nil {
			continue
		}
		w.ledger.granted(s.Session, lease.Token)
		for range 5 + w.random.IntN(30) {
			err := w.append(context.Background(), s, lease.Token, 1)
			if fault.Is(err, fault.RunBusy) || isLost(lease) || !pause(ctx, time.Duration(w.random.IntN(100))*time.Millisecond) {
				break
			}
		}
		if lease.Release() == nil && pause(ctx, time.Duration(w.random.IntN(500))*time.Millisecond) {
			_ = w.append(context.Background(), s, lease.Token, 1)
		}
	}
}

// isLost reports a lease whose loss was reported.
func isLost(l ports.Lease) bool {
	select {
	case <-l.Lost:
		return true
	default:
		return false
	}
}
