package pgstore

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports/porttest/pgtest"
)

// unused are the addresses of schemas that tests have left, empty: to make the tables of a schema costs more than most tests.
var unused struct {
	mu  sync.Mutex
	all []Address
}

// Empty returns the address of an empty store that exists. At the end of the test its rows are deleted, and the next test may get it.
func Empty(t testing.TB) Address {
	t.Helper()
	unused.mu.Lock()
	var a Address
	if n := len(unused.all); n > 0 {
		a, unused.all = unused.all[n-1], unused.all[:n-1]
	}
	unused.mu.Unlock()
	if a == (Address{}) {
		var err error
		if a, err = Parse(pgtest.URL(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := Init(t.Context(), a, Options{LockWait: time.Minute}, Roles{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if isEmptied(a) {
			unused.mu.Lock()
			defer unused.mu.Unlock()
			unused.all = append(unused.all, a)
		}
	})
	return a
}

// filled are the tables whose rows tests make; a table is behind those that refer to it.
var filled = []string{"brief_runs", "briefs", "groups", "logs", "objects", "tombstones", "controls", "quarantine", "heads", "leases", "keyring", "store"}

// isEmptied deletes the rows of a store that no transaction uses any more, and reports that it is as good as new. One that a test has left
// in use, or large, is not.
func isEmptied(a Address) bool {
	ctx, d := context.Background(), db.Open(a, Options{LockWait: 5 * time.Second})
	defer d.Close()
	all := []db.Statement{db.LockStatement(db.UseLock, false), db.Query("lock table @." + strings.Join(filled, ", @.") + " in access exclusive mode")}
	for _, table := range filled {
		all = append(all, db.Query("delete from @."+table))
	}
	small := false
	c, err := d.Transaction(ctx, append(all, db.Query("select sum(pg_total_relation_size(oid)) < 8 << 20 from pg_class "+
		"where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = $1)", a.Schema()).
		Into(func(r db.Row) error { small = r.IsTrue(0); return nil }))...)
	if err != nil || !small {
		d.Rollback(c)
		return false
	}
	return d.Commit(ctx, c) == nil
}
