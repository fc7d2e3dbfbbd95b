package lease

import (
	"slices"
	"sync"
	"time"
)

// Clock is the monotonic clock of a process.
type Clock interface {
	// Now returns the time since a fixed moment. It does not go back.
	Now() time.Duration
	// After calls f once, on a goroutine of the clock, when a duration has passed; stop prevents that if f was not
	// called yet.
	After(d time.Duration, f func()) (stop func())
}

// System is the monotonic clock of this process. On some systems it does not count the time in which the machine
// sleeps: a holder that slept past the end of its lease notices with its next renewal, and its appends are refused.
var System Clock = system{time.Now()}

type system struct{ start time.Time }

// Now implements Clock.
func (s system) Now() time.Duration { return time.Since(s.start) }

// After implements Clock.
func (s system) After(d time.Duration, f func()) func() {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// Manual is a clock that a test sets. It is safe for concurrent use.
type Manual struct {
	mu     sync.Mutex
	now    time.Duration
	timers []*timer
}

type timer struct {
	at time.Duration
	f  func()
}

// NewManual returns a clock that reads a number, for two clocks that differ.
func NewManual(now time.Duration) *Manual { return &Manual{now: now} }

// Now implements Clock.
func (m *Manual) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// After implements Clock. f is called by Pass, also for a duration that is not positive.
func (m *Manual) After(d time.Duration, f func()) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &timer{m.now + max(d, 0), f}
	m.timers = append(m.timers, t)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.timers = slices.DeleteFunc(m.timers, func(o *timer) bool { return o == t })
	}
}

// Pass lets a duration pass. It calls what is due, one after the other in the order of time, with the clock at its
// moment, and returns after the last one.
func (m *Manual) Pass(d time.Duration) {
	m.mu.Lock()
	until := m.now + d
	for {
		var due *timer
		for _, t := range m.timers {
			if t.at <= until && (due == nil || t.at < due.at) {
				due = t
			}
		}
		if due == nil {
			break
		}
		m.timers = slices.DeleteFunc(m.timers, func(o *timer) bool { return o == due })
		m.now = max(m.now, due.at)
		m.mu.Unlock()
		due.f()
		m.mu.Lock()
	}
	m.now = max(m.now, until)
	m.mu.Unlock()
}

// Pending returns how many timers are set.
func (m *Manual) Pending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}
