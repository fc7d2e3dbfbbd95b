package suite

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// ChangingStore is a store whose changes are watched.
type ChangingStore interface {
	Store
	ports.Changes
}

// changeWait bounds the wait for a change: far more than the slowest poll.
const changeWait = 30 * time.Second

// Changes runs the contract of ports.Changes as subtests of t, each with a store that does not exist yet. Each call of
// what setup returns opens another handle, as another process would have it.
func Changes(t *testing.T, setup func(t *testing.T) (open func() ChangingStore)) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func() ChangingStore)
	}{
		{"a change wakes each waiter of its log", changesOfALog},
		{"a log that does not exist yet is watched", changesOfFirstAppend},
		{"what is recorded after the watch began wakes it", changesWithoutAGap},
		{"all sessions are watched", changesOfSessions},
		{"a watch that was stopped is silent", stoppedWatch},
		{"a waiting ends with its context", waitWithContext},
	} {
		t.Run(test.name, func(t *testing.T) { t.Parallel(); test.run(t, setup(t)) })
	}
}

// wakes fails the test unless a waiter is woken.
func wakes(t *testing.T, what string, w *ports.Waiter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), changeWait)
	defer cancel()
	if err := w.Wait(ctx); err != nil {
		t.Fatalf("%s: not woken: %v", what, err)
	}
}

// silent fails the test if a waiter is woken within the time that a slow poll takes.
func silent(t *testing.T, what string, w *ports.Waiter) {
	t.Helper()
	select {
	case <-w.Woken():
		t.Fatalf("%s: woken", what)
	case <-time.After(1200 * time.Millisecond):
	}
}

// record commits a plan.
func record(t testing.TB, s Store, p manifest.Plan) {
	t.Helper()
	if _, err := Gate(s, p); err != nil {
		t.Fatal(err)
	}
}

// changesOfALog: an append of this handle or of another one wakes all waiters of the log and none of another log.
func changesOfALog(t *testing.T, open func() ChangingStore) {
	s, other := open(), open()
	a, b := NewSessionFixture(1), NewSessionFixture(2)
	record(t, s, a.Start())
	record(t, s, b.Start())
	first, second := ports.WaiterOf(s, a.Log, b.Log), ports.WaiterOf(s, a.Log)
	elsewhere, ofB := ports.WaiterOf(other, a.Log), ports.WaiterOf(s, b.Log)
	for _, w := range []*ports.Waiter{first, second, elsewhere, ofB} {
		defer w.Close()
	}
	record(t, s, a.Advance(3))
	wakes(t, "of both logs", first)
	wakes(t, "of the log", second)
	wakes(t, "of another handle", elsewhere)
	silent(t, "of another log", ofB)
	record(t, other, b.Advance(3))
	wakes(t, "of both logs", first)
	wakes(t, "by another handle", ofB)
}

// changesOfFirstAppend: the first append to a log is a change, of a side log too.
func changesOfFirstAppend(t *testing.T, open func() ChangingStore) {
	s, r := open(), NewSessionFixture(1)
	events := ports.WaiterOf(open(), r.Log)
	defer events.Close()
	record(t, s, r.Start())
	wakes(t, "events", events)
	notes := ports.WaiterOf(open(), SessionNotes(r.Session))
	defer notes.Close()
	record(t, s, Notes(SessionNotes(r.Session), 0, "one"))
	wakes(t, "a side log", notes)
}

// changesWithoutAGap: a change right after the watch began is not missed, however often.
func changesWithoutAGap(t *testing.T, open func() ChangingStore) {
	s, other, r := open(), open(), NewSessionFixture(1)
	record(t, s, r.Start())
	for i := range int64(5) {
		w := ports.WaiterOf(other, r.Log)
		record(t, s, r.Advance(3+3*i))
		wakes(t, "at once", w)
		w.Close()
	}
}

// changesOfSessions: an append to a session, a new session, an import and a mark wake those who watch all sessions.
func changesOfSessions(t *testing.T, open func() ChangingStore) {
	s, other, r := open(), open(), NewSessionFixture(1)
	w, here := ports.SessionsWaiter(other), ports.SessionsWaiter(s)
	defer w.Close()
	defer here.Close()
	settle(w)
	record(t, s, r.Start())
	wakes(t, "a new session", w)
	wakes(t, "a new session, by the same handle", here)
	settle(w)
	record(t, s, r.Advance(3))
	wakes(t, "an append", w)
	settle(w)
	imported := NewImportFixture(t, 2, 3)
	if _, err := imported.Import(s, control(t, 1)); err != nil {
		t.Fatal(err)
	}
	wakes(t, "an import", w)
	settle(w)
	must(t, s.UpdateSessionControl(context.Background(), r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
		return control(t, 1), nil
	}))
	wakes(t, "a mark", w)
}

// settle waits until a waiter is silent: one change may wake it more than once.
func settle(w *ports.Waiter) {
	for {
		select {
		case <-w.Woken():
		case <-time.After(1200 * time.Millisecond):
			return
		}
	}
}

// stoppedWatch: after stop, which may be called twice, nothing is called, and other watches continue.
func stoppedWatch(t *testing.T, open func() ChangingStore) {
	s, r := open(), NewSessionFixture(1)
	var logs, sessions atomic.Int64
	stopLog := s.Watch(func() { logs.Add(1) }, r.Log)
	stopSessions := s.WatchSessions(func() { sessions.Add(1) })
	stays := ports.WaiterOf(s, r.Log)
	defer stays.Close()
	stopLog()
	stopLog()
	stopSessions()
	stopSessions()
	before := sessions.Load()
	record(t, s, r.Start())
	wakes(t, "another watch", stays)
	time.Sleep(1200 * time.Millisecond)
	if logs.Load() != 0 || sessions.Load() != before {
		t.Errorf("called %d and %d times after the stop", logs.Load(), sessions.Load()-before)
	}
	// The last watch ends the watching; the next one begins it again.
	stays.Close()
	again := ports.WaiterOf(open(), r.Log)
	defer again.Close()
	record(t, s, r.Advance(3))
	wakes(t, "a later watch", again)
}

// waitWithContext: a waiting that ends returns the error of its context.
func waitWithContext(t *testing.T, open func() ChangingStore) {
	ctx, cancel := context.WithCancel(context.Background())
	w := ports.WaiterOf(open(), manifest.SessionEvents(id.NewSession(Seed(1))))
	defer w.Close()
	cancel()
	if err := w.Wait(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
