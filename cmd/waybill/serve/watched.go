package serve

import "sync"

// watchedRuns are the open runs of a store whose logs are watched.
type watchedRuns struct {
	mu  sync.Mutex
	all map[openRun]func()
}

// add begins to watch a run, unless it is watched.
func (w *watchedRuns) add(r openRun, begin func() func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[openRun]func(){}
	}
	if w.all[r] == nil {
		w.all[r] = begin()
	}
}

// remove ends the watching of a run.
func (w *watchedRuns) remove(r openRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.all[r]; stop != nil {
		stop()
		delete(w.all, r)
	}
}
