package engine_test

import (
	"context"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// turnCase is a disk with a run at whose first step so many ends of turns were refused, and the next end there, after a
// reading whose answer no record changes.
func turnCase(t *testing.T, refused int) (*crashfs.FS, func(*enginetest.Engine) (int64, engine.Answer, error)) {
	t.Helper()
	disk := crashfs.New()
	g, err := on(disk, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(newFixture(t).compiled(twoSteps))(g)
	if err != nil {
		t.Fatal(err)
	}
	for range refused {
		if n, err := turnAt(g, a.Position(), "chat", 2); n == 0 || err != nil {
			t.Fatal(n, err)
		}
	}
	return disk.Reopen(), func(g *enginetest.Engine) (int64, engine.Answer, error) {
		out, err := g.Continue(context.Background(), caller(4), engine.Continue{StateToken: a.StateToken})
		if err != nil {
			return 0, out, err
		}
		n, err := turnAt(g, a.Position(), "chat", 3)
		return n, out, err
	}
}

// letGoCase is the end of a turn that is allowed, which is recorded once.
func letGoCase(t *testing.T) useCase {
	t.Helper()
	disk, end := turnCase(t, 2)
	call := func(g *enginetest.Engine) (engine.Answer, error) {
		n, a, err := end(g)
		if n != 0 {
			t.Errorf("refusal %d", n)
		}
		return a, err
	}
	return useCase{"the end of a turn that is allowed", disk, call, 1, 2, false}
}

// TestExploreCrashesOfARefusal: in every state that a power cut leaves of the disk while a hook records a refusal, the
// store loads and has the record or has not. After the hook has answered it has, so that a chat is never refused more
// often than it may be.
func TestExploreCrashesOfARefusal(t *testing.T) {
	t.Parallel()
	base, end := turnCase(t, 1)
	look := crashfs.ExploreOptions{Limit: crashLimit, Cases: sample.OneIn(t, 60)}
	count := crashfs.Explore(base, look, func(f *crashfs.FS) {
		g, err := on(f, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n, _, err := end(g); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}, func(s crashfs.State, done bool) bool {
		nodes, notes, ok := recorded(t, s.FS)
		if !ok || nodes != 1 || notes < 1 || notes > 2 || done && notes != 2 {
			t.Errorf("%d nodes, %d records in the state %s", nodes, notes, s.Name)
			return false
		}
		return ok && refusesToTheEnd(t, s.FS, notes, end)
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}

// TestFaultsOfARefusal: one operation at a time fails, tears or is the last one. A refusal is never answered without
// its record, and an error refuses nothing.
func TestFaultsOfARefusal(t *testing.T) {
	t.Parallel()
	base, end := turnCase(t, 1)
	var answered int64
	count := crashfs.InjectFaults(base, sample.OneIn(t, 40), func(f *crashfs.FS) error {
		answered = 0
		g, err := on(f, 2)
		if err != nil {
			return err
		}
		h, err := turnAtRoot(g)
		answered = h
		return err
	}, func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
		_, notes, ok := recorded(t, left)
		killed := flaw.Err == nil
		switch {
		case !ok:
		case err != nil && answered != 0:
			t.Errorf("refusal %d with an error: %v", answered, err)
			ok = false
		case err == nil && (answered != 2 || notes != 2):
			t.Errorf("refusal %d, %d records", answered, notes)
			ok = false
		case err != nil && notes == 2 && !killed && !fault.Is(err, fault.StoreOutcomeUnknown):
			t.Errorf("the error states that nothing is recorded: %v", err)
			ok = false
		}
		ok = ok && refusesToTheEnd(t, left, notes, end)
		if !ok {
			t.Logf("%s %s: %v", op, flaw, err)
		}
		return ok
	})
	t.Logf("%d operations, %d faults", count.Ops, count.Faults)
}

// turnAtRoot ends a turn in the only run of a store.
func turnAtRoot(g *enginetest.Engine) (int64, error) {
	at, err := g.Locate(context.Background(), engine.Last)
	if err != nil {
		return 0, err
	}
	return turnAt(g, at, "chat", 3)
}

// refusesToTheEnd ends turns on what is left of a disk with so many refusals: the chat is refused until there are two,
// then let go.
func refusesToTheEnd(t *testing.T, left *crashfs.FS, notes int, end func(*enginetest.Engine) (int64, engine.Answer,
	error)) bool {
	t.Helper()
	g, err := on(left.Reopen(), 4)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return false
	}
	want := []int64{2, 0, 0}
	if notes == 2 {
		want = []int64{0, 0}
	}
	for _, w := range want {
		if n, _, err := end(g); n != w || err != nil {
			t.Errorf("refusal %d, %v, want %d with %d records", n, err, w, notes)
			return false
		}
	}
	return true
}
