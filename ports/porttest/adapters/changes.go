package adapters

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// ChangingStore is a store whose changes are watched.
type ChangingStore interface {
	suite.Store
	ports.Changes
}

// Watching is a store whose changes a case waits for.
type Watching struct {
	// Open returns another handle, as another process would have it.
	Open func() ChangingStore
	// Within bounds the wait for a change. The zero value is far more than the slowest poll.
	Within time.Duration
	// Quiet is how long a waiter that is not woken is observed. The zero value is more than a slow poll takes.
	Quiet time.Duration
}

// ChangesCase is one requirement of ports.Changes.
type ChangesCase struct {
	Name string // the requirement
	// Run checks it with a store that does not exist yet.
	Run func(testing.TB, Watching)
}

// ChangesCases lists the requirements of ports.Changes. They wait for silence, which takes seconds with a store that is
// polled.
func ChangesCases() []ChangesCase {
	return []ChangesCase{
		{"a change wakes each waiter of its log", changesOfALog},
		{"a log that does not exist yet is watched", changesOfFirstAppend},
		{"what is recorded after the watch began wakes it", changesWithoutAGap},
		{"all sessions are watched", changesOfSessions},
		{"a watch that was stopped is silent", stoppedWatch},
		{"a waiting ends with its context", waitWithContext},
	}
}

// Changes runs ChangesCases as parallel subtests of t, each with a store of its own that does not exist yet.
func Changes(t *testing.T, setup func(testing.TB) (open func() ChangingStore)) {
	for _, c := range ChangesCases() {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t, Watching{Open: setup(t)}) })
	}
}

// wakes fails the test unless a waiter is woken.
func (b Watching) wakes(t testing.TB, what string, w *ports.Waiter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(b.Within, 30*time.Second))
	defer cancel()
	if err := w.Wait(ctx); err != nil {
		t.Fatalf("%s: not woken: %v", what, err)
	}
}

// quiet is Quiet with its default.
func (b Watching) quiet() time.Duration { return cmp.Or(b.Quiet, 1200*time.Millisecond) }

// silent fails the test if a waiter is woken.
func (b Watching) silent(t testing.TB, what string, w *ports.Waiter) {
	t.Helper()
	select {
	case <-w.Woken():
		t.Fatalf("%s: woken", what)
	case <-time.After(b.quiet()):
	}
}

// settle waits until a waiter is silent: one change may wake it more than once.
func (b Watching) settle(w *ports.Waiter) {
	for {
		select {
		case <-w.Woken():
		case <-time.After(b.quiet()):
			return
		}
	}
}

// record commits a plan.
func record(t testing.TB, s suite.Store, p manifest.Plan) {
	t.Helper()
	_, err := suite.Gate(s, p)
	must(t, err)
}

// marked is a control file of a session.
func marked(t testing.TB) ports.Control {
	t.Helper()
	data, err := canon.ValueOf(imported.Mark{BundleID: "b", Events: 1, Head: canon.Sum(nil)})
	must(t, err)
	return ports.Control{V: 1, Data: data}
}

// changesOfALog: an append of this handle or of another one wakes all waiters of the log and none of another log.
func changesOfALog(t testing.TB, b Watching) {
	s, other := b.Open(), b.Open()
	a, c := suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	record(t, s, a.Start())
	record(t, s, c.Start())
	first, second := ports.WaiterOf(s, a.Log, c.Log), ports.WaiterOf(s, a.Log)
	elsewhere, ofC := ports.WaiterOf(other, a.Log), ports.WaiterOf(s, c.Log)
	for _, w := range []*ports.Waiter{first, second, elsewhere, ofC} {
		defer w.Close()
	}
	record(t, s, a.Advance(3))
	b.wakes(t, "of both logs", first)
	b.wakes(t, "of the log", second)
	b.wakes(t, "of another handle", elsewhere)
	b.silent(t, "of another log", ofC)
	record(t, other, c.Advance(3))
	b.wakes(t, "of both logs", first)
	b.wakes(t, "by another handle", ofC)
}

// changesOfFirstAppend: the first append to a log is a change, of a side log too.
func changesOfFirstAppend(t testing.TB, b Watching) {
	s, r := b.Open(), suite.NewSessionFixture(1)
	events := ports.WaiterOf(b.Open(), r.Log)
	defer events.Close()
	record(t, s, r.Start())
	b.wakes(t, "events", events)
	notes := ports.WaiterOf(b.Open(), suite.SessionNotes(r.Session))
	defer notes.Close()
	record(t, s, suite.Notes(suite.SessionNotes(r.Session), 0, "one"))
	b.wakes(t, "a side log", notes)
}

// changesWithoutAGap: a change right after the watch began is not missed, however often.
func changesWithoutAGap(t testing.TB, b Watching) {
	s, other, r := b.Open(), b.Open(), suite.NewSessionFixture(1)
	record(t, s, r.Start())
	for i := range int64(5) {
		w := ports.WaiterOf(other, r.Log)
		record(t, s, r.Advance(3+3*i))
		b.wakes(t, "at once", w)
		w.Close()
	}
}

// changesOfSessions: an append to a session, a new session, an import and a mark wake those who watch all sessions.
func changesOfSessions(t testing.TB, b Watching) {
	s, other, r := b.Open(), b.Open(), suite.NewSessionFixture(1)
	w, here := ports.SessionsWaiter(other), ports.SessionsWaiter(s)
	defer w.Close()
	defer here.Close()
	b.settle(w)
	record(t, s, r.Start())
	b.wakes(t, "a new session", w)
	b.wakes(t, "a new session, by the same handle", here)
	b.settle(w)
	record(t, s, r.Advance(3))
	b.wakes(t, "an append", w)
	b.settle(w)
	_, err := suite.NewImportFixture(t, 2, 3).Import(s, marked(t))
	must(t, err)
	b.wakes(t, "an import", w)
	b.settle(w)
	must(t, s.UpdateSessionControl(context.Background(), r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) {
		return marked(t), nil
	}))
	b.wakes(t, "a mark", w)
}

// stoppedWatch: after stop, which may be called twice, nothing is called, and other watches continue.
func stoppedWatch(t testing.TB, b Watching) {
	s, r := b.Open(), suite.NewSessionFixture(1)
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
	b.wakes(t, "another watch", stays)
	time.Sleep(b.quiet())
	if logs.Load() != 0 || sessions.Load() != before {
		t.Errorf("called %d and %d times after the stop", logs.Load(), sessions.Load()-before)
	}
	// The last watch ends the watching; the next one begins it again.
	stays.Close()
	again := ports.WaiterOf(b.Open(), r.Log)
	defer again.Close()
	record(t, s, r.Advance(3))
	b.wakes(t, "a later watch", again)
}

// waitWithContext: a waiting that ends returns the error of its context.
func waitWithContext(t testing.TB, b Watching) {
	ctx, cancel := context.WithCancel(context.Background())
	w := ports.WaiterOf(b.Open(), manifest.SessionEvents(id.NewSession(suite.Seed(1))))
	defer w.Close()
	cancel()
	if err := w.Wait(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
