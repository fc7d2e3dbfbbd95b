package enginetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/lease"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// person is the caller of all calls.
var person = engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "ada"}, Account: "1000", AtMs: 1000}

const workflowText = `{"id":"test.w","name":"W","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","prompt":"p"},
 {"id":"two","title":"Two","prompt":"p","requireConfirmation":{"kind":"human_approval"}}]}`

// begin starts the run that the use cases are about.
func begin(t *testing.T, g *enginetest.Engine, key string) (engine.Answer, error) {
	t.Helper()
	_, w, problems := compile.File("w.json", source.SourceProject, []byte(workflowText))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return g.Start(context.Background(), person, id.Seed{1}, engine.Start{Workflow: w, SourceKind: event.SourceProject,
		SourceRef: "w.json", Key: key})
}

// useCase is a call that appends. prepare is what was recorded before, over a store that can be reached.
type useCase struct {
	name    string
	prepare func(t *testing.T, g *enginetest.Engine, a engine.Answer) engine.Answer
	call    func(t *testing.T, g *enginetest.Engine, a engine.Answer) error
	held    bool // another process performs the session meanwhile
}

func asIs(_ *testing.T, _ *enginetest.Engine, a engine.Answer) engine.Answer { return a }

// done performs the pending step.
func done(t *testing.T, g *enginetest.Engine, a engine.Answer) engine.Answer {
	t.Helper()
	next, err := g.Advance(context.Background(), person, a.Position(), a.AttemptID, advance.Request{Notes: "done"})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func useCases() []useCase {
	ctx := context.Background()
	perform := func(t *testing.T, g *enginetest.Engine, a engine.Answer) error {
		return ports.WithHold(ctx, g.Store.Performers(), a.Session.SessionID, func(h ports.Hold) error {
			_, err := g.Perform(ctx, h, person, a.Position(), a.AttemptID, advance.Request{Notes: "done"})
			return err
		})
	}
	pause := func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
		_, err := g.Pauses.Pause(ctx, person, a.Position(), pausing.Request{Reason: "lunch"})
		return err
	}
	cancel := func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
		_, err := g.Cancel(ctx, person, g.Store.Performers(), a.Position(), engine.CancelRequest{Reason: "no"})
		return err
	}
	return []useCase{
		{name: "start", prepare: asIs, call: func(t *testing.T, g *enginetest.Engine, _ engine.Answer) error {
			_, err := begin(t, g, "another")
			return err
		}},
		{name: "advance", prepare: asIs, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.Advance(ctx, person, a.Position(), a.AttemptID, advance.Request{Notes: "done"})
			return err
		}},
		{name: "continue with tokens", prepare: asIs, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.Continue(ctx, person, engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken,
				Request: advance.Request{Notes: "done"}})
			return err
		}},
		{name: "perform under a lease", prepare: asIs, call: perform},
		{name: "an attempt that is blocked", prepare: done, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.Advance(ctx, person, a.Position(), a.AttemptID, advance.Request{Notes: "done"})
			return err
		}},
		{name: "pause", prepare: asIs, call: pause},
		{name: "resume", prepare: func(t *testing.T, g *enginetest.Engine, a engine.Answer) engine.Answer {
			if err := pause(t, g, a); err != nil {
				t.Fatal(err)
			}
			return a
		}, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.Pauses.Resume(ctx, person, a.Position(), pausing.Request{})
			return err
		}},
		{name: "cancel", prepare: asIs, call: cancel},
		{name: "cancel what another one performs", prepare: func(t *testing.T, g *enginetest.Engine, a engine.Answer) engine.Answer {
			if _, err := g.Store.Performers().Hold(ctx, a.Session.SessionID); err != nil {
				t.Fatal(err)
			}
			return a
		}, call: cancel, held: true},
		{name: "approve", prepare: func(t *testing.T, g *enginetest.Engine, a engine.Answer) engine.Answer {
			return done(t, g, done(t, g, a))
		}, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.Approve(ctx, person, a.Position(), "good")
			return err
		}},
		{name: "fork", prepare: done, call: func(_ *testing.T, g *enginetest.Engine, a engine.Answer) error {
			_, err := g.ForkAt(ctx, person, id.Seed{7}, a.Position(), engine.ForkRequest{Title: "Other"})
			return err
		}},
	}
}

// logsOf describes the logs of all sessions, all of which must be healthy.
func logsOf(t *testing.T, s *memstore.Store) string {
	t.Helper()
	sessions, err := s.Sessions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, session := range sessions {
		v, err := s.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(session)}, ports.Skip)
		if err != nil || v.Health != manifest.Healthy || len(v.Findings) > 0 {
			t.Errorf("the log is %+v, %v", v, err)
		}
		if !v.Unborn() {
			fmt.Fprintln(&out, session, v.Head)
		}
	}
	return out.String()
}

// play makes a call over a handle that is cut off, and returns the logs before and after it, how many calls of ports it
// made, and its error.
func (u useCase) play(t *testing.T, cut memstore.Cut, again bool) (before, after string, calls int, err error) {
	t.Helper()
	disk, clock := memstore.NewDisk(id.Seed{9}), lease.NewManual(0)
	disk.UseClock(clock)
	healthy := disk.Open(0)
	g := enginetest.InMemory(healthy)
	a, err := begin(t, g, "")
	if err != nil {
		t.Fatal(err)
	}
	a = u.prepare(t, g, a)
	g.Ledger().WritePending(context.Background())
	before = logsOf(t, healthy)
	s := disk.Open(0)
	far := enginetest.InMemory(s)
	s.CutOff(cut)
	err = u.call(t, far, a)
	calls = s.Calls()
	s.Reconnect()
	if after = logsOf(t, healthy); !again {
		return before, after, calls, err
	}
	if !u.held {
		clock.Pass(lease.Default().Length) // the lease of a call that was cut off in it ends by itself
	}
	if repeated := u.call(t, enginetest.InMemory(disk.Open(0)), a); repeated != nil {
		t.Errorf("%s, cut off after %d calls (%v): the same call again: %v", u.name, cut.Calls, err, repeated)
	}
	return before, logsOf(t, healthy), calls, err
}

// TestStoreGoesAway: a store that goes away at any call of a port leaves the logs as before the use case or as after it,
// and the answer says which, or that it is unknown. The same call again has the result of a call that was not cut off.
func TestStoreGoesAway(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 4)
	for _, u := range useCases() {
		before, done, calls, err := u.play(t, memstore.Cut{Calls: 1 << 20}, false)
		if err != nil || done == before {
			t.Fatalf("%s: %v, changed: %v", u.name, err, done != before)
		}
		for n := range calls {
			for _, late := range []bool{false, true} {
				if !cases.Try() {
					continue
				}
				cut := memstore.Cut{Calls: n, Late: late}
				_, after, _, err := u.play(t, cut, false)
				where := fmt.Sprintf("%s, cut off after %d of %d calls, late %v: %v", u.name, n, calls, late, err)
				switch code := fault.CodeOf(err); {
				case after != before && after != done:
					t.Errorf("%s: the logs are neither as before nor as after", where)
				case code == fault.StoreUnreachable && after != before:
					t.Errorf("%s: something was recorded", where)
				case (err == nil || code == fault.StoreAnswerUnread) && after != done:
					t.Errorf("%s: nothing was recorded", where)
				case err != nil && code != fault.StoreUnreachable && code != fault.StoreAnswerUnread && code != fault.StoreOutcomeUnknown:
					t.Errorf("%s: another answer", where)
				}
				if _, again, _, _ := u.play(t, cut, true); again != done {
					t.Errorf("%s: after the same call again the logs differ from those of a call that was not cut off", where)
				}
			}
		}
	}
}
