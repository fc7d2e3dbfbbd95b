package serve

import (
	"sync"

	"github.com/waybill/waybill/infra/watch"
)

// watchedRuns are the open runs of a store whose logs are watched.
type watchedRuns struct {
	mu  sync.Mutex
	all map[openRun]*watch.Waiter
}

// add begins to watch a run, unless it is watched.
func (w *watchedRuns) add(r openRun, begin func() *watch.Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[openRun]*watch.Waiter{}
	}
	if w.all[r] == nil {
		w.all[r] = begin()
	}
}

// remove ends the watching of a run.
func (w *watchedRuns) remove(r openRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiter := w.all[r]; waiter != nil {
		waiter.Close()
		delete(w.all, r)
	}
}
