package suite

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Check is one requirement of the suite, over an implementation that is chosen already.
type Check struct {
	Name string // the requirement
	Run  func(testing.TB)
}

// All runs checks as subtests of t, one after the other.
func All(t *testing.T, checks []Check) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.Name, func(t *testing.T) { c.Run(t) })
	}
}

// trialMax bounds one check of an implementation that is wrong on purpose: it may wait without end.
const trialMax = 20 * time.Second

// Failing runs checks over an implementation that is wrong on purpose, until one of them fails. It returns the name of
// that check with its first message, and "" if all of them pass: then nothing in the suite shows what is wrong. The
// failure is not one of t.
//
// A check that panics has failed, and so has one that does not end.
func Failing(t testing.TB, checks []Check) string {
	t.Helper()
	for _, c := range checks {
		r := &trial{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.run(c.Run)
		}()
		select {
		case <-ended:
			if said, failed := r.result(); failed {
				return c.Name + ": " + said
			}
		case <-time.After(trialMax):
			return c.Name + ": it does not end"
		}
	}
	return ""
}

// trial is a test whose failure is recorded and does not fail the test that it is part of. What it does not implement
// is that of the test.
type trial struct {
	testing.TB
	mu       sync.Mutex
	failed   bool
	skipped  bool
	said     []string
	cleanups []func()
}

// run runs a check on this goroutine, with its cleanups.
func (r *trial) run(check func(testing.TB)) {
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		defer r.recover()
		check(r)
	}()
	<-done
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		last()
	}
}

// recover turns a panic of a check into a failure.
func (r *trial) recover() {
	if p := recover(); p != nil {
		r.fail(fmt.Sprint("panic: ", p))
	}
}

// fail records a failure.
func (r *trial) fail(said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.said = true, append(r.said, strings.TrimSpace(said))
}

// result returns the first message of a failed check.
func (r *trial) result() (said string, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) > 0 {
		said = r.said[0]
	}
	return said, r.failed
}

// The methods of testing.TB that record.

func (r *trial) Cleanup(f func())             { r.cleanups = append(r.cleanups, f) }
func (r *trial) Error(args ...any)            { r.fail(fmt.Sprintln(args...)) }
func (r *trial) Errorf(f string, args ...any) { r.fail(fmt.Sprintf(f, args...)) }
func (r *trial) Fail()                        { r.fail("it failed") }
func (r *trial) FailNow()                     { r.fail("it failed"); runtime.Goexit() }
func (r *trial) Failed() bool                 { _, failed := r.result(); return failed }
func (r *trial) Fatal(args ...any)            { r.fail(fmt.Sprintln(args...)); runtime.Goexit() }
func (r *trial) Fatalf(f string, args ...any) { r.fail(fmt.Sprintf(f, args...)); runtime.Goexit() }
func (r *trial) Helper()                      {}
func (r *trial) Log(...any)                   {}
func (r *trial) Logf(string, ...any)          {}
func (r *trial) Skip(...any)                  { r.SkipNow() }
func (r *trial) Skipf(string, ...any)         { r.SkipNow() }
func (r *trial) SkipNow()                     { r.skipped = true; runtime.Goexit() }
func (r *trial) Skipped() bool                { return r.skipped }
