//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/mutant"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// protection is one of the three ways in which a store keeps two writers of a log apart, and how a store is made without it.
type protection struct {
	name   string
	remove func(t testing.TB, p *pgtest.Proxy, admin *pgstore.Store)
}

// The lock is the advisory lock of the log, the comparison that of the head in the commit, the key the places of groups, and the roots of
// logs, which only one row can have.
var protections = []protection{
	{"lock", func(_ testing.TB, p *pgtest.Proxy, _ *pgstore.Store) {
		p.Change("select pg_advisory_xact_lock($1)::text", "select $1::bigint::text")
	}},
	{"comparison", func(_ testing.TB, p *pgtest.Proxy, _ *pgstore.Store) {
		p.Change("and digest = $7 returning 1", "and $7 <> '~~~' returning 1")
	}},
	{"key", func(t testing.TB, _ *pgtest.Proxy, admin *pgstore.Store) {
		admin.Exec(t, "alter table @.groups drop constraint groups_pkey")
		admin.Exec(t, "alter table @.logs drop constraint logs_root_key")
	}},
}

// The bits of protections in a number of those that a store has.
const (
	lockBit = 1 << iota
	comparisonBit
	keyBit
)

// TestEachProtectionAlone: the lock, the comparison of the head and the key each keep two writers apart without the other two, as on a
// server whose advisory locks do not exclude. Without all three an append is lost or doubled, which this test detects.
func TestEachProtectionAlone(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t)
	for kept := range 1 << len(protections) {
		names := []string{"nothing else"}
		for i, one := range protections {
			if kept&(1<<i) != 0 {
				names = append(names, one.name)
			}
		}
		if len(names) > 1 {
			names = names[1:]
		}
		for _, fresh := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, a new log: %v", strings.Join(names, " and "), fresh), func(t *testing.T) {
				why := mutant.Failure(t, func(t testing.TB) { writeTwice(t, kept, fresh) })
				// A new log has no row with a head to compare.
				sound := kept&(lockBit|keyBit) != 0 || kept&comparisonBit != 0 && !fresh
				switch {
				case sound && why != "":
					t.Error(why)
				case !sound && why == "":
					t.Error("two writers are not kept apart, and the test does not detect it")
				case !sound:
					t.Log(why)
				}
			})
		}
	}
}

// writeTwice lets two writers append to a log after both have read it, as far as the lock lets them: one of both plans is acknowledged, and
// it alone is recorded.
func writeTwice(t testing.TB, kept int, fresh bool) {
	a := pgstore.Empty(t)
	if kept&keyBit == 0 {
		a = ownStore(t)
	}
	p, _ := throughProxy(t, a)
	admin := openAt(t, a, pgstore.Options{})(5 * time.Second)
	r, at := suite.NewSessionFixture(1), manifest.Head{}
	plans := [2]manifest.Plan{r.Start(), suite.NewSessionFixture(1).Start()}
	if !fresh {
		var err error
		at, err = suite.Gate(admin, plans[0])
		fatal(t, err)
		plans = [2]manifest.Plan{r.Advance(at.Next), r.Advance(at.Next)}
	}
	for i, one := range protections {
		if kept&(1<<i) == 0 {
			one.remove(t, p, admin)
		}
	}
	through, err := p.Through(a.Name())
	fatal(t, err)
	changed, err := pgstore.Parse(through)
	fatal(t, err)
	open := openAt(t, changed, pgstore.Options{})
	first, second := open(5*time.Second), open(5*time.Second)
	if kept&lockBit != 0 {
		second = open(0)
	}
	appended := func(s *pgstore.Store, w ports.Witness, p manifest.Plan) error {
		_, err := s.Append(context.Background(), w, at, p)
		return err
	}
	var results [2]error
	results[0] = gated(first, r.Log, func(w ports.Witness) (err error) {
		together := false
		results[1] = gated(second, r.Log, func(other ports.Witness) (own error) {
			together = true
			var both sync.WaitGroup
			both.Go(func() { err = appended(first, w, plans[0]) })
			both.Go(func() { own = appended(second, other, plans[1]) })
			both.Wait()
			return own
		})
		if !together {
			return appended(first, w, plans[0])
		}
		return err
	})
	acknowledged := 0
	for _, err := range results {
		switch {
		case err == nil:
			acknowledged++
		case !fault.Is(err, fault.StoreConflict) && !fault.Is(err, fault.SessionLocked):
			t.Errorf("the append that is refused: %v", err)
		}
	}
	if fault.Is(results[1], fault.SessionLocked) != (kept&lockBit != 0) {
		t.Errorf("the second writer: %v", results[1])
	}
	groups := admin.Texts(t, "select count(*)::text from @.groups join @.logs using (log) where root = $1 and at >= $2", r.Log.Root, at.Bytes)
	v, err := admin.Read(context.Background(), ports.ReadRequest{Log: r.Log}, ports.Skip)
	fatal(t, err)
	if want := at.Next + int64(len(plans[0].Events)); acknowledged != 1 || groups[0] != "1" || v.Health != manifest.Healthy ||
		len(v.Findings) > 0 || v.Head.Next != want {
		t.Errorf("%d appends are acknowledged (%v), %s recorded; the log is %+v", acknowledged, errors.Join(results[:]...), groups[0], v)
	}
}

// gated calls fn behind the gate of a log.
func gated(s *pgstore.Store, l manifest.Log, fn func(ports.Witness) error) error {
	return ports.WithHealthySession(context.Background(), s, s, l, manifest.Head{}, ports.Skip,
		func(w ports.Witness, _ manifest.Verdict) error { return fn(w) })
}

// ownStore returns the address of a store that no other test gets.
func ownStore(t testing.TB) pgstore.Address {
	a, err := pgstore.Parse(pgtest.URL(t))
	fatal(t, err)
	_, err = pgstore.Init(t.Context(), a, pgstore.Options{LockWait: time.Minute}, pgstore.Roles{})
	fatal(t, err)
	return a
}
