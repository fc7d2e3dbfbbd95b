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

// world is the smallest adapter: it notes what happens, and enters the witness
// before anything that would be I/O, as the contract has it.
type world struct {
	mu      sync.Mutex
	notes   []string
	verdict manifest.Verdict
	lockErr error
	readErr error
}

func (w *world) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, s)
}

func (w *world) Lock(_ context.Context, l manifest.Log) (func() error, error) {
	if w.lockErr != nil {
		return nil, w.lockErr
	}
	w.note("lock " + l.Owner)
	return func() error { w.note("unlock"); return errors.New("unlocking failed") }, nil
}

func (w *world) Read(_ context.Context, r ports.Reading, v ports.Visitor) (manifest.Verdict, error) {
	if r.Log != log || r.From != head || !r.Locked || v != nil {
		return manifest.Verdict{}, errors.New("another reading than was asked for")
	}
	w.note("read")
	return w.verdict, w.readErr
}

func (w *world) Confirm(context.Context, manifest.Log, manifest.Head) error { panic("not the gate's") }

func (w *world) Append(_ context.Context, witness ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head,
	error) {
	leave, err := witness.Enter(p.Log)
	if err != nil {
		return at, err
	}
	defer leave()
	w.note("write")
	return at, nil
}

func (w *world) append(witness ports.Witness, l manifest.Log) error {
	_, err := w.Append(context.Background(), witness, head, manifest.Plan{Log: l})
	return err
}

func (w *world) enter(fn func(ports.Witness, manifest.Verdict) error) error {
	return ports.WithHealthySession(context.Background(), w, w, log, head, nil, fn)
}

func healthy() *world {
	return &world{verdict: manifest.Verdict{Health: manifest.Healthy, Head: manifest.Head{Next: 9}}}
}

func (w *world) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.notes, want) {
		t.Errorf("got %q, want %q", w.notes, want)
	}
}

func TestTheGate(t *testing.T) {
	w := healthy()
	err := w.enter(func(witness ports.Witness, v manifest.Verdict) error {
		if v.Head != w.verdict.Head {
			t.Errorf("got %+v", v)
		}
		return errors.Join(w.append(witness, log), w.append(witness, log))
	})
	if err != nil {
		t.Error(err) // a failed unlock takes back nothing that was committed
	}
	w.expect(t, "lock "+log.Owner, "read", "write", "write", "unlock")
}

func TestTheGatePassesErrorsAndPanicsOn(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		w     *world
		fnErr error
		want  []string
	}{
		"busy":     {&world{lockErr: broken}, nil, nil},
		"unread":   {&world{readErr: broken}, nil, []string{"lock " + log.Owner, "read", "unlock"}},
		"callback": {healthy(), broken, []string{"lock " + log.Owner, "read", "called", "unlock"}},
	} {
		err := tt.w.enter(func(ports.Witness, manifest.Verdict) error { tt.w.note("called"); return tt.fnErr })
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		tt.w.expect(t, tt.want...)
	}
	w := healthy()
	var stashed ports.Witness
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_ = w.enter(func(witness ports.Witness, _ manifest.Verdict) error { stashed = witness; panic("ours") })
	}()
	if err := w.append(stashed, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("a witness survives a panic: %v", err)
	}
	w.expect(t, "lock "+log.Owner, "read", "unlock")
}

func TestUnhealthyLogsTakeNothing(t *testing.T) {
	finding := manifest.NewFinding(manifest.ManifestDamaged, "p", "what is wrong")
	for _, health := range []manifest.Health{manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion} {
		w := &world{verdict: manifest.Verdict{Health: health, Findings: []manifest.Finding{finding}}}
		err := w.enter(func(ports.Witness, manifest.Verdict) error { w.note("called"); return nil })
		f := fault.Of(err)
		if f.Code != fault.SessionUnhealthy || f.Details["health"] != string(health) ||
			f.Details["sessionId"] != log.Owner || !strings.Contains(f.Message, "what is wrong") {
			t.Errorf("%s: %+v", health, f)
		}
		w.expect(t, "lock "+log.Owner, "read", "unlock")
	}
	w := &world{} // a verdict that nobody filled in is not healthy
	if err := w.enter(func(ports.Witness, manifest.Verdict) error { return nil }); !fault.Is(err,
		fault.SessionUnhealthy) {
		t.Errorf("no health: %v", err)
	}
}

// A witness of any other making, time or log is refused before any I/O.
func TestWitnessesThatAreRefused(t *testing.T) {
	w := healthy()
	otherOwner, otherRoot := log, log
	otherOwner.Owner, otherRoot.Root = other.Owner, other.Root
	var stashed ports.Witness
	if err := w.enter(func(witness ports.Witness, _ manifest.Verdict) error {
		stashed = witness
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
	if err := w.append(stashed, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("a stashed witness: %v", err)
	}
	// Not even while the same log is open again.
	if err := w.enter(func(ports.Witness, manifest.Verdict) error { return w.append(stashed, log) }); !errors.Is(err,
		ports.ErrWitness) {
		t.Errorf("a stashed witness under a new lock: %v", err)
	}
	if slices.Contains(w.notes, "write") {
		t.Errorf("something was written: %q", w.notes)
	}
}

// A goroutine that outlives the callback: whoever is inside when it ends is waited
// for before the lock goes, and whoever comes later is refused.
func TestTheGateWaitsForWhoeverIsInside(t *testing.T) {
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
		t.Errorf("a writer that comes while the gate closes: %v", err)
	}
	w.note("last write")
	late.leave()
	if err := <-returned; err != nil {
		t.Error(err)
	}
	if err := w.append(late.witness, log); !errors.Is(err, ports.ErrWitness) {
		t.Errorf("a writer that comes late: %v", err)
	}
	w.expect(t, "lock "+log.Owner, "read", "last write", "unlock")
}

// Many writers at once, inside and after: none writes behind the unlock.
func TestNobodyWritesAfterTheUnlock(t *testing.T) {
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
		if w.notes[len(w.notes)-1] != "unlock" {
			t.Fatalf("got %q", w.notes)
		}
	}
}
