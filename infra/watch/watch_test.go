package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// observed are states that a test sets.
type observed struct {
	calls atomic.Int64
	all   atomic.Pointer[[]ports.SessionState]
	err   atomic.Pointer[error]
}

func (o *observed) States(_ context.Context, known func(int, id.Session) [8]byte) (out ports.SessionsState, err error) {
	defer o.calls.Add(1)
	if err := o.err.Load(); err != nil {
		return out, *err
	}
	if all := o.all.Load(); all != nil {
		out.Sessions = *all
	}
	for i, s := range out.Sessions {
		known(i, s.Session)
	}
	return out, nil
}

// TestTornTailIsNoChange: a manifest that stays as it is is no change, however often it is looked at, whole or not; each growth
// does, and so does the file that appears or goes.
func TestTornTailIsNoChange(t *testing.T) {
	dir, log := t.TempDir(), manifest.SessionEvents(id.NewSession(id.Seed{1}))
	name := filepath.Join(dir, filepath.FromSlash(log.Root), manifest.FileName)
	c := New(dir, &observed{})
	calls := 0
	stop := c.Watch(func() { calls++ }, log, log)
	defer stop()
	c.mu.Lock()
	c.polling() // the test looks itself
	c.mu.Unlock()
	want := func(what string, n int) {
		t.Helper()
		for range 3 {
			c.compare()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if calls != n {
			t.Errorf("%s: %d calls, want %d", what, calls, n)
		}
		calls = 0
	}
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want("nothing", 0)
	write("one\n{\"torn")
	want("it appears", 1)
	want("it stays", 0)
	write("one\n{\"torn\"}\n")
	want("it grows", 1)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	want("it goes", 1)
	write("one\n")
	c.Announce(log)
	want("announced, and found before the look", 1)
}

// TestNothingRunsUnwatched: goroutines run only while something is watched.
func TestNothingRunsUnwatched(t *testing.T) {
	o := &observed{}
	c := New(t.TempDir(), o)
	none := c.Watch(func() {})
	a := c.Watch(func() {}, manifest.SessionEvents(id.NewSession(id.Seed{1})))
	b := c.WatchSessions(func() {})
	if c.polling == nil || c.looking == nil {
		t.Error("nothing looks")
	}
	none()
	a()
	b()
	if c.polling != nil || c.looking != nil || len(c.logs)+len(c.sessions) > 0 {
		t.Errorf("%d logs and %d watches remain", len(c.logs), len(c.sessions))
	}
}

// TestSessionsThatCannotBeListed: an error is no change, and what changed meanwhile is one.
func TestSessionsThatCannotBeListed(t *testing.T) {
	o := &observed{}
	one := []ports.SessionState{{Session: id.NewSession(id.Seed{1}), State: [16]byte{1}}}
	o.all.Store(&one)
	c := New(t.TempDir(), o)
	last := c.observe(context.Background(), ports.SessionsState{})
	failed := errors.New("failed")
	o.err.Store(&failed)
	if now := c.observe(context.Background(), last); len(now.Sessions) != 1 || !isSame(now.Sessions[0], last.Sessions[0]) {
		t.Errorf("%+v", now)
	}
	two := []ports.SessionState{{Session: one[0].Session, State: [16]byte{2}}}
	o.all.Store(&two)
	o.err.Store(nil)
	if now := c.observe(context.Background(), last); isSame(now.Sessions[0], last.Sessions[0]) {
		t.Error("a change is missed")
	}
}

// TestSessionsAreObservedSeldom: all sessions are not observed more often than the pause says.
func TestSessionsAreObservedSeldom(t *testing.T) {
	o := &observed{}
	c := New(t.TempDir(), o)
	woken := make(chan struct{}, 16)
	stop := c.WatchSessions(func() { woken <- struct{}{} })
	defer stop()
	<-woken // the first observation
	time.Sleep(sessionsPause / 4)
	if n := o.calls.Load(); n != 1 {
		t.Errorf("%d observations", n)
	}
}
