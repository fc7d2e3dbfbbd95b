package engine_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// exchanged is one exchange between two disks: the source continues the session that the target has, with annotations of
// both sides.
type exchanged struct {
	source, target *crashfs.FS
	at             engine.Position
	before, after  manifest.Head
}

func newExchanged(t *testing.T) (x exchanged) {
	t.Helper()
	ctx := context.Background()
	x.source, x.target = crashfs.New(), crashfs.New()
	g, err := onAllPorts(x.source, 1)
	must(t, err)
	a, err := startCall(newFixture(t).compiled(twoSteps))(g)
	must(t, err)
	x.at = a.Position()
	to, err := onAllPorts(x.target, 2)
	must(t, err)
	must(t, sentTo(ctx, g, to, x.at.Run))
	_, err = g.Continue(ctx, caller(5), engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken,
		Request: advance.Request{Notes: "more", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "x"))}}})
	must(t, err)
	for n, g := range []*enginetest.Engine{g, to} {
		_, err := g.Annotate(ctx, caller(6), annotationSeed(n), x.at, remark(feedback.Label("label "+string(rune('a'+n)))))
		must(t, err)
	}
	x.before, x.after = headOn(t, x.target, x.at.Session), headOn(t, x.source, x.at.Session)
	x.source, x.target = x.source.Reopen(), x.target.Reopen()
	return x
}

// sentTo sends a run from one engine to another one.
func sentTo(ctx context.Context, from, to *enginetest.Engine, run id.Run) error {
	src, err := from.Source(ctx, id.Seed{7}, run.String())
	if err == nil {
		_, err = to.Import(ctx, caller(9), src, travel.ImportRequest{Accept: accepts, From: travel.Origin{Path: "/source"}})
	}
	return err
}

// headOn is the head of a session on a disk.
func headOn(t *testing.T, f *crashfs.FS, s id.Session) manifest.Head {
	t.Helper()
	g, err := onAllPorts(f.Reopen(), 3)
	must(t, err)
	v, err := g.VerifySession(context.Background(), s.String())
	must(t, err)
	return v.Sessions[0].Head
}

// send performs the exchange between two disks.
func (x exchanged) send(source, target *crashfs.FS, seed byte) error {
	from, err := onAllPorts(source, 4)
	if err != nil {
		return err
	}
	to, err := onAllPorts(target, seed)
	if err != nil {
		return err
	}
	return sentTo(context.Background(), from, to, x.at.Run)
}

// truth is whether the target has what was sent. ok is false for a target that is neither as before nor as after, or has
// a finding.
func (x exchanged) truth(t *testing.T, f *crashfs.FS) (is, ok bool) {
	t.Helper()
	g, err := onAllPorts(f.Reopen(), 3)
	if err != nil {
		t.Errorf("the target does not open: %v", err)
		return false, false
	}
	v, err := g.VerifyWith(context.Background(), verify.VerifyOptions{})
	if err != nil || !v.OK || len(v.Sessions) != 1 || v.Sessions[0].Head != x.before && v.Sessions[0].Head != x.after {
		t.Errorf("the target: %v, %+v", err, v)
		return false, false
	}
	return v.Sessions[0].Head == x.after, true
}

// completes repeats the exchange, after which the target has all of it.
func (x exchanged) completes(t *testing.T, f *crashfs.FS) bool {
	t.Helper()
	if err := x.send(x.source.Reopen(), f, 6); err != nil {
		t.Errorf("the exchange again: %v", err)
		return false
	}
	is, ok := x.truth(t, f)
	if !is {
		t.Error("the exchange again did not write")
	}
	return is && ok
}

// TestExchangeCrashesLeaveBeforeOrAfter: every state that a power cut can leave of the target has the session as before or
// as after, and the same call completes it. The source is never written.
func TestExchangeCrashesLeaveBeforeOrAfter(t *testing.T) {
	t.Parallel()
	x := newExchanged(t)
	files := x.source.Files()
	var acked error
	count := crashfs.Explore(x.target, crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 120)}, func(f *crashfs.FS) {
		source := x.source.Reopen()
		acked = x.send(source, f, 5)
		if left := source.Files(); !maps.EqualFunc(left, files, bytes.Equal) {
			t.Error("the source changed")
		}
	}, func(s crashfs.State, done bool) bool {
		is, ok := x.truth(t, s.FS)
		if done && (acked != nil || !is) {
			t.Errorf("%s: acknowledged with %v, and the target has it: %v", s.Name, acked, is)
			return false
		}
		return ok && x.completes(t, s.FS.Reopen())
	})
	t.Logf("%d operations, %d states", count.Ops, count.States)
}

// TestExchangeReportsEveryFault: after a fault of any operation on the disk of the target or of the source, the target is as
// before unless the answer is that it was written, or that this is unknown.
func TestExchangeReportsEveryFault(t *testing.T) {
	t.Parallel()
	x := newExchanged(t)
	check := func(t *testing.T, err error, target *crashfs.FS) bool {
		is, ok := x.truth(t, target)
		unknown := errors.Is(err, crashfs.ErrKilled) || fault.Is(err, fault.StoreOutcomeUnknown)
		if err == nil && !is || err != nil && !unknown && is {
			t.Errorf("the answer is %v, and the target has it: %v", err, is)
			ok = false
		}
		return ok && x.completes(t, target.Reopen())
	}
	t.Run("target", func(t *testing.T) {
		t.Parallel()
		count := crashfs.InjectFaults(x.target, sample.OneIn(t, 120), func(f *crashfs.FS) error { return x.send(x.source.Reopen(), f, 5) },
			func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
				ok := check(t, err, left)
				if !ok {
					t.Errorf("%s, %s", op, flaw)
				}
				return ok
			})
		t.Logf("%d operations, %d faults", count.Ops, count.Faults)
	})
	t.Run("source", func(t *testing.T) {
		t.Parallel()
		var target *crashfs.FS
		count := crashfs.InjectFaults(x.source, sample.OneIn(t, 40), func(f *crashfs.FS) error {
			target = x.target.Reopen()
			return x.send(f, target, 5)
		}, func(flaw crashfs.Fault, op crashfs.Op, err error, _ *crashfs.FS) bool {
			ok := check(t, err, target)
			if !ok {
				t.Errorf("%s, %s", op, flaw)
			}
			return ok
		})
		t.Logf("%d operations, %d faults", count.Ops, count.Faults)
	})
}
