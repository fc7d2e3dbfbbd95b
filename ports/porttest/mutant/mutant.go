// Package mutant runs a test over a faulty implementation and reports whether the test detects it.
//
// A mutant is an implementation as a wrong change of the code would make it. A test that passes over it does
// not check what it states. Start with Failure; storetest.DetectMutants does it for the cases of the conformance suite.
package mutant

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Failure runs a test in a goroutine of its own, with its cleanups, and returns the first failure that it reports:
// the message of Error, Fatal or of a panic. "" means that the test passed: it does not detect the mutant. t itself
// does not fail. A skipped test has passed. Directories and contexts of the test are those of t.
func Failure(t testing.TB, test func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	r.call(func() { test(r) })
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		do := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		r.call(do)
	}
	return r.first
}

// recorder is a testing.TB that records failures instead of failing the test that it belongs to.
type recorder struct {
	testing.TB // what a recorder does not do itself, such as TempDir

	mu       sync.Mutex // guards the fields below: a test may report in several goroutines
	first    string     // the first failure; "" for none
	cleanups []func()
	skipped  bool
}

// call runs a part of the test until it returns, stops itself or panics.
func (r *recorder) call(part func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.fail(fmt.Sprintf("panic: %v", p))
			}
		}()
		part()
	}()
	<-done
}

// fail records a failure.
func (r *recorder) fail(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" {
		r.first = message
		if message == "" {
			r.first = "failed without a message"
		}
	}
}

// Cleanup implements testing.TB.
func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Error implements testing.TB.
func (r *recorder) Error(args ...any) { r.fail(strings.TrimSuffix(fmt.Sprintln(args...), "\n")) }

// Errorf implements testing.TB.
func (r *recorder) Errorf(format string, args ...any) { r.fail(fmt.Sprintf(format, args...)) }

// Fail implements testing.TB.
func (r *recorder) Fail() { r.fail("") }

// FailNow implements testing.TB.
func (r *recorder) FailNow() { r.fail(""); runtime.Goexit() }

// Failed implements testing.TB.
func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first != ""
}

// Fatal implements testing.TB.
func (r *recorder) Fatal(args ...any) { r.Error(args...); runtime.Goexit() }

// Fatalf implements testing.TB.
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }

// Log implements testing.TB: what a mutant logs is not shown.
func (r *recorder) Log(...any) {}

// Logf implements testing.TB.
func (r *recorder) Logf(string, ...any) {}

// Skip implements testing.TB.
func (r *recorder) Skip(...any) { r.SkipNow() }

// Skipf implements testing.TB.
func (r *recorder) Skipf(string, ...any) { r.SkipNow() }

// SkipNow implements testing.TB.
func (r *recorder) SkipNow() {
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

// Skipped implements testing.TB.
func (r *recorder) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}
