package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// endCase is a mutating call that answers no step, or makes another session: what is on record is
// counted in events of the whole store.
type endCase struct {
	name          string
	base          *crashfs.FS
	call          func(*enginetest.Engine) error
	before, after int
}

func endCases(t *testing.T) []endCase {
	t.Helper()
	base := crashfs.New()
	g, err := on(base, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(newFixture(t).compiled(twoSteps))(g)
	if err != nil {
		t.Fatal(err)
	}
	at := a.Position()
	cancel := func(held bool) func(*enginetest.Engine) error {
		return func(g *enginetest.Engine) error {
			_, err := g.Cancel(context.Background(), caller(2), &performerStub{held: held}, at,
				engine.CancelRequest{Reason: "r"})
			return err
		}
	}
	asked := base.Reopen()
	if g, err = on(asked, 1); err == nil {
		err = cancel(true)(g)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := []endCase{
		{name: "cancel", base: base.Reopen(), call: cancel(false)},
		{name: "cancel while a performer is at work", base: base.Reopen(), call: cancel(true)},
		{name: "close", base: asked.Reopen(), call: func(g *enginetest.Engine) error {
			_, err := g.Close(context.Background(), caller(3), at)
			return err
		}},
		{name: "fork", base: base.Reopen(), call: func(g *enginetest.Engine) error {
			_, err := g.ForkAt(context.Background(), caller(2), id.Seed{5}, at, engine.ForkRequest{})
			return err
		}},
	}
	out = append(out, failCase(t))
	paused := base.Reopen()
	if g, err = on(paused, 1); err == nil {
		_, err = g.Pauses.Pause(context.Background(), caller(2), at, pausing.Request{Reason: "r"})
	}
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, endCase{name: "pause", base: base.Reopen(), call: func(g *enginetest.Engine) error {
		_, err := g.Pauses.Pause(context.Background(), caller(2), at, pausing.Request{Reason: "r"})
		return err
	}}, endCase{name: "resume", base: paused.Reopen(), call: func(g *enginetest.Engine) error {
		_, err := g.Pauses.Resume(context.Background(), caller(3), at, pausing.Request{})
		return err
	}})
	for i := range out {
		learn := out[i].base.Reopen()
		out[i].before, _ = stored(t, learn)
		g, err := on(learn, 2)
		if err == nil {
			err = out[i].call(g)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[i].after, _ = stored(t, learn)
	}
	return out
}

// failCase is a run whose host step failed, and the performer's call that ends it for that.
func failCase(t *testing.T) endCase {
	t.Helper()
	disk, a := startedHost(t)
	g, err := on(disk, 1)
	if err == nil {
		_, err = hostCall(t, a)(g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return endCase{name: "fail", base: disk.Reopen(), call: func(g *enginetest.Engine) error {
		return ports.WithHold(context.Background(), &performerStub{}, a.Session.SessionID, func(h ports.Hold) error {
			_, err := g.Fail(context.Background(), h, caller(3), a.Position(), "it failed")
			return err
		})
	}}
}

// stored counts the events of a disk as the next process sees them; ok reports that everything on
// it is valid.
func stored(t *testing.T, f *crashfs.FS) (events int, ok bool) {
	t.Helper()
	g, err := on(f.Reopen(), 3)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return 0, false
	}
	list, err := g.Runs(context.Background())
	if err != nil || len(list.Unreadable) > 0 {
		t.Errorf("runs: %v, %+v", err, list)
		return 0, false
	}
	for _, r := range list.Runs {
		v, err := g.VerifySession(context.Background(), r.RunID.String())
		if err != nil || !v.OK {
			t.Errorf("verify: %v, %+v", err, v)
			return 0, false
		}
		events += int(v.Sessions[0].Events)
	}
	return events, true
}

func (e endCase) isAfter(t *testing.T, f *crashfs.FS) (after, ok bool) {
	t.Helper()
	n, ok := stored(t, f)
	if ok && n != e.before && n != e.after {
		t.Errorf("%d events; before the call %d, after it %d", n, e.before, e.after)
		ok = false
	}
	return n == e.after, ok
}

// again makes the same call on what is left.
func (e endCase) again(t *testing.T, f *crashfs.FS) bool {
	t.Helper()
	next := f.Reopen()
	g, err := on(next, 4)
	if err == nil {
		err = e.call(g)
	}
	if err != nil {
		t.Errorf("the same call again: %v", err)
		return false
	}
	after, ok := e.isAfter(t, next)
	return ok && after
}

// TestExploreCrashesOfEnds: as TestExploreCrashesOfUseCases, for what ends a run or begins one from
// another's node.
func TestExploreCrashesOfEnds(t *testing.T) {
	t.Parallel()
	for _, e := range endCases(t) {
		t.Run(e.name, func(t *testing.T) {
			look := crashfs.ExploreOptions{Limit: crashLimit, Cases: sample.OneIn(t, 20)}
			count := crashfs.Explore(e.base, look, func(f *crashfs.FS) {
				g, err := on(f, 2)
				if err == nil {
					err = e.call(g)
				}
				if err != nil {
					t.Fatal(err)
				}
			}, func(s crashfs.State, done bool) bool {
				after, ok := e.isAfter(t, s.FS)
				if ok && done && !after {
					t.Error("an acknowledged call is lost")
					ok = false
				}
				if ok = ok && e.again(t, s.FS); !ok {
					t.Logf("in the state %s", s.Name)
				}
				return ok
			})
			t.Logf("%d operations, %d crash states", count.Ops, count.States)
		})
	}
}

// TestFaultsOfEnds: as TestFaultsOfUseCases.
func TestFaultsOfEnds(t *testing.T) {
	t.Parallel()
	for _, e := range endCases(t) {
		t.Run(e.name, func(t *testing.T) {
			count := crashfs.InjectFaults(e.base, sample.OneIn(t, 30), func(f *crashfs.FS) error {
				g, err := on(f, 2)
				if err != nil {
					return err
				}
				return e.call(g)
			}, func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
				after, ok := e.isAfter(t, left)
				killed := flaw.Err == nil
				switch code := fault.CodeOf(err); {
				case !ok:
				case err == nil && !after:
					t.Error("the call answered, and nothing is recorded")
					ok = false
				case err != nil && after && !killed && code != fault.StoreOutcomeUnknown &&
					code != fault.StoreAnswerUnread:
					t.Errorf("the error states that nothing is recorded, and the call is: %v", err)
					ok = false
				}
				if ok = ok && e.again(t, left); !ok {
					t.Logf("%s %s: %v", op, flaw, err)
				}
				return ok
			})
			t.Logf("%d operations, %d faults", count.Ops, count.Faults)
		})
	}
}

// TestEndsAreDurableBeforeTheyAreReported: as TestReplayIsDurableBeforeItIsReported.
func TestEndsAreDurableBeforeTheyAreReported(t *testing.T) {
	t.Parallel()
	for _, e := range endCases(t) {
		t.Run(e.name, func(t *testing.T) {
			last := -1 // the sync that commits: a fork has the source's before it, a cancel may read again after it
			learn := e.base.Reopen()
			learn.Before = func(op crashfs.Op) {
				if op.Action == "sync" && strings.HasSuffix(op.Name, manifest.FileName) &&
					(last < 0 || e.name == "fork") {
					last = op.N
				}
			}
			g, err := on(learn, 2)
			if err == nil {
				err = e.call(g)
			}
			if err != nil {
				t.Fatal(err)
			}
			dying := e.base.Reopen()
			dying.Fault = &crashfs.Fault{At: last}
			if g, _ = on(dying, 2); g != nil {
				_ = e.call(g)
			}
			left := dying.Reopen()
			if after, ok := e.isAfter(t, left); !ok || !after {
				t.Fatal("the dying process did not get as far as the test needs")
			}
			crashfs.Explore(left, crashfs.ExploreOptions{Limit: crashLimit, Cases: sample.OneIn(t, 20)},
				func(f *crashfs.FS) {
					g, err := on(f, 5)
					if err == nil {
						err = e.call(g)
					}
					if err != nil {
						t.Fatal(err)
					}
				}, func(s crashfs.State, done bool) bool {
					after, ok := e.isAfter(t, s.FS)
					if ok && done && !after {
						t.Errorf("an answer was given from a log that a power cut removes: %s", s.Name)
						return false
					}
					return ok
				})
		})
	}
}
