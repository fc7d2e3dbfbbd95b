package watch

import (
	"context"
	"os"
	"sync"
	"time"
)

// Hub wakes many waiters when files grow: at once for changes that this process announces, and within a poll for those of
// other processes. It uses no descriptors, so that thousands may wait. Its methods may be called from many goroutines.
type Hub[K comparable] struct {
	mu     sync.Mutex
	topics map[K]*topic
}

// topic is the files of one key, and who waits for them.
type topic struct {
	files   []string
	states  []fileState
	waiters map[*Waiter]bool
}

// fileState is what a poll compares; the zero value is a missing file.
type fileState struct {
	size int64
	at   time.Time
}

// Waiter is woken by changes. It is used by one goroutine.
type Waiter struct {
	woken chan struct{}
	call  func() // in place of woken, if not nil
	close func()
}

// NewHub returns a hub without waiters.
func NewHub[K comparable]() *Hub[K] { return &Hub[K]{topics: map[K]*topic{}} }

// Waiter returns a waiter for the changes of a key from now on. files are those of the key, the same ones in each call; they
// need not exist yet. The caller closes it.
func (h *Hub[K]) Waiter(k K, files ...string) *Waiter {
	return h.add(k, &Waiter{woken: make(chan struct{}, 1)}, files)
}

// Call is Waiter for a function that is called after each change. It must not block, and must not call the hub.
func (h *Hub[K]) Call(k K, changed func(), files ...string) *Waiter {
	return h.add(k, &Waiter{call: changed}, files)
}

// add adds a waiter to the topic of a key.
func (h *Hub[K]) add(k K, w *Waiter, files []string) *Waiter {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[k]
	if t == nil {
		t = &topic{files: files, states: states(files), waiters: map[*Waiter]bool{}}
		h.topics[k] = t
	}
	t.waiters[w] = true
	w.close = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(t.waiters, w); len(t.waiters) == 0 && h.topics[k] == t {
			delete(h.topics, k)
		}
	}
	return w
}

// Woken is readable after a change; changes before it is read count as one.
func (w *Waiter) Woken() <-chan struct{} { return w.woken }

// Close ends the waiting.
func (w *Waiter) Close() { w.close() }

// Announce wakes those who wait for a key: this process has changed its files.
func (h *Hub[K]) Announce(k K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[k]; t != nil {
		t.wake()
	}
}

// AnnounceAll wakes all waiters.
func (h *Hub[K]) AnnounceAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		t.wake()
	}
}

// Len returns the number of keys that are waited for.
func (h *Hub[K]) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics)
}

// wake wakes the waiters of a topic.
func (t *topic) wake() {
	for w := range t.waiters {
		if w.call != nil {
			w.call()
			continue
		}
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}

// Run polls the files until ctx ends.
func (h *Hub[K]) Run(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.poll()
		}
	}
}

// poll wakes the waiters of files that changed since the last poll. No file is read, and none is looked at under the lock.
func (h *Hub[K]) poll() {
	h.mu.Lock()
	all := make([]*topic, 0, len(h.topics))
	for _, t := range h.topics {
		all = append(all, t)
	}
	h.mu.Unlock()
	for _, t := range all {
		now := states(t.files)
		h.mu.Lock()
		for i := range now {
			if now[i] != t.states[i] {
				t.states = now
				t.wake()
				break
			}
		}
		h.mu.Unlock()
	}
}

// states are the states of files.
func states(files []string) []fileState {
	out := make([]fileState, len(files))
	for i, name := range files {
		if info, err := os.Lstat(name); err == nil {
			out[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return out
}
