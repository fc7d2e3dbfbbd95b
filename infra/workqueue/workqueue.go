// Package workqueue calls a function for keys, such as the runs that a server performs: a bounded number of calls at once,
// never two for one key, and again at a moment that the last call returned. It does not know what a key means, and
// keeps nothing beside its memory: the caller adds again what it finds after a restart.
package workqueue

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Queue calls a function for keys. Its methods may be called from many goroutines.
type Queue[K comparable] struct {
	do func(context.Context, K) (again time.Time)

	mu    sync.Mutex
	items map[K]*item[K]
	ready []*item[K] // due, the first one first
	later byTime[K]
	wake  chan struct{} // a worker is to look again
	timed chan struct{} // the timer is to look again
}

// item is a key that is due, in a call, or due at a moment.
type item[K comparable] struct {
	key   K
	state state
	again bool // to be called once more after the call in progress
	at    time.Time
	index int // in later
}

// state is where an item is, a closed set.
type state int

const (
	isReady state = iota
	isCalled
	isLater
)

// New returns a queue that calls do. do returns when the key is to be called again, the zero time for not before it is
// added again.
func New[K comparable](do func(context.Context, K) (again time.Time)) *Queue[K] {
	return &Queue[K]{do: do, items: map[K]*item[K]{}, wake: make(chan struct{}, 1), timed: make(chan struct{}, 1)}
}

// Add has a key called now, or once more if it is in a call.
func (q *Queue[K]) Add(k K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.items[k]
	switch {
	case it == nil:
		it = &item[K]{key: k}
		q.items[k] = it
	case it.state == isCalled:
		it.again = true
		return
	case it.state == isReady:
		return
	default:
		heap.Remove(&q.later, it.index)
	}
	q.makeReady(it)
}

// Len returns how many keys are due, in a call, or due later.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// Run makes the calls, at most a number of them at once, until ctx ends; the calls in progress have the same ctx, and Run
// waits for them.
func (q *Queue[K]) Run(ctx context.Context, workers int) {
	var all sync.WaitGroup
	all.Go(func() { q.runTimer(ctx) })
	for range workers {
		all.Go(func() { q.work(ctx) })
	}
	all.Wait()
}

// makeReady puts an item behind the others that are due. The caller holds mu.
func (q *Queue[K]) makeReady(it *item[K]) {
	it.state = isReady
	q.ready = append(q.ready, it)
	signal(q.wake)
}

// signal wakes one reader of a channel, now or when it looks next.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// work calls one key after another.
func (q *Queue[K]) work(ctx context.Context) {
	for {
		it := q.take()
		if it == nil {
			select {
			case <-ctx.Done():
				return
			case <-q.wake:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		q.finish(it, q.do(ctx, it.key))
	}
}

// take returns the next key that is due, nil if there is none.
func (q *Queue[K]) take() *item[K] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return nil
	}
	it := q.ready[0]
	q.ready[0] = nil
	if q.ready = q.ready[1:]; len(q.ready) > 0 {
		signal(q.wake) // another worker
	} else {
		q.ready = nil
	}
	it.state = isCalled
	return it
}

// finish puts a key where it belongs after a call.
func (q *Queue[K]) finish(it *item[K], again time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case it.again:
		it.again = false
		q.makeReady(it)
	case again.IsZero():
		delete(q.items, it.key)
	default:
		it.state, it.at = isLater, again
		heap.Push(&q.later, it)
		signal(q.timed)
	}
}

// runTimer makes keys ready when they are due.
func (q *Queue[K]) runTimer(ctx context.Context) {
	for {
		wait := q.promote(time.Now())
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-q.timed:
			timer.Stop()
		}
	}
}

// timerPauseMax bounds how long the timer sleeps: the clock of the machine may be set.
const timerPauseMax = 10 * time.Second

// promote makes ready what is due, and returns how long nothing else is.
func (q *Queue[K]) promote(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.later) > 0 {
		if wait := q.later[0].at.Sub(now); wait > 0 {
			return min(wait, timerPauseMax)
		}
		q.makeReady(heap.Pop(&q.later).(*item[K]))
	}
	return timerPauseMax
}

// byTime is the heap of the items that are due later.
type byTime[K comparable] []*item[K]

func (h byTime[K]) Len() int           { return len(h) }
func (h byTime[K]) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h byTime[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *byTime[K]) Push(x any) {
	it := x.(*item[K])
	it.index = len(*h)
	*h = append(*h, it)
}

// Pop implements heap.Interface.
func (h *byTime[K]) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}
