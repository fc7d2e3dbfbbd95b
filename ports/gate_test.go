package ports_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

var (
	log   = manifest.SessionEvents(id.NewSession(id.Seed{1}))
	other = manifest.SessionEvents(id.NewSession(id.Seed{2}))
	head  = manifest.Head{Next: 7}
)

// recorder is a minimal implementation of Locks and Logs. It records calls, and enters the witness
// before anything that would be I/O, as the contract requires.
type recorder struct {
	mu      sync.Mutex
	calls   []string
	verdict manifest.Verdict
	lockErr error
	readErr error
}

func (w *recorder) record(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, s)
}

func (w *recorder) Lock(_ context.Context, l manifest.Log) (func() error, error) {
	if w.lockErr != nil {
		return nil, w.lockErr
	}
	w.record("lock " + l.Owner)
	return func() error { w.record("unlock"); return errors.New("unlocking failed") }, nil
}

func (w *recorder) Read(_ context.Context, r ports.ReadRequest, v ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log != log || r.From != head || !r.Locked || v != nil {
		return manifest.Verdict{}, errors.New("unexpected reading")
	}
	w.record("read")
	return w.verdict, w.readErr
}

func (w *recorder) Confirm(context.Context, manifest.Log, manifest.Head) error {
	panic("not called by WithHealthySession")
}

func (w *recorder) Append(_ context.Context, witness ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head,
	error) {
	leave, err := witness.Enter(p.Log)
	if err != nil {
		return at, err
	}
	defer leave()
	w.record("write")
	return at, nil
}

func (w *recorder) append(witness ports.Witness, l manifest.Log) error {
	_, err := w.Append(context.Background(), witness, head, manifest.Plan{Log: l})
	return err
}

func (w *recorder) enter(fn func(ports.Witness, manifest.Verdict) error) error {
	return ports.WithHealthySession(context.Background(), w, w, log, head, nil, fn)
}

func healthy() *recorder {
	return &recorder{verdict: manifest.Verdict{Health: manifest.Healthy, Head: manifest.Head{Next: 9}}}
}

func (w *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.calls, want) {
		t.Errorf("got %q, want %q", w.calls, want)
	}
}

func TestWithHealthySession(t *testing.T) {
	w := healthy()
	err := w.enter(func(witness ports.Witness, v manifest.Verdict) error {
		if v.Head != w.verdict.Head {
			t.Errorf("got %+v", v)
		}
		return errors.Join(w.append(witness, log), w.append(witness, log))
	})
	if err != nil {
		t.Error(err) // a failed unlock does not undo a committed append
	}
	w.expect(t, "lock "+log.Owner, "read", "write", "write", "unlock")
}

func TestWithHealthySessionReturnsErrorsAndPanics(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		w     *recorder
		fnErr error
		want  []string
	}{
		"busy":     {&recorder{lockErr: broken}, nil, nil},
		"unread":   {&recorder{readErr: broken}, nil, []string{"lock " + log.Owner, "read", "unlock"}},
		"callback": {healthy(), broken, []string{"lock " + log.Owner, "read", "called", "unlock"}},
	} {
		err := tt.w.enter(func(ports.Witness, manifest.Verdict) error { tt.w.record("called"); return tt.fnErr })
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		tt.w.expect(t, tt.want...)
	}
	w := healthy()
	var expired ports.Witness
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = w.enter(func(witness ports.Witness, _ manifest.Verdict) error { expired = witness; panic("test") })
	}()
	if err := w.append(expired, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("a witness survives a panic: %v", err)
	}
	w.expect(t, "lock "+log.Owner, "read", "unlock")
}

func TestUnhealthyLogIsRefused(t *testing.T) {
	finding := manifest.NewFinding(manifest.ManifestDamaged, "p", "what is wrong")
	for _, health := range []manifest.Health{manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion} {
		w := &recorder{verdict: manifest.Verdict{Health: health, Findings: []manifest.Finding{finding}}}
		err := w.enter(func(ports.Witness, manifest.Verdict) error { w.record("called"); return nil })
		f := fault.Of(err)
		if f.Code != fault.SessionUnhealthy || f.Details["health"] != string(health) ||
			f.Details["sessionId"] != log.Owner || !strings.Contains(f.Message, "what is wrong") {
			t.Errorf("%s: %+v", health, f)
		}
		w.expect(t, "lock "+log.Owner, "read", "unlock")
	}
	w := &recorder{} // the zero verdict is not healthy
	if err := w.enter(func(ports.Witness, manifest.Verdict) error { return nil }); !fault.Is(err,
		fault.SessionUnhealthy) {
		t.Errorf("no health: %v", err)
	}
}

// A zero or expired witness, and one of another log, is refused before any I/O.
func TestInvalidWitnessesAreRefused(t *testing.T) {
	w := healthy()
	otherOwner, otherRoot := log, log
	otherOwner.Owner, otherRoot.Root = other.Owner, other.Root
	var expired ports.Witness
	if err := w.enter(func(witness ports.Witness, _ manifest.Verdict) error {
		expired = witness
		for name, l := range map[string]manifest.Log{"another log": other, "another owner": otherOwner,
			"another root": otherRoot} {
			if err := w.append(witness, l); !errors.Is(err, ports.ErrWitness) {
				t.Errorf("the witness of a log, for %s: %v", name, err)
			}
		}
		if err := w.append(ports.Witness{}, log); !errors.Is(err, ports.ErrWitness) {
			t.Errorf("the zero witness: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.append(expired, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("an expired witness: %v", err)
	}
	// Also while the same log is locked again.
	if err := w.enter(func(ports.Witness, manifest.Verdict) error { return w.append(expired, log) }); !errors.Is(err,
		ports.ErrWitness) {
		t.Errorf("an expired witness under a new lock: %v", err)
	}
	if slices.Contains(w.calls, "write") {
		t.Errorf("something was written: %q", w.calls)
	}
}

// A goroutine that outlives the callback: an append that has entered is waited for before the lock
// is released, and a later one is refused.
func TestUnlockWaitsForRunningAppends(t *testing.T) {
	w := healthy()
	type entered struct {
		witness ports.Witness
		leave   func()
	}
	inside, returned := make(chan entered, 1), make(chan error)
	go func() {
		returned <- w.enter(func(witness ports.Witness, _ manifest.Verdict) error {
			leave, err := witness.Enter(log)
			inside <- entered{witness, leave}
			return err
		})
	}()
	late := <-inside
	select {
	case err := <-returned:
		t.Fatalf("unlocked with a writer inside: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	if err := w.append(late.witness, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("an append while unlocking: %v", err)
	}
	w.record("last write")
	late.leave()
	if err := <-returned; err != nil {
		t.Error(err)
	}
	if err := w.append(late.witness, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("an append after unlocking: %v", err)
	}
	w.expect(t, "lock "+log.Owner, "read", "last write", "unlock")
}

// Many appends at once, inside and after the callback: none may follow the unlock.
func TestNoAppendAfterUnlock(t *testing.T) {
	for range 50 {
		w := healthy()
		var all sync.WaitGroup
		_ = w.enter(func(witness ports.Witness, _ manifest.Verdict) error {
			for range 8 {
				all.Go(func() { _ = w.append(witness, log) })
			}
			return nil
		})
		all.Wait()
		if w.calls[len(w.calls)-1] != "unlock" {
			t.Fatalf("got %q", w.calls)
		}
	}
}
