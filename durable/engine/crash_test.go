package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// crashLimit bounds how many states of one moment are enumerated completely; beyond it every single
// choice, every pair and this many more are taken. sideLimit is the same for calls that write
// beside a session's own log: each state costs several readings and another call. The tests try a
// sample of the enumeration; see package sample.
const (
	crashLimit = 256
	sideLimit  = crashLimit / 8
)

// on is an engine over a disk in memory, as a process of its own.
func on(f *crashfs.FS, seed byte) (*enginetest.Engine, error) {
	s, err := filestore.Open(f, filestore.Options{Locks: lock.NewMemory().On(f), Boot: "boot",
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	if err != nil {
		return nil, err
	}
	return over(s), nil
}

// useCase is one mutating call to explore. It is the same call at every time and by every process,
// so that "send the same call again" can be tried.
type useCase struct {
	name  string
	base  *crashfs.FS
	call  func(*enginetest.Engine) (engine.Answer, error)
	nodes int  // of the run, before the call; the call adds one, or an attempt
	tries int  // recorded before the call
	ends  bool // the run: the same call again is RUN_CLOSED
}

func caller(at int64) engine.Caller {
	return engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: at}
}

func startCall(w compile.Compiled) func(*enginetest.Engine) (engine.Answer, error) {
	return func(g *enginetest.Engine) (engine.Answer, error) {
		return g.Start(context.Background(), caller(1), id.Seed{1}, engine.Start{Workflow: w,
			SourceKind: event.SourceProject, SourceRef: "test.json", Key: "explored", Context: set("what", "it")})
	}
}

func continueCall(a engine.Answer, req advance.Request) func(*enginetest.Engine) (engine.Answer, error) {
	return func(g *enginetest.Engine) (engine.Answer, error) {
		return g.Continue(context.Background(), caller(2),
			engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken, Request: req})
	}
}

func useCases(t *testing.T) []useCase {
	t.Helper()
	w := newFixture(t).compiled(twoSteps)
	empty := crashfs.New()
	started := crashfs.New()
	g, err := on(started, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(w)(g)
	if err != nil {
		t.Fatal(err)
	}
	point := func(g *enginetest.Engine) (engine.Answer, error) {
		return g.Checkpoint(context.Background(), caller(2),
			engine.CheckpointCall{StateToken: a.StateToken, CheckpointToken: a.CheckpointToken,
				Request: advance.Request{Notes: "half",
					Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "draft"))}}})
	}
	asked, at, approve := approvalCase(t)
	full := advance.Request{Notes: "done", Context: set("more", "x"),
		Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}}
	return []useCase{
		{"start in a store that does not exist", empty, startCall(w), 0, 0, false},
		{"continue: advanced, with all that can come with it", started.Reopen(), continueCall(a, full), 1, 0, false},
		{"continue: blocked", started.Reopen(), continueCall(a, note("not yet")), 1, 0, false},
		{"checkpoint", started.Reopen(), point, 1, 0, false},
		{"approve", asked, approve, 1, 1, false},
		{"send back", asked.Reopen(), decideCall(at, event.SentBack), 1, 1, false},
		{"deny", asked.Reopen(), decideCall(at, event.Denied), 1, 1, true},
		waitCase(t),
		hostCase(t),
		letGoCase(t),
	}
}

// waitCase is a run at a wait that is over, and the performer's call that records it.
func waitCase(t *testing.T) useCase {
	t.Helper()
	disk := crashfs.New()
	g, err := on(disk, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(newFixture(t).compiled(`{"id":"test.wait","name":"Wait","description":"d","version":"1.0.0","steps":[
		{"id":"w","title":"W","action":{"kind":"wait","until":"1970-01-01T00:00:00Z"}},{"id":"e","title":"E","prompt":"p"}]}`))(g)
	if err != nil || a.Pending.Wait == nil {
		t.Fatal(a.Pending, err)
	}
	over := wait.Over{OverAtMs: 2, StepInstanceKey: "w"}
	req := advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(over.Value())}}
	perform := func(g *enginetest.Engine) (out engine.Answer, err error) {
		err = ports.WithHold(context.Background(), &performerStub{}, a.Session.SessionID, func(h ports.Hold) error {
			out, err = g.Perform(context.Background(), h, caller(2), a.Position(), a.AttemptID, req)
			return err
		})
		return out, err
	}
	return useCase{"a wait that is over", disk.Reopen(), perform, 1, 0, false}
}

// hostCase is a run at a step of the host that fails, and the performer's call that records the failure.
func hostCase(t *testing.T) useCase {
	t.Helper()
	disk, a := startedHost(t)
	return useCase{"a host step that failed", disk.Reopen(), hostCall(t, a), 1, 0, false}
}

// startedHost is a disk with a run at a step of the host that fails.
func startedHost(t *testing.T) (*crashfs.FS, engine.Answer) {
	t.Helper()
	disk := crashfs.New()
	g, err := on(disk, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(newFixture(t).compiled(`{"id":"test.host","name":"Host","description":"d","version":"1.0.0","steps":[
		{"id":"f","title":"F","action":{"kind":"host","typeId":"core.fail"}},{"id":"e","title":"E","prompt":"p"}]}`))(g)
	if err != nil || a.Pending.Host == nil {
		t.Fatal(a.Pending, err)
	}
	return disk, a
}

// hostCall is the attempt of a performer at startedHost, which records the failure.
func hostCall(t *testing.T, a engine.Answer) func(*enginetest.Engine) (engine.Answer, error) {
	t.Helper()
	r, err := host.Perform(host.Step{Step: hoststep.Step{TypeID: hoststep.Fail}, StepInstanceKey: "f"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	req := advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}
	return func(g *enginetest.Engine) (out engine.Answer, err error) {
		err = ports.WithHold(context.Background(), &performerStub{}, a.Session.SessionID, func(h ports.Hold) error {
			out, err = g.Perform(context.Background(), h, caller(2), a.Position(), a.AttemptID, req)
			return err
		})
		return out, err
	}
}

// decideCall is a decision about a step that waits for one.
func decideCall(at engine.Position, word event.DecisionWord) func(*enginetest.Engine) (engine.Answer, error) {
	return func(g *enginetest.Engine) (engine.Answer, error) {
		by := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 3}
		return g.Decide(context.Background(), by, engine.Approvable{Position: at}, word, "not yet")
	}
}

// approvalCase is a disk where a step was refused for want of an approval, where it waits, and the call
// that gives it.
func approvalCase(t *testing.T) (*crashfs.FS, engine.Position, func(*enginetest.Engine) (engine.Answer, error)) {
	t.Helper()
	asked := crashfs.New()
	g, err := on(asked, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := startCall(newFixture(t).compiled(approving))(g)
	if err == nil {
		a, err = continueCall(a, note("the plan"))(g)
	}
	if err != nil || a.Kind() != "blocked" {
		t.Fatal(a.Kind(), err)
	}
	at := a.Position()
	return asked.Reopen(), at, func(g *enginetest.Engine) (engine.Answer, error) {
		by := engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 3}
		return g.Approve(context.Background(), by, at, "fine")
	}
}

// recorded reads a disk as the next process does: how many nodes and attempts (approvals and records of hooks
// among them) it holds, and whether the store is valid.
func recorded(t *testing.T, f *crashfs.FS) (nodes, tries int, ok bool) {
	t.Helper()
	g, err := on(f.Reopen(), 3)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return 0, 0, false
	}
	list, err := g.Runs(context.Background())
	if err != nil || len(list.Unreadable) > 0 || len(list.Runs) > 1 {
		t.Errorf("runs: %v, %+v", err, list)
		return 0, 0, false
	}
	if len(list.Runs) == 0 {
		return 0, 0, true
	}
	v, err := g.VerifySession(context.Background(), engine.Last)
	if err != nil || !v.OK || v.Sessions[0].Health != manifest.Healthy {
		t.Errorf("verify: %v, %+v", err, v)
		return 0, 0, false
	}
	all, _, err := g.Events(context.Background(), engine.Last)
	if err != nil {
		t.Error(err)
		return 0, 0, false
	}
	for _, e := range all {
		switch p := e.Data.(type) {
		case event.NodeCreated:
			nodes++
		case event.AdvanceRecorded, event.GuardNoted:
			tries++
		case event.NodeOutputAppended:
			if p.Payload.ArtifactKind == advance.ApprovalKind || p.Decision != nil && p.Decision.Decision != event.Approved {
				tries++
			}
		}
	}
	return nodes, tries, true
}

// isAfter distinguishes the state after the call from the one before; every other state is an
// error.
func (u useCase) isAfter(t *testing.T, f *crashfs.FS) (after, ok bool) {
	t.Helper()
	nodes, tries, ok := recorded(t, f)
	if !ok {
		return false, false
	}
	grown := nodes > u.nodes || tries > u.tries
	if !grown && (nodes != u.nodes || tries != u.tries) || nodes > u.nodes+1 || tries > u.tries+1 {
		t.Errorf("%d nodes and %d attempts, before there were %d and %d", nodes, tries, u.nodes, u.tries)
		return grown, false
	}
	return grown, true
}

// again makes the same call on what is left, in a new process: it must have the one answer, or find the
// run closed by it.
func (u useCase) again(t *testing.T, f *crashfs.FS, want string) bool {
	t.Helper()
	next := f.Reopen()
	g, err := on(next, 4)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return false
	}
	a, err := u.call(g)
	if u.ends && fault.Is(err, fault.RunClosed) {
		after, ok := u.isAfter(t, next)
		return ok && after
	}
	if err != nil {
		t.Errorf("the same call again: %v", err)
		return false
	}
	if want != "" && text(t, a) != want {
		t.Errorf("the same call again answers\n%s\nwant\n%s", text(t, a), want)
		return false
	}
	after, ok := u.isAfter(t, next)
	return ok && after
}

// TestExploreCrashesOfUseCases: in every state that a power cut leaves of the disk during start,
// continue, checkpoint and approve, the store loads, holds all of the call or nothing of it, and
// the same call continues from there. After the call has answered, the state must hold all of it.
func TestExploreCrashesOfUseCases(t *testing.T) {
	t.Parallel()
	var total crashfs.Count
	for _, u := range useCases(t) {
		t.Run(u.name, func(t *testing.T) {
			var want string
			look := crashfs.ExploreOptions{Limit: crashLimit, Cases: sample.OneIn(t, 60)}
			count := crashfs.Explore(u.base, look, func(f *crashfs.FS) {
				g, err := on(f, 2)
				if err != nil {
					t.Fatal(err)
				}
				a, err := u.call(g)
				if err != nil {
					t.Fatal(err)
				}
				want = text(t, a)
			}, func(s crashfs.State, done bool) bool {
				after, ok := u.isAfter(t, s.FS)
				if ok && done && !after {
					t.Error("an acknowledged call is lost")
					ok = false
				}
				// A store that was only begun gets new keys: its tokens differ then.
				expect := want
				if !done {
					expect = ""
				}
				ok = ok && u.again(t, s.FS, expect)
				if !ok {
					t.Logf("in the state %s", s.Name)
				}
				return ok
			})
			t.Logf("%d operations, %d crash states", count.Ops, count.States)
			total.Add(count)
		})
	}
	t.Logf("together: %d operations, %d crash states", total.Ops, total.States)
}

// TestFaultsOfUseCases: one operation at a time fails, tears or is the last one. The answer of the
// call is true, and the same call continues from there.
func TestFaultsOfUseCases(t *testing.T) {
	t.Parallel()
	var total crashfs.Count
	for _, u := range useCases(t) {
		t.Run(u.name, func(t *testing.T) {
			count := crashfs.InjectFaults(u.base, sample.OneIn(t, 40), func(f *crashfs.FS) error {
				g, err := on(f, 2)
				if err != nil {
					return err
				}
				_, err = u.call(g)
				return err
			}, func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
				after, ok := u.isAfter(t, left)
				killed := flaw.Err == nil
				switch code := fault.CodeOf(err); {
				case !ok:
				case err == nil && !after:
					t.Error("the call answered, and nothing is recorded")
					ok = false
				case code == fault.StoreAnswerUnread && !after:
					t.Error("the error states that the call is recorded, and it is not")
					ok = false
				case err != nil && after && !killed && code != fault.StoreOutcomeUnknown &&
					code != fault.StoreAnswerUnread:
					t.Errorf("the error states that nothing is recorded, and the call is: %v", err)
					ok = false
				}
				ok = ok && u.again(t, left, "")
				if !ok {
					t.Logf("%s %s: %v", op, flaw, err)
				}
				return ok
			})
			t.Logf("%d operations, %d faults", count.Ops, count.Faults)
			total.Add(count)
		})
	}
	t.Logf("together: %d operations, %d faults", total.Ops, total.Faults)
}

// TestReplayIsDurableBeforeItIsReported: a process dies between writing its group and syncing it.
// An answer that is given from that log must not be one that a power cut can still remove
// (docs/design.md#reading).
func TestReplayIsDurableBeforeItIsReported(t *testing.T) {
	t.Parallel()
	for _, u := range useCases(t)[1:] {
		t.Run(u.name, func(t *testing.T) {
			if u.ends {
				t.Skip("a closed run gives no answer")
			}
			last := -1
			learn := u.base.Reopen()
			learn.Before = func(op crashfs.Op) {
				if op.Action == "sync" && op.Name != "" && len(op.Name) > 14 &&
					op.Name[len(op.Name)-14:] == manifest.FileName {
					last = op.N
				}
			}
			g, _ := on(learn, 2)
			if _, err := u.call(g); err != nil {
				t.Fatal(err)
			}
			dying := u.base.Reopen()
			dying.Fault = &crashfs.Fault{At: last}
			if g, _ = on(dying, 2); g != nil {
				_, _ = u.call(g)
			}
			left := dying.Reopen()
			if after, ok := u.isAfter(t, left); !ok || !after {
				t.Fatal("the dying process did not get as far as the test needs")
			}
			crashfs.Explore(left, crashfs.ExploreOptions{Limit: crashLimit, Cases: sample.OneIn(t, 4)},
				func(f *crashfs.FS) {
					g, err := on(f, 5)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := u.call(g); err != nil {
						t.Fatal(err)
					}
				}, func(s crashfs.State, done bool) bool {
					after, ok := u.isAfter(t, s.FS)
					if ok && done && !after {
						t.Errorf("an answer was given from a log that a power cut removes: %s", s.Name)
						return false
					}
					return ok
				})
		})
	}
}
