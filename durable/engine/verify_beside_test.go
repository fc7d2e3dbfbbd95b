package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// interrupted is a directory that calls before ahead of every operation that reads.
type interrupted struct {
	unsynced
	before func()
}

func (i interrupted) Open(name string, mode osfs.Mode) (osfs.File, error) {
	i.before()
	return i.unsynced.Open(name, mode)
}

func (i interrupted) List(name string) ([]osfs.Entry, error) {
	i.before()
	return i.unsynced.List(name)
}

func (i interrupted) Stat(name string) (osfs.Info, error) {
	i.before()
	return i.unsynced.Stat(name)
}

// verifiedStore is a store with two sessions that have notes, annotations, artifacts and audited facts.
func verifiedStore(t *testing.T) (w *fixture, goes engine.Answer) {
	t.Helper()
	w = newCleanupFixture(t)
	w.must(w.start(twoSteps), note("stays"))
	goes = w.must(w.start(longOne),
		advance.Request{Notes: "n", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}})
	for _, a := range []engine.Answer{w.cancelled("enough"), goes} {
		if _, err := w.g.Annotate(t.Context(), w.by(), annotationSeed(int(w.seeds)), a.Position(),
			remark(feedback.Flag())); err != nil {
			t.Fatal(err)
		}
	}
	w.sound()
	return w, goes
}

// openInterrupted opens a store whose readings call before.
func openInterrupted(t testing.TB, dir string, wait time.Duration, before func()) *enginetest.Engine {
	t.Helper()
	d := osfs.NewDir(dir)
	t.Cleanup(func() { _ = d.Close() })
	s, err := filestore.Open(interrupted{unsynced{d}, before},
		filestore.Options{Locks: lock.Files(d), Boot: osfs.Boot(), LockWait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return over(s)
}

// mover deletes and restores a session in turn, as another process.
type mover struct {
	t     *testing.T
	g     *enginetest.Engine
	ref   string
	moves int
	purge bool
}

// move deletes the session, or restores it. A busy lock is left alone.
func (m *mover) move() {
	m.t.Helper()
	ctx, by := context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 1_900_000_000_000}
	var err error
	switch trash, listErr := m.g.Trashed(ctx); {
	case listErr != nil:
		err = listErr
	case len(trash) == 0:
		_, err = m.g.DeleteSessions(ctx, by, upkeep.DeleteRequest{Refs: []string{m.ref}})
	case m.purge:
		_, err = m.g.GC(ctx, by, upkeep.GCRequest{Apply: true, EmptyTrash: true})
	default:
		_, err = m.g.RestoreSession(ctx, by, m.ref)
	}
	switch {
	case err == nil:
		m.moves++
	case !fault.Is(err, fault.SessionLocked) && !fault.Is(err, fault.StoreLocked) &&
		!fault.Is(err, fault.SessionNotFound) && !fault.Is(err, fault.RunNotFound):
		m.t.Errorf("moving the session: %v", err)
	}
}

// damageIn returns the findings that no quiet verification of either state has.
func damageIn(v verify.Verification) (out []manifest.Finding) {
	for _, s := range v.Sessions {
		out = append(out, s.Findings...)
	}
	return slices.DeleteFunc(append(out, v.Findings...), func(f manifest.Finding) bool {
		return f.Code == manifest.OrphanObject // of a session in the trash
	})
}

// TestVerifyBesideMovesAtEachOperation: whenever a session goes to the trash, comes back, or is removed for good with
// its objects, a verification reports nothing that a quiet one does not.
func TestVerifyBesideMovesAtEachOperation(t *testing.T) {
	t.Parallel()
	w, goes := verifiedStore(t)
	for name, o := range map[string]verify.VerifyOptions{"decoded": {}, "digests": {Digests: true}} {
		total := 0
		if _, err := openInterrupted(t, w.dir, 0, func() { total++ }).VerifyWith(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		for _, then := range []struct {
			name  string
			apart int
			purge bool
		}{{"moved", 0, false}, {"moved and back", 1, false}, {"moved and back later", 7, false}, {"removed", 1, true},
			{"removed later", 9, true}} {
			t.Run(name+" "+then.name, func(t *testing.T) {
				t.Parallel()
				cases, moved := sample.OneIn(t, 8), 0
				for k := range cases.Of(total) {
					moved += verifyWhileMoving(t, w, o, goes.Session.SessionID.String(), k, then.apart, then.purge)
				}
				if moved == 0 {
					t.Errorf("moved %d times in %d operations", moved, total)
				}
			})
		}
	}
}

// verifyWhileMoving verifies a copy of a store. Before operation k the session is deleted, and apart operations later
// restored or removed for good.
func verifyWhileMoving(t *testing.T, w *fixture, o verify.VerifyOptions, ref string, k, apart int, purge bool) int {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	chmodPrivate(t, dir)
	s, err := openUnsynced(t, dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, n := &mover{t: t, g: cleanupEngine(s), ref: ref, purge: purge}, 0
	var mu sync.Mutex
	before := func() {
		mu.Lock()
		defer mu.Unlock()
		if n == k || apart > 0 && n == k+apart {
			m.move()
		}
		n++
	}
	v, err := openInterrupted(t, dir, 0, before).VerifyWith(t.Context(), o)
	if err != nil && !fault.Is(err, fault.SessionLocked) && !fault.Is(err, fault.StoreLocked) {
		t.Errorf("operation %d: %v", k, err)
	}
	if bad := damageIn(v); len(bad) > 0 || !v.OK {
		t.Errorf("operation %d: %+v", k, bad)
	}
	return m.moves
}

// chmodPrivate gives a copied store the modes of a store.
func chmodPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(at, 0o700)
		} else if err == nil {
			return os.Chmod(at, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerifyBesideHundredMoves verifies in a loop while another process deletes and restores a session a hundred times.
func TestVerifyBesideHundredMoves(t *testing.T) {
	t.Parallel()
	w, goes := verifiedStore(t)
	s, err := openUnsynced(t, w.dir, filestore.Options{LockWait: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m := &mover{t: t, g: cleanupEngine(s), ref: goes.Session.SessionID.String()}
	var done atomic.Bool
	var moving sync.WaitGroup
	defer moving.Wait()
	moving.Go(func() {
		defer done.Store(true)
		for range 200 {
			m.move()
		}
	})
	g := openInterrupted(t, w.dir, 30*time.Second, func() {})
	for n := 0; !done.Load() || n == 0; n++ {
		v, err := g.VerifyWith(t.Context(), verify.VerifyOptions{Digests: n%2 == 1})
		if bad := damageIn(v); err != nil || len(bad) > 0 || !v.OK {
			t.Errorf("verification %d: %v, %+v", n, err, bad)
		}
	}
	if m.moves != 200 {
		t.Errorf("moved %d times", m.moves)
	}
	w.sound()
}
