package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// newStores returns what opens handles of a store that is empty.
func newStores(t testing.TB) func(time.Duration) *Store {
	t.Helper()
	address := Empty(t)
	return func(wait time.Duration) *Store {
		s := Open(address, Options{LockWait: wait})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kill ends a process of the server.
func kill(t testing.TB, s *Store, pid int64) {
	t.Helper()
	ended := false
	must(t, s.db.Run(t.Context(), db.Query("select pg_terminate_backend($1::int, 10000)", pid).Into(func(r db.Row) error {
		ended = r.IsTrue(0)
		return nil
	})))
	if !ended {
		t.Fatal("the process did not end")
	}
}

// processOf returns the process of the server for a transaction.
func processOf(t testing.TB, k *db.Kept) (pid int64) {
	t.Helper()
	must(t, k.Run(t.Context(), db.Query("select pg_backend_pid()::bigint").Into(func(r db.Row) error { pid = r.Int(0); return nil })))
	return pid
}

// processWith returns the process of the server that has a lock.
func processWith(t testing.TB, s *Store, lock string) int64 {
	t.Helper()
	return count(t, s, "select pid::bigint from pg_locks where locktype = 'advisory' and granted and ((classid::bigint << 32) | objid::bigint) = $1",
		db.LockName(lock))
}

// count returns the number of rows that a query counts.
func count(t testing.TB, s *Store, sql string, args ...any) (n int64) {
	t.Helper()
	must(t, s.db.Run(t.Context(), db.Query(sql, args...).Into(func(r db.Row) error { n = r.Int(0); return nil })))
	return n
}

// rowCount returns how many rows there are of logs, groups and control files.
func rowCount(t testing.TB, s *Store) int64 {
	t.Helper()
	return count(t, s, "select (select count(*) from @.logs) + (select count(*) from @.groups) + (select count(*) from @.controls)")
}

// gate commits a plan behind the present head of its log.
func gate(s *Store, p manifest.Plan) (head manifest.Head, err error) {
	ctx := context.Background()
	err = ports.WithHealthySession(ctx, s, s, p.Log, manifest.Head{}, ports.Skip, func(w ports.Witness, v manifest.Verdict) (err error) {
		head, err = s.Append(ctx, w, v.Head, p)
		return err
	})
	return head, err
}

// mark is the content of an import mark.
func mark() ports.Control { return ports.Control{V: imported.Version, Data: canon.OfMembers()} }

// pattern returns n bytes that differ from part to part.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16 ^ i>>20)
	}
	return b
}

// TestImportedObjectHasParts: an object is stored in parts, in which pieces its reader returns it does not matter; one that is intact is not written
// again, and a damaged one is replaced, also where damage is another size or a part too many.
func TestImportedObjectHasParts(t *testing.T) {
	t.Parallel()
	s := newStores(t)(0)
	ctx, session := t.Context(), fixture.NewSessionFixture(1).Session
	for _, size := range []int{0, 1, partBytes, 3 * partBytes, 3*partBytes + 5} {
		b := pattern(size)
		ref := canon.DigestOf(sha256.Sum256(b))
		store := func() {
			t.Helper()
			a, err := s.BeginImport(ctx, session)
			must(t, err)
			must(t, a.Object(ctx, manifest.Artifact, ref, io.MultiReader(bytes.NewReader(b[:size/3]), bytes.NewReader(b[size/3:]))))
			must(t, a.End())
			r, n, err := s.ObjectStream(ctx, manifest.Artifact, ref)
			must(t, err)
			if got, err := io.ReadAll(r); err != nil || n != int64(size) || !bytes.Equal(got, b) {
				t.Fatalf("%d bytes are read as %d of %d, %v", size, len(got), n, err)
			}
			want := int64(max(1, (size+partBytes-1)/partBytes))
			if got := count(t, s, "select count(*) from @.objects where ref = $1", ref.String()); got != want {
				t.Errorf("%d bytes have %d parts; want %d", size, got, want)
			}
		}
		version := func() int64 {
			return count(t, s, "select sum(xmin::text::bigint)::bigint from @.objects where ref = $1", ref.String())
		}
		store()
		before := version()
		store()
		if version() != before {
			t.Errorf("%d bytes that were intact are written again", size)
		}
		for _, damage := range []string{
			"update @.objects set bytes = bytes || '!' where ref = $1 and part = (select max(part) from @.objects where ref = $1)",
			"update @.objects set size = size + 1 where ref = $1",
			"insert into @.objects select kind, ref, part + 1, size, '!' from @.objects where ref = $1 order by part desc limit 1",
			"update @.objects set part = part + 7 where ref = $1 and part > 0",
		} {
			must(t, s.db.Run(ctx, db.Query(damage, ref.String())))
			store()
		}
	}
}

// TestImportRefusesWrongBytes: nothing of an object is kept whose bytes are wrong, and an error of its source is returned as it is,
// also one that could be taken for its end.
func TestImportRefusesWrongBytes(t *testing.T) {
	s := newStores(t)(0)
	ctx, session := t.Context(), fixture.NewSessionFixture(1).Session
	b := pattern(3 * partBytes)
	failed := errors.New("the source fails")
	for what, tt := range map[string]struct {
		r    io.Reader
		want func(error) bool
	}{
		"other bytes":      {bytes.NewReader(b[1:]), func(err error) bool { return fault.Is(err, fault.StoreCorrupt) }},
		"a failing source": {io.MultiReader(bytes.NewReader(b[:2*partBytes]), failing{failed}), func(err error) bool { return err == failed }},
		"a source that ends early": {io.MultiReader(bytes.NewReader(b[:2*partBytes]), failing{io.ErrUnexpectedEOF}),
			func(err error) bool { return err == io.ErrUnexpectedEOF }},
	} {
		a, err := s.BeginImport(ctx, session)
		must(t, err)
		if err := a.Object(ctx, manifest.Artifact, canon.DigestOf(sha256.Sum256(b)), tt.r); err == nil || !tt.want(err) {
			t.Errorf("%s: %v", what, err)
		}
		must(t, a.End())
	}
	if n := count(t, s, "select count(*) from @.objects"); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestLostImport: an import whose connection is lost leaves no session, and says so; the next one is placed.
func TestLostImport(t *testing.T) {
	t.Parallel()
	open := newStores(t)
	s, other, tr := open(0), open(0), fixture.NewImportFixture(t, 1, 3)
	ctx := t.Context()
	for what, commit := range map[string]func(*arrival) (bool, error){
		"before its commit": func(a *arrival) (bool, error) { return a.Commit(ctx) },
		"in its commit": func(a *arrival) (bool, error) {
			must(t, a.flush(ctx))
			kill(t, other, processOf(t, a.kept))
			return a.finish(ctx, nil)
		},
	} {
		begun, err := s.BeginImport(ctx, tr.Session)
		must(t, err)
		a := begun.(*arrival)
		must(t, tr.PassTo(ctx, a, mark()))
		if what == "before its commit" {
			must(t, a.flush(ctx))
			kill(t, other, processOf(t, a.kept))
		}
		if placed, err := commit(a); placed || !fault.Is(err, fault.StoreUnreachable) {
			t.Errorf("%s: %v, %v; want STORE_UNREACHABLE", what, placed, err)
		}
		must(t, a.End())
		if n := rowCount(t, other); n != 0 {
			t.Errorf("%s: %d rows are left", what, n)
		}
	}
	if placed, err := tr.Import(s, mark()); !placed || err != nil {
		t.Errorf("the next import: %v, %v", placed, err)
	}
}

// TestUnansweredImport: a commit that was made and not answered is found by the digest of its last group.
func TestUnansweredImport(t *testing.T) {
	s, tr := newStores(t)(0), fixture.NewImportFixture(t, 1, 3)
	ctx := t.Context()
	a, err := s.BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, mark()))
	x := a.(*arrival)
	// The commit is made by a statement in front of the one that counts, and the rest fails as on a connection that is lost.
	must(t, x.flush(ctx))
	own := x.find(tr.Log.Root)
	pid := processOf(t, x.kept)
	must(t, x.kept.Run(ctx, placeLog(own).Statement, db.Query("commit")))
	kill(t, s, pid)
	if placed, err := x.finish(ctx, nil); !placed || err != nil {
		t.Errorf("a commit without an answer: %v, %v; want it to be found", placed, err)
	}
	must(t, a.End())
}

// TestImportDoesNotBlock: an import in progress keeps no writer from the names and objects that it brings; a session that is
// committed meanwhile stays.
func TestImportDoesNotBlock(t *testing.T) {
	open := newStores(t)
	tr, own := fixture.NewImportFixture(t, 1, 3), fixture.NewSessionFixture(1)
	ctx := t.Context()
	a, err := open(0).BeginImport(ctx, tr.Session)
	must(t, err)
	must(t, tr.PassTo(ctx, a, mark()))
	must(t, a.(*arrival).flush(ctx))
	head, err := gate(open(0), own.Start())
	must(t, err)
	if placed, err := tr.Import(open(0), mark()); placed || err != nil {
		t.Errorf("a second import: %v, %v; want it not placed", placed, err)
	}
	if placed, err := a.Commit(ctx); placed || err != nil {
		t.Errorf("over a session that was committed: %v, %v; want it not placed", placed, err)
	}
	must(t, a.End())
	s := open(0)
	if v, err := s.Read(ctx, ports.ReadRequest{Log: own.Log}, ports.Skip); err != nil || v.Head != head {
		t.Errorf("the session is %+v, %v", v, err)
	}
	if n := count(t, s, "select count(*) from @.logs"); n != 1 {
		t.Errorf("there are %d logs; want the one", n)
	}
}

// TestExtensionComparesLease: an extension under a lease that is not present changes nothing, and one under the present lease is
// made; locks of the caller's logs are free afterwards, and the session has no brief.
func TestExtensionComparesLease(t *testing.T) {
	open := newStores(t)
	s, x := open(0), fixture.NewExtensionFixture(t, 1, 3, 2, 1)
	ctx := t.Context()
	must(t, x.Prepare(s))
	l, err := s.Performers().Hold(ctx, x.Session)
	must(t, err)
	before, after := x.OwnHeads()
	headOfLog := func() manifest.Head {
		v, err := open(0).Read(ctx, ports.ReadRequest{Log: x.Log}, ports.Skip)
		must(t, err)
		return v.Head
	}
	x.Lease = l.Token + 1
	if err := x.Extend(s); !fault.Is(err, fault.RunBusy) || headOfLog() != before {
		t.Errorf("under another lease: %v; the log is at %+v", err, headOfLog())
	}
	must(t, s.db.Run(ctx, db.Query("update @.logs set changed = false")))
	x.Lease = l.Token
	if err := x.Extend(s); err != nil || headOfLog() != after {
		t.Errorf("under the present lease: %v; the log is at %+v", err, headOfLog())
	}
	if count(t, s, "select count(*) from @.logs where changed and name = ''") != 1 {
		t.Error("the session has a brief of before")
	}
	must(t, l.Release())
	_, side := x.SideHeads()
	if _, err := gate(open(0), fixture.Notes(fixture.SessionNotes(x.Session), side.Next, "next")); err != nil {
		t.Errorf("the side log does not continue: %v", err)
	}
}

// TestExtensionLetsItsLogsContinue: behind an extension, its caller appends to each of the logs that it has locked.
func TestExtensionLetsItsLogsContinue(t *testing.T) {
	s, x := newStores(t)(0), fixture.NewExtensionFixture(t, 1, 3, 2, 1)
	ctx := t.Context()
	must(t, x.Prepare(s))
	must(t, x.Under(s, func(logs []ports.Extended) error {
		must(t, extend(t, s, x, logs, func(*extension) {}))
		_, own := x.OwnHeads()
		_, side := x.SideHeads()
		if _, err := s.Append(ctx, logs[0].Witness, own, x.Advance(own.Next)); err != nil {
			t.Errorf("the session's own log: %v", err)
		}
		if _, err := s.Append(ctx, logs[1].Witness, side, fixture.Notes(logs[1].Log, side.Next, "next")); err != nil {
			t.Errorf("the side log: %v", err)
		}
		return nil
	}))
}

// extend extends the session of a fixture while its logs are locked; begun is called at the beginning.
func extend(t testing.TB, s *Store, x *fixture.ExtensionFixture, logs []ports.Extended, begun func(*extension)) error {
	t.Helper()
	ctx := t.Context()
	a, err := s.BeginExtension(ctx, x.Session, logs)
	must(t, err)
	begun(a.(*extension))
	for name, segs := range map[string][]manifest.Segment{"": x.Segments[x.Own:], "notes": x.Notes[x.Side:]} {
		for _, seg := range segs {
			must(t, a.Segment(ctx, name, seg))
		}
	}
	must(t, a.Control(ctx, ports.ImportedFile, mark()))
	_, err = a.Commit(ctx)
	return errors.Join(err, a.End())
}

// TestExtensionOverLostLock: the lock of a side log is lost while it is extended, and another writer appends to it: nothing is
// extended.
func TestExtensionOverLostLock(t *testing.T) {
	open := newStores(t)
	s, other, x := open(0), open(0), fixture.NewExtensionFixture(t, 1, 3, 2, 1)
	ctx := t.Context()
	must(t, x.Prepare(s))
	side, _ := x.SideHeads()
	before, _ := x.OwnHeads()
	err := x.Under(s, func(logs []ports.Extended) error {
		return extend(t, s, x, logs, func(e *extension) {
			kill(t, other, processWith(t, other, fixture.SessionNotes(x.Session).Root))
			_, err := gate(other, fixture.Notes(fixture.SessionNotes(x.Session), side.Next, "another"))
			must(t, err)
		})
	})
	if !fault.Is(err, fault.StoreConflict) {
		t.Errorf("over the events of another writer: %v; want STORE_CONFLICT", err)
	}
	if v, err := s.Read(ctx, ports.ReadRequest{Log: x.Log}, ports.Skip); err != nil || v.Head != before {
		t.Errorf("the session's own log is %+v, %v", v, err)
	}
}

// TestKeptTransactionsEnd: the server ends a transaction that waits for its caller when the process does nothing, and touching
// it is something.
func TestKeptTransactionsEnd(t *testing.T) {
	s := newStores(t)(0)
	ctx, x := t.Context(), fixture.NewExtensionFixture(t, 1, 3, 2, 1)
	limited := func(what string, k *db.Kept) {
		t.Helper()
		k.Touch()
		got := ""
		must(t, k.Run(ctx, db.Query("select current_setting('idle_in_transaction_session_timeout')").Into(func(r db.Row) error {
			got = r.Text(0)
			return nil
		})))
		if got != "1min" {
			t.Errorf("%s: it may do nothing for %s", what, got)
		}
	}
	must(t, x.Prepare(s))
	a, err := s.BeginImport(ctx, id.NewSession(id.Seed{1}))
	must(t, err)
	limited("an import", a.(*arrival).kept)
	must(t, a.End())
	must(t, x.Under(s, func(logs []ports.Extended) error {
		a, err := s.BeginExtension(ctx, x.Session, logs)
		must(t, err)
		limited("an extension", a.(*extension).kept)
		return a.End()
	}))
	must(t, s.Exclusive(ctx, func(w ports.Sweeper) error {
		limited("a cleanup", w.(*sweeper).kept)
		return nil
	}))
}
