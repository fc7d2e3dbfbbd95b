package console

import (
	"context"
	"crypto/sha256"
	"net/url"
	"sync"
	"time"
)

// pollPause is the least pause between two rounds of polls. Most lists are made from the index, which makes a round cheap;
// a round that takes long is followed by a pause of pollShare times as long.
const (
	pollPause = 2 * time.Second
	pollShare = 10
)

// polls wakes who waits for the pages of lists. Each page is made once a round, however many windows show it.
type polls struct {
	digest func(ctx context.Context, path string, query map[string]string) [sha256.Size]byte

	mu     sync.Mutex
	topics map[string]*polled
}

// polled is a page that is polled.
type polled struct {
	path    string
	query   map[string]string
	known   bool // last is of an earlier round
	last    [sha256.Size]byte
	waiters map[*pollWaiter]bool
}

// pollWaiter implements consoleserver.Waiter.
type pollWaiter struct {
	woken chan struct{}
	close func()
}

// Woken implements consoleserver.Waiter.
func (w *pollWaiter) Woken() <-chan struct{} { return w.woken }

// Close implements consoleserver.Waiter.
func (w *pollWaiter) Close() { w.close() }

// newPolls returns polls of pages that digest identifies.
func newPolls(digest func(context.Context, string, map[string]string) [sha256.Size]byte) *polls {
	return &polls{digest: digest, topics: map[string]*polled{}}
}

// waiter returns a waiter for the changes of a page.
func (p *polls) waiter(path string, query map[string]string) *pollWaiter {
	values := url.Values{}
	for name, value := range query {
		values.Set(name, value)
	}
	key := path + "?" + values.Encode()
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.topics[key]
	if t == nil {
		t = &polled{path: path, query: query, waiters: map[*pollWaiter]bool{}}
		p.topics[key] = t
	}
	w := &pollWaiter{woken: make(chan struct{}, 1)}
	t.waiters[w] = true
	w.close = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(t.waiters, w); len(t.waiters) == 0 && p.topics[key] == t {
			delete(p.topics, key)
		}
	}
	return w
}

// run polls until ctx ends.
func (p *polls) run(ctx context.Context) {
	for {
		begun := time.Now()
		for _, t := range p.all() {
			now := p.digest(ctx, t.path, t.query)
			if ctx.Err() != nil {
				return
			}
			p.compare(t, now)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(pollPause, pollShare*time.Since(begun))):
		}
	}
}

// all returns the pages that are waited for.
func (p *polls) all() (out []*polled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.topics {
		out = append(out, t)
	}
	return out
}

// compare wakes who waits for a page that is another one than in the last round. In the first round they are woken too:
// it may have changed since they loaded it.
func (p *polls) compare(t *polled, now [sha256.Size]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := !t.known || now != t.last
	t.known, t.last = true, now
	if !changed {
		return
	}
	for w := range t.waiters {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}
