package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

func cleanupEngineOn(f *crashfs.FS, seed byte) (*enginetest.Engine, error) {
	g, err := on(f, seed)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// cleanupCase is one call that removes or moves something.
type cleanupCase struct {
	name string
	base *crashfs.FS
	call func(*enginetest.Engine) error
	done func(leftover) bool // whether the disk holds what it must after the call has answered
}

// leftover is what a disk holds of the session that a call is about, and of its artifact.
type leftover struct{ live, trashed, bytes, grave bool }

// sessionPair is a disk with two sessions of one workflow; each call is about the second, which brought
// an artifact.
type sessionPair struct {
	stays, goes engine.Answer
	artifact    canon.Digest
}

func newSessionPair(t *testing.T) (*crashfs.FS, *sessionPair) {
	t.Helper()
	f := crashfs.New()
	g, err := cleanupEngineOn(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := newFixture(t).compiled(longOne)
	out := &sessionPair{}
	report := advance.JSONArtifact(set("kind", "report"))
	out.artifact = canon.Sum(report.Bytes)
	for i, a := range []*engine.Answer{&out.stays, &out.goes} {
		req := note("n")
		if i == 1 {
			req.Artifacts = []advance.Artifact{report}
		}
		if *a, err = startNamed(w, fmt.Sprint("explored ", i))(g); err == nil {
			*a, err = continueCall(*a, req)(g)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return f.Reopen(), out
}

func startNamed(w compile.Compiled, key string) func(*enginetest.Engine) (engine.Answer, error) {
	return func(g *enginetest.Engine) (engine.Answer, error) {
		return g.Start(context.Background(), caller(1), id.Seed{1},
			engine.Start{Workflow: w, SourceKind: event.SourceProject, SourceRef: "test.json", Key: key})
	}
}

func cleanupCases(t *testing.T) (*sessionPair, []cleanupCase) {
	full, st := newSessionPair(t)
	ctx := context.Background()
	ref := st.goes.Session.SessionID.String()
	remove := func(g *enginetest.Engine) error {
		_, err := g.DeleteSessions(ctx, caller(10), upkeep.DeleteRequest{Refs: []string{ref}, Reason: "r"})
		return err
	}
	changed := func(base *crashfs.FS, call func(*enginetest.Engine) error) *crashfs.FS {
		f := base.Reopen()
		g, err := cleanupEngineOn(f, 7)
		if err == nil {
			err = call(g)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f.Reopen()
	}
	gc := func(days int64, req upkeep.GCRequest) func(g *enginetest.Engine) error {
		return func(g *enginetest.Engine) error {
			r, err := g.GC(ctx, caller(10+days*dayMs), req)
			if err == nil && r.SafeMode {
				err = fmt.Errorf("safe mode: %+v", r.Unclear)
			}
			return err
		}
	}
	deleted := changed(full, remove)
	orphaned := changed(deleted, func(g *enginetest.Engine) error { _, err := g.EmptyTrash(ctx, caller(11)); return err })
	kept := changed(full, func(g *enginetest.Engine) error {
		_, err := g.KeepSession(ctx, caller(9), upkeep.KeepRequest{Ref: st.stays.Session.SessionID.String()})
		return err
	})
	erase := func(g *enginetest.Engine) error {
		_, err := g.EraseArtifact(ctx, caller(12), st.artifact, "a secret")
		return err
	}
	return st, []cleanupCase{
		{"delete", full, remove, func(l leftover) bool { return !l.live && l.trashed && l.bytes }},
		{"restore", deleted, func(g *enginetest.Engine) error {
			_,
				err := g.RestoreSession(ctx, caller(13), ref)
			return err
		},
			func(l leftover) bool { return l.live && !l.trashed && l.bytes }},
		{"empty the trash", deleted,
			func(g *enginetest.Engine) error { _, err := g.EmptyTrash(ctx, caller(13)); return err },
			func(l leftover) bool { return !l.live && !l.trashed && l.bytes }},
		{"clean up: an expired session", kept, gc(91, upkeep.GCRequest{Apply: true}),
			func(l leftover) bool { return !l.live && l.trashed && l.bytes }},
		{"clean up: old trash and its objects", deleted, gc(31, upkeep.GCRequest{Apply: true}),
			func(l leftover) bool { return !l.live && !l.trashed }},
		{"clean up: objects", orphaned, gc(0, upkeep.GCRequest{Apply: true}), func(l leftover) bool {
			return !l.live &&
				!l.trashed
		}},
		{"erase", full, erase, func(l leftover) bool { return l.live && !l.bytes && l.grave }},
	}
}

// halfRenamed reports a state in which one directory has two names or none. A rename is one step for
// every journaling filesystem: the model of the disk is stricter than any disk, and nothing that is
// made of renames could hold in it.
func halfRenamed(st *sessionPair, f *crashfs.FS, was bool) bool {
	names := map[string]bool{}
	for name := range f.Files() {
		if parts := strings.SplitN(name, "/", 3); len(parts) == 3 && parts[2] == manifest.FileName &&
			!strings.Contains(parts[1], st.stays.Session.SessionID.String()) {
			names[parts[0]+"/"+parts[1]] = true
		}
	}
	return len(names) > 1 || was && len(names) == 0
}

// look is what the next process finds. The store must verify, the other session must be complete,
// and a session in the trash must be restorable.
func (st *sessionPair) look(f *crashfs.FS) (l leftover, err error) {
	ctx := context.Background()
	g, err := cleanupEngineOn(f.Reopen(), 3)
	if err != nil {
		return l, err
	}
	v, err := g.Verify(ctx)
	if err != nil || !v.OK {
		return l, fmt.Errorf("verify: %v, %+v", err, v)
	}
	there := 0
	for _, s := range v.Sessions {
		if s.SessionID == st.stays.Session.SessionID && s.Events == s.Head.Next && s.Head.NextRecord > 2 {
			there++
		}
		l.live = l.live || s.SessionID == st.goes.Session.SessionID
	}
	if there != 1 {
		return l, errors.New("the other session is gone")
	}
	trash, err := g.Trashed(ctx)
	if err != nil {
		return l, err
	}
	for _, t := range trash {
		l.trashed = true
		if err := st.restorable(f, t.Name); err != nil {
			return l, fmt.Errorf("in the trash: %w", err)
		}
	}
	files := f.Files()
	_, l.bytes = files["artifacts/"+st.artifact.FileName()]
	_, l.grave = files["artifacts/"+st.artifact.FileName()+".erased"]
	_, err = g.Store.Object(ctx, manifest.Artifact, st.artifact)
	if l.grave != fault.Is(err, fault.ArtifactErased) {
		return l, fmt.Errorf("erased or not: %v", err)
	}
	return l, nil
}

// restorable restores a session on a copy of the disk, and verifies it there.
func (st *sessionPair) restorable(f *crashfs.FS, name string) error {
	g, err := cleanupEngineOn(f.Reopen(), 5)
	if err != nil {
		return err
	}
	if _, err := g.RestoreSession(context.Background(), caller(20), name); err != nil {
		return err
	}
	v, err := g.VerifySession(context.Background(), st.goes.Session.SessionID.String())
	if err == nil && !v.OK {
		err = fmt.Errorf("%+v", v.Sessions)
	}
	return err
}

// continues runs a cleanup on what is left, and continues the other session.
func (st *sessionPair) continues(f *crashfs.FS) error {
	next := f.Reopen()
	g, err := cleanupEngineOn(next, 6)
	if err != nil {
		return err
	}
	r, err := g.GC(context.Background(), caller(30), upkeep.GCRequest{Apply: true})
	if err != nil || r.SafeMode || len(r.Skipped) > 0 {
		return fmt.Errorf("cleaning up: %v, %+v", err, r)
	}
	if _, err := st.look(next); err != nil {
		return fmt.Errorf("after cleaning up: %w", err)
	}
	for name := range next.Files() {
		if strings.Contains(name, ".tmp-") {
			return fmt.Errorf("still there: %s", name)
		}
	}
	g, err = cleanupEngineOn(next, 8)
	if err == nil {
		_, err = continueCall(st.stays, note("more"))(g)
	}
	return err
}

// TestExploreCrashesOfTidying: in every state that a power cut leaves of the disk while something
// is deleted, restored, cleaned up or erased, nothing that a log names is gone, the call can be
// made again, and its effect is durable once it has answered.
func TestExploreCrashesOfTidying(t *testing.T) {
	t.Parallel()
	st, all := cleanupCases(t)
	for _, u := range all {
		t.Run(u.name, func(t *testing.T) {
			skipped := 0
			before, err := st.look(u.base)
			if err != nil {
				t.Fatal(err)
			}
			look := crashfs.ExploreOptions{Limit: crashLimit / 16, Cases: sample.OneIn(t, 30)}
			count := crashfs.Explore(u.base, look, func(f *crashfs.FS) {
				g, err := cleanupEngineOn(f, 2)
				if err == nil {
					err = u.call(g)
				}
				if err != nil {
					t.Fatal(err)
				}
			}, func(s crashfs.State, done bool) bool {
				if !done && halfRenamed(st, s.FS, strings.HasPrefix(u.name, "delete") ||
					strings.HasPrefix(u.name, "restore")) {
					skipped++
					return true
				}
				l, err := st.look(s.FS)
				if err == nil && done && !u.done(l) {
					err = fmt.Errorf("the call was answered, and there is %+v", l)
				}
				if err == nil && before.bytes && !l.bytes && l.live && !l.grave {
					err = fmt.Errorf("bytes that a log names are gone: %+v", l)
				}
				if err == nil {
					err = st.continues(s.FS)
				}
				if err != nil {
					t.Errorf("%s: %v", s.Name, err)
				}
				return err == nil
			})
			t.Logf("%d operations, %d crash states, %d of them halves of a rename", count.Ops, count.States, skipped)
		})
	}
}

// TestFaultsOfTidying: one operation fails, tears or is the last one. The store stays valid, and an
// error other than an unknown outcome means that nothing was done to it.
func TestFaultsOfTidying(t *testing.T) {
	t.Parallel()
	st, all := cleanupCases(t)
	for _, u := range all {
		t.Run(u.name, func(t *testing.T) {
			before, err := st.look(u.base)
			if err != nil {
				t.Fatal(err)
			}
			count := crashfs.InjectFaults(u.base, sample.OneIn(t, 40), func(f *crashfs.FS) error {
				g, err := cleanupEngineOn(f, 2)
				if err == nil {
					err = u.call(g)
				}
				return err
			}, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
				l, wrong := st.look(after)
				switch {
				case wrong != nil:
				case err == nil && !u.done(l):
					wrong = fmt.Errorf("the call answered, and the disk holds %+v", l)
				case err != nil && flaw.Err != nil && (u.name == "delete" || u.name == "restore") && l != before &&
					!fault.Is(err, fault.StoreOutcomeUnknown):
					wrong = fmt.Errorf("the error states that nothing was done, and the disk holds %+v", l)
				default:
					wrong = st.continues(after)
				}
				if wrong != nil {
					t.Errorf("%s, %s: the call returned %v: %v", op, flaw, err, wrong)
				}
				return wrong == nil
			})
			t.Logf("%d operations, %d faults", count.Ops, count.Faults)
		})
	}
}
