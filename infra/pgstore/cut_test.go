//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// useCase is a call that changes a store.
type useCase struct {
	name string
	// prepare makes what the call needs, and returns the call and what reports whether its change was made.
	prepare func(t testing.TB, s *pgstore.Store) (call func(s *pgstore.Store) error, done func() bool)
	// known: the outcome is always known, since the proxy cuts one connection only.
	known bool
}

// keep is the control file that a use case writes.
var keep = ports.Control{V: 1, Data: canon.OfString("kept")}

// useCases are the calls that change a store.
func useCases() []useCase {
	ctx := context.Background()
	head := func(t testing.TB, s *pgstore.Store, r *suite.SessionFixture) manifest.Head {
		_, v := suite.Read(t, s, r.Log, manifest.Head{})
		return v.Head
	}
	return []useCase{
		{"append to a new log", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewSessionFixture(1)
			plan := r.Start()
			return func(s *pgstore.Store) error { _, err := suite.Gate(s, plan); return err },
				func() bool { return !head(t, s, r).IsZero() }
		}, true},
		{"append", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewSessionFixture(1)
			at, err := suite.Gate(s, r.Start())
			fatal(t, err)
			plan := r.Advance(at.Next)
			return func(s *pgstore.Store) error { _, err := suite.Gate(s, plan); return err },
				func() bool { return head(t, s, r) != at }
		}, true},
		{"control file", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			f := ports.ControlFile{Name: "config.json", Kind: "config"}
			return func(s *pgstore.Store) error {
				return s.UpdateControl(ctx, f, func(ports.Control) (ports.Control, error) { return keep, nil })
			}, func() bool { c, err := s.Control(ctx, f); fatal(t, err); return c.V == keep.V }
		}, false},
		{"trash", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewSessionFixture(1)
			_, err := suite.Gate(s, r.Start())
			fatal(t, err)
			return func(s *pgstore.Store) error {
				_, err := s.Discard(ctx, r.Session, 1, canon.OfMembers(), func() error { return nil })
				return err
			}, func() bool { all, err := s.Sessions(ctx); fatal(t, err); return len(all) == 0 }
		}, false},
		{"erase", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewSessionFixture(1)
			plan := r.Start()
			bytes := []byte("an artifact")
			plan.Objects = append(plan.Objects, manifest.Object{Kind: manifest.Artifact, Bytes: bytes})
			_, err := suite.Gate(s, plan)
			fatal(t, err)
			return func(s *pgstore.Store) error {
				_, err := s.Erase(ctx, canon.Sum(bytes), func(int64) canon.Value { return canon.OfMembers() })
				return err
			}, func() bool { _, erased, err := s.Tombstone(ctx, canon.Sum(bytes)); fatal(t, err); return erased }
		}, false},
		{"import", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewImportFixture(t, 2, 3)
			return func(s *pgstore.Store) error { _, err := r.Import(s, storetest.Imported); return err },
				func() bool { all, err := s.Sessions(ctx); fatal(t, err); return len(all) == 1 }
		}, false},
		{"lease", func(t testing.TB, s *pgstore.Store) (func(*pgstore.Store) error, func() bool) {
			r := suite.NewSessionFixture(1)
			return func(s *pgstore.Store) error { _, err := s.Performers().Hold(ctx, r.Session); return err },
				func() bool { return fault.Is(s.NotPerformed(ctx, r.Session), fault.RunBusy) }
		}, false},
	}
}

// fatal ends the test on an error.
func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// throughProxy returns a proxy of the shared server, and what opens a store by way of it.
func throughProxy(t testing.TB, a pgstore.Address) (*pgtest.Proxy, func() *pgstore.Store) {
	p, err := pgtest.NewProxy(pgtest.Shared(t))
	fatal(t, err)
	t.Cleanup(p.Close)
	text, err := p.Through(a.Name())
	fatal(t, err)
	through, err := pgstore.Parse(text)
	fatal(t, err)
	return p, func() *pgstore.Store {
		s := pgstore.Open(through, pgstore.Options{LockWait: 5 * time.Second})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
}

// TestCutConnections: a connection ends before or behind each message of each use case. The store is then as before the call or as after
// it, and the answer says which, or STORE_OUTCOME_UNKNOWN; a further call finds a store that works.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t)
	some := sample.OneIn(t, 100)
	for _, u := range useCases() {
		t.Run(u.name, func(t *testing.T) {
			messages := 0
			t.Run("none", func(t *testing.T) { messages = cutAt(t, u, -1, false) })
			if messages < 20 {
				t.Fatalf("the use case has %d messages", messages)
			}
			for i := range messages {
				for _, forward := range []bool{false, true} {
					if some.Try() {
						t.Run(fmt.Sprint(i, forward), func(t *testing.T) { cutAt(t, u, i, forward) })
					}
				}
			}
		})
	}
}

// cutAt performs a use case over a store of its own, whose connection is cut at a message, and returns how many messages there were.
func cutAt(t *testing.T, u useCase, at int, forward bool) int {
	t.Helper()
	a := pgstore.Empty(t)
	direct := openAt(t, a, pgstore.Options{})(5 * time.Second)
	call, done := u.prepare(t, direct)
	p, open := throughProxy(t, a)
	if done() {
		t.Fatal("the change is made before the call")
	}
	p.Watch(at, forward)
	err := call(open())
	messages := p.Count()
	p.Watch(-1, false)
	switch made := done(); {
	case err == nil && !made:
		t.Errorf("message %d (passed on: %v): the call is acknowledged, and nothing was changed", at, forward)
	case err != nil && at < 0:
		t.Fatal(err)
	case fault.Is(err, fault.StoreOutcomeUnknown) && !u.known:
	case err != nil && made:
		t.Errorf("message %d (passed on: %v): the change was made, and the answer is %v", at, forward, err)
	case err != nil && !slices.Contains([]fault.Code{fault.StoreUnreachable, fault.StoreConflict}, fault.CodeOf(err)) && !errors.Is(err, context.Canceled):
		t.Errorf("message %d (passed on: %v): the answer is %v", at, forward, err)
	}
	// What the lost connection held is free, and another process writes.
	other := suite.NewSessionFixture(9)
	if _, err := suite.Gate(open(), other.Start()); err != nil {
		t.Errorf("message %d (passed on: %v): the next append: %v", at, forward, err)
	}
	return messages
}

// TestMutantsOnTheWire: a store whose statements leave out a lock, a comparison or the lease fails the case that is about it.
func TestMutantsOnTheWire(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t)
	setup := func(changes ...[2]string) suite.Setup {
		return func(t testing.TB) suite.Bench {
			a := pgstore.Empty(t)
			p, _ := throughProxy(t, a)
			for _, c := range changes {
				p.Change(c[0], c[1])
			}
			text, err := p.Through(a.Name())
			fatal(t, err)
			through, err := pgstore.Parse(text)
			fatal(t, err)
			return suite.Bench{Open: leased(t, through).open}
		}
	}
	lock := [2]string{"select pg_advisory_xact_lock($1)::text", "select $1::bigint::text"}
	storetest.DetectMutants(t, setup(), []storetest.Mutant{
		{Name: "a log has no lock", In: "a log has one writer at a time", Setup: setup(lock)},
		{Name: "the lease is not compared", In: "an append under a lease that is not present is refused",
			Setup: setup([2]string{"and token = $2 and held and until > clock_timestamp() for share", "and $2 > -99 for share"})},
		{Name: "the end of the lease is not compared", In: "a session has one performer at a time",
			Setup: setup([2]string{"where not (l.held and l.until > clock_timestamp())", "where not false"})},
		{Name: "the head is not compared, and a log has no lock", In: "concurrent writers lose nothing",
			Setup: setup(lock, [2]string{"and digest = $7 returning 1", "and $7 <> '~~~' returning 1"})},
	})
}
