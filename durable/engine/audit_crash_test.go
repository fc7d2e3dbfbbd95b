package engine_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// onAudited is on for an engine that keeps the audit log.
func onAudited(f *crashfs.FS, seed byte) (*enginetest.Engine, error) {
	s, err := filestore.Open(f, filestore.Options{Locks: lock.NewMemory().On(f), Boot: "boot",
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	if err != nil {
		return nil, err
	}
	return audited(s), nil
}

// explored is an act to explore: it creates a store where none exists, its effect shows on the disk,
// and it counts only with its outcome in the audit log. do repeats the act as a person does who is
// shown what the store contains; effect reports what the next process finds.
type explored struct {
	action audit.Action
	do     func(*enginetest.Engine) error
	effect func(*enginetest.Engine) (written, counts bool, err error)
}

// run performs the act on a disk.
func (x explored) run(f *crashfs.FS, seed byte) error {
	g, err := onAudited(f, seed)
	if err == nil {
		err = x.do(g)
	}
	return err
}

// exploredActs are trust in a workflow, a key of a program, and a setting that decides who may do what.
func exploredActs(t *testing.T) map[string]explored {
	w := newFixture(t)
	cmd, ada, ctx := w.compiled(withCommands), w.person("ada"), context.Background()
	return map[string]explored{
		"trust": {audit.Trust, func(g *enginetest.Engine) error {
			shown, err := g.Trusted(ctx)
			if err == nil {
				_, err = g.Trust(ctx, ada, cmd, "/repo", trust.Fixed{}, &shown)
			}
			return err
		}, func(g *enginetest.Engine) (bool, bool, error) {
			list, err := g.Trusted(ctx)
			_, written := list.Of(cmd.Hash(), "/repo")
			confirmed, unconfirmed := g.ConfirmedTrust(ctx)
			_, counts := confirmed.Of(cmd.Hash(), "/repo")
			return written, counts && unconfirmed == nil, err
		}},
		"a key": {audit.Configure, func(g *enginetest.Engine) error {
			err := addKey(ctx, g, w, "ci")
			if !fault.Is(err, fault.ValidationError) {
				return err
			}
			c, err := g.PlanConfirmation(ctx) // the key exists
			if err == nil && !c.IsEmpty() {
				err = g.Confirm(ctx, ada, c)
			}
			return err
		}, func(g *enginetest.Engine) (bool, bool, error) {
			list, err := g.ListHTTPKeys(ctx)
			return len(list.Keys) == 1, keysCounting(g) == "ci", err
		}},
		"configure": {audit.Configure, func(g *enginetest.Engine) error {
			return g.Set(ctx, "retentionDays", "3")
		}, func(g *enginetest.Engine) (bool, bool, error) {
			c, err := g.Config(ctx)
			confirmed, unconfirmed := g.Confirmed(ctx)
			return c.RetentionDays() == 3, unconfirmed == nil && confirmed.RetentionDays() == 3, err
		}},
	}
}

// auditState is what the next process finds on a disk.
type auditState struct {
	written, counts bool            // the effect of an explored act
	outcomes        []audit.Outcome // of these acts
	cancels         int
	codes           string // of the errors that a check finds
	lines           int64
}

// of is auditOf with the effect of an explored act.
func (x explored) of(t *testing.T, f *crashfs.FS) auditState {
	t.Helper()
	out := auditOf(t, f)
	g, err := onAudited(f.Reopen(), 3)
	if err == nil {
		out.written, out.counts, err = x.effect(g)
	}
	if err != nil {
		t.Error(err)
	}
	return out
}

func auditOf(t *testing.T, f *crashfs.FS) (out auditState) {
	t.Helper()
	g, err := onAudited(f.Reopen(), 3)
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return out
	}
	auditLines, err := g.AuditList(context.Background(), verify.AuditQuery{})
	if err != nil || !auditLines.Complete {
		t.Errorf("the audit log cannot be read: %v, %+v", err, auditLines)
	}
	for _, e := range auditLines.Entries {
		switch e.Action {
		case audit.Trust, audit.Configure:
			out.outcomes = append(out.outcomes, e.Outcome)
		case audit.Cancel:
			out.cancels++
		}
	}
	v, err := g.AuditVerify(context.Background())
	if err != nil {
		t.Error(err)
	}
	for _, f := range v.Findings {
		if f.Severity == manifest.SeverityError {
			out.codes += string(f.Code) + ": " + f.Message + " "
		}
	}
	out.lines = v.Events
	return out
}

// auditBases are disks that an act may begin on.
func auditBases(t *testing.T) map[string]*crashfs.FS {
	t.Helper()
	started, killed := crashfs.New(), crashfs.New()
	for _, f := range []*crashfs.FS{started, killed} {
		g, err := on(f, 1)
		must(t, err)
		a, err := startCall(newFixture(t).compiled(twoSteps))(g)
		must(t, err)
		if f == killed {
			_, err = unaudited(g).Cancel(context.Background(), caller(2), &performerStub{}, a.Position(),
				engine.CancelRequest{Reason: "r"})
			must(t, err)
		}
	}
	kept := killed.Reopen()
	g, err := onAudited(kept, 2)
	must(t, err)
	must(t, g.Ledger().Act(context.Background(), caller(3), ofStore(audit.GC), nothing))
	return map[string]*crashfs.FS{"no store": crashfs.New(), "no audit log": started.Reopen(),
		"a fact without its line": killed.Reopen(),
		"an audit log":            kept.Reopen()}
}

// TestExploreCrashesOfActs: in every state that a power cut leaves of the disk, the intention of an
// act that was carried out is on record, and so is the outcome of one that was answered. The act
// counts if and only if its outcome is recorded. The audit log is healthy, and accepts the next act,
// with which a person continues.
func TestExploreCrashesOfActs(t *testing.T) {
	t.Parallel()
	for actName, act := range exploredActs(t) {
		for name, base := range auditBases(t) {
			t.Run(actName+" "+name, func(t *testing.T) {
				facts := auditOf(t, base).cancels
				look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 120)}
				count := crashfs.Explore(base, look, func(f *crashfs.FS) {
					must(t, act.run(f, 2))
				}, func(s crashfs.State, done bool) bool {
					at := act.of(t, s.FS)
					ok := at.codes == "" && at.cancels == facts && len(at.outcomes) <= 1
					// nothing is done without a recorded intention
					ok = ok && (!at.written || len(at.outcomes) == 1)
					// nothing is recorded as done that was not done
					recorded := len(at.outcomes) == 1 && at.outcomes[0] == audit.Succeeded
					ok = ok && (!recorded || at.written) && at.counts == recorded
					ok = ok && (!done || at.counts) // an answered act is recorded
					next := s.FS.Reopen()
					err := act.run(next, 4)
					after := act.of(t, next)
					if ok = ok && err == nil && after.counts && after.codes == "" && after.cancels == facts; !ok {
						t.Errorf("in the state %s: %+v, and after the next act (%v) %+v", s.Name, at, err, after)
					}
					return ok
				})
				t.Logf("%d operations, %d crash states", count.Ops, count.States)
			})
		}
	}
}

// TestFaultsOfActs: one operation at a time fails, tears or is the last one. Nothing is done
// without its intention, an act that is answered is done and counts, and one that could not begin,
// or whose outcome could not be recorded, returns an error.
func TestFaultsOfActs(t *testing.T) {
	t.Parallel()
	for actName, act := range exploredActs(t) {
		for name, base := range auditBases(t) {
			t.Run(actName+" "+name, func(t *testing.T) {
				count := crashfs.InjectFaults(base, sample.OneIn(t, 60),
					func(f *crashfs.FS) error { return act.run(f, 2) },
					func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
						at := act.of(t, left)
						ok := at.codes == "" && (!at.written || len(at.outcomes) > 0)
						killed := flaw.Err == nil
						ok = ok && (err != nil || killed || at.counts)
						ok = ok && (err == nil || killed || !at.counts || fault.Is(err, fault.StoreOutcomeUnknown) ||
							fault.Is(err, fault.PolicyUnconfirmed))
						next := left.Reopen()
						again := act.run(next, 4)
						after := act.of(t, next)
						if ok = ok && again == nil && after.counts && after.codes == ""; !ok {
							t.Errorf("%s %s: %v: %+v, and after the next act (%v) %+v", op, flaw, err, at, again, after)
						}
						return ok
					})
				t.Logf("%d operations, %d faults", count.Ops, count.Faults)
			})
		}
	}
}

// TestExploreCrashesOfFacts: a call whose fact has a line is explored with it. No line outlives its
// fact, and a fault of the audit log does not fail the call.
func TestExploreCrashesOfFacts(t *testing.T) {
	t.Parallel()
	base := auditBases(t)["no audit log"]
	end := func(f *crashfs.FS, seed byte) error {
		g, err := onAudited(f, seed)
		if err != nil {
			return err
		}
		at, err := g.Locate(context.Background(), engine.Last)
		if err == nil {
			_, err = g.Cancel(context.Background(), caller(9), &performerStub{}, at, engine.CancelRequest{Reason: "r"})
		}
		return err
	}
	look := crashfs.ExploreOptions{Limit: crashLimit / 4, Cases: sample.OneIn(t, 8)}
	count := crashfs.Explore(base, look, func(f *crashfs.FS) { must(t, end(f, 2)) },
		func(s crashfs.State, done bool) bool {
			at := auditOf(t, s.FS)
			ok := at.codes == "" && at.cancels <= 1 && (!done || at.cancels == 1 && at.lines == 1)
			if !ok {
				t.Errorf("in the state %s: %+v", s.Name, at)
			}
			return ok
		})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
	audits := 0
	count = crashfs.InjectFaults(base, sample.OneIn(t, 24), func(f *crashfs.FS) error { return end(f, 2) },
		func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
			at := auditOf(t, left)
			ofAudit := strings.HasPrefix(op.Name, "audit") || strings.HasPrefix(op.Name, "cache")
			ok := at.codes == "" && (!ofAudit || flaw.Err == nil || err == nil && at.cancels == 1)
			if ofAudit {
				audits++
			}
			if !ok {
				t.Errorf("%s %s: %v: %+v", op, flaw, err, at)
			}
			return ok
		})
	if audits == 0 {
		t.Error("no operation on the audit log went wrong")
	}
	t.Logf("%d operations, %d faults", count.Ops, count.Faults)
}

// TestALineIsDurableAfterItsFact: a process dies between writing its group and syncing it. The next
// writer that completes the audit log reads the fact from memory: the line must not survive a power
// cut that the fact does not.
func TestALineIsDurableAfterItsFact(t *testing.T) {
	t.Parallel()
	base := auditBases(t)["no audit log"]
	end := func(f *crashfs.FS) {
		g, err := on(f, 2)
		must(t, err)
		at, err := g.Locate(context.Background(), engine.Last)
		must(t, err)
		_, _ = unaudited(g).Cancel(context.Background(), caller(9), &performerStub{}, at,
			engine.CancelRequest{Reason: "r"})
	}
	last := -1
	learn := base.Reopen()
	learn.Before = func(op crashfs.Op) {
		if op.Action == "sync" && strings.HasSuffix(op.Name, manifest.FileName) {
			last = op.N
		}
	}
	end(learn)
	dying := base.Reopen()
	dying.Fault = &crashfs.Fault{At: last}
	end(dying)
	left := dying.Reopen()
	if at := auditOf(t, left); at.cancels != 1 || at.lines != 0 {
		t.Fatalf("the dying process did not get as far as the test needs: %+v", at)
	}
	look := crashfs.ExploreOptions{Limit: crashLimit / 4, Cases: sample.OneIn(t, 32)}
	count := crashfs.Explore(left, look, func(f *crashfs.FS) {
		g, err := onAudited(f, 5)
		must(t, err)
		must(t, g.Ledger().Act(context.Background(), caller(9), ofStore(audit.GC), nothing))
	}, func(s crashfs.State, done bool) bool {
		at := auditOf(t, s.FS)
		ok := at.codes == "" && (!done || at.cancels == 1)
		if !ok {
			t.Errorf("in the state %s: %+v", s.Name, at)
		}
		return ok
	})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}
