package engine_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
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
	before func(name string)
}

func (i interrupted) Open(name string, mode osfs.Mode) (osfs.File, error) {
	i.before(name)
	return i.unsynced.Open(name, mode)
}

func (i interrupted) List(name string) ([]osfs.Entry, error) {
	i.before(name)
	return i.unsynced.List(name)
}

func (i interrupted) Stat(name string) (osfs.Info, error) {
	i.before(name)
	return i.unsynced.Stat(name)
}

// verifiedStore is a store with two sessions that have notes, annotations, artifacts and audited facts.
func verifiedStore(t *testing.T) (w *fixture, goes engine.Answer) {
	t.Helper()
	w = newCleanupFixture(t)
	stays := w.must(w.start(twoSteps), note("stays"))
	goes = w.must(w.start(twoSteps),
		advance.Request{Notes: "n", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}})
	if _, err := w.cancel(&performerStub{}, goes.Position(), engine.CancelRequest{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []engine.Answer{stays, goes} {
		if _, err := w.g.Annotate(t.Context(), w.by(), annotationSeed(int(w.seeds)), a.Position(),
			remark(feedback.Flag())); err != nil {
			t.Fatal(err)
		}
	}
	w.sound()
	return w, goes
}

// openInterrupted opens a store whose readings call before.
func openInterrupted(t testing.TB, dir string, wait time.Duration, before func(string)) *enginetest.Engine {
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
		// The first and the last operation on each name: a file that is gone by then existed when it was listed or
		// referred to.
		var mu sync.Mutex
		first, last, total := map[string]int{}, map[string]int{}, 0
		count := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			if _, again := first[name]; !again {
				first[name] = total
			}
			last[name], total = total, total+1
		}
		if _, err := openInterrupted(t, w.dir, 0, count).VerifyWith(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		operations := slices.AppendSeq(slices.Collect(maps.Values(first)), maps.Values(last))
		slices.Sort(operations)
		operations = slices.Compact(operations)
		for _, then := range []struct {
			name  string
			apart int
			purge bool
			block int // one case in so many is tried by default
		}{{"moved", 0, false, 8}, {"moved and back", 1, false, 16}, {"moved and back later", 7, false, 16},
			{"removed", 1, true, 1}, {"removed later", 9, true, 16}} {
			t.Run(name+" "+then.name, func(t *testing.T) {
				t.Parallel()
				cases, moved := sample.OneIn(t, then.block), 0
				for k := range cases.Of(len(operations)) {
					moved += verifyWhileMoving(t, w, o, goes.Session.SessionID.String(), operations[k], then.apart, then.purge)
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
	before := func(string) {
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
	g := openInterrupted(t, w.dir, 30*time.Second, func(string) {})
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

// removedBeforeArtifact verifies a store beside a session that is removed for good with its objects before the first
// artifact is opened: of the verification, or after the directory of artifacts was listed.
func removedBeforeArtifact(t *testing.T, listedFirst bool) {
	t.Helper()
	t.Parallel()
	w := newCleanupFixture(t)
	// Its last segment refers to the artifact: nothing of the log is read after it.
	goes := w.must(w.start(longOne),
		advance.Request{Notes: "n", Artifacts: []advance.Artifact{advance.JSONArtifact(set("kind", "report"))}})
	s, err := openUnsynced(t, w.dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &mover{t: t, g: cleanupEngine(s), ref: goes.Session.SessionID.String(), purge: true}
	listed := !listedFirst
	g := openInterrupted(t, w.dir, 0, func(name string) {
		listed = listed || name == "artifacts"
		if strings.HasPrefix(name, "artifacts/sha256_") && listed && m.moves == 0 {
			m.move()
			m.move()
		}
	})
	v, err := g.Verify(t.Context())
	if bad := damageIn(v); err != nil || len(bad) > 0 || m.moves != 2 {
		t.Errorf("%d moves, %v, %+v", m.moves, err, bad)
	}
}

// TestVerifyBesideRemovalBeforeAnArtifactIsRead: a session is removed for good with its objects after its log was read,
// and before an artifact of it is.
func TestVerifyBesideRemovalBeforeAnArtifactIsRead(t *testing.T) { removedBeforeArtifact(t, false) }

// TestVerifyBesideRemovalOfAListedObject: an object that is gone when it is opened, and existed when its directory
// was listed, was removed in between.
func TestVerifyBesideRemovalOfAListedObject(t *testing.T) { removedBeforeArtifact(t, true) }

// TestVerifyBlocksNoWriterWhileSessionsAreRead: lines of the audit log without their facts are looked for again in
// their sessions, and meanwhile others write to the audit log.
func TestVerifyBlocksNoWriterWhileSessionsAreRead(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	for range 5 {
		w.start(twoSteps)
	}
	back := w.start(twoSteps)
	dir, copied := filepath.Join(w.dir, "sessions", back.Session.SessionID.String()), filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied, os.DirFS(dir)))
	if _, err := w.cancel(&performerStub{}, back.Position(), engine.CancelRequest{Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	must(t, os.RemoveAll(dir))
	must(t, os.CopyFS(dir, os.DirFS(copied)))
	chmodPrivate(t, dir)
	// The audit log may be read without changes beside a session, for a moment.
	s, err := openUnsynced(t, w.dir, filestore.Options{LockWait: 5 * time.Second})
	must(t, err)
	var mu sync.Mutex
	var audited atomic.Bool
	writer, written := over(s), 0
	g := openInterrupted(t, w.dir, 0, func(name string) {
		if strings.HasPrefix(name, "audit/") {
			audited.Store(true)
		}
		if !audited.Load() || !strings.HasPrefix(name, "sessions/") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		written++
		if err := writer.Ledger().Act(t.Context(), w.by(), ofStore(audit.Configure), nothing); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	v, err := g.Verify(t.Context())
	if err != nil || v.OK || written == 0 {
		t.Fatalf("%v after %d acts: %+v", err, written, v)
	}
	found := slices.DeleteFunc(v.Findings, func(f manifest.Finding) bool { return f.Severity != manifest.SeverityError })
	if len(found) != 1 || found[0].Code != manifest.AuditUnfounded {
		t.Errorf("%+v", found)
	}
}
