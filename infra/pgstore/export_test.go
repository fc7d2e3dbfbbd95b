package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/pgstore/db"
)

// beside returns a handle beside that of a store, whose connections are new.
func (s *Store) beside() *db.DB { return db.Open(s.db.Address(), s.db.Options()) }

// Exec runs a statement on the server of a handle, behind its back; "@." is the schema.
func (s *Store) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	d := s.beside()
	defer d.Close()
	if err := d.RunOnce(context.Background(), db.Query(sql, args...)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Texts returns the first column, which is a text, of a query.
func (s *Store) Texts(t testing.TB, sql string, args ...any) (out []string) {
	t.Helper()
	err := s.db.Run(context.Background(), db.Query(sql, args...).Into(func(r db.Row) error { out = append(out, r.Text(0)); return nil }))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// Warns makes a commit that is to be durable, and reports whether the server warns that it may not be.
func (s *Store) Warns(t testing.TB) bool {
	t.Helper()
	d := s.beside()
	defer d.Close()
	c, err := d.Transaction(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Rollback(c)
	return d.Commit(context.Background(), c) != nil
}

// CancelWaits ends each commit that waits for a replica, as an operator does, until ctx ends: its answer has a warning then.
func (s *Store) CancelWaits(ctx context.Context) error {
	d := s.beside()
	defer d.Close()
	for ctx.Err() == nil {
		err := d.RunOnce(context.WithoutCancel(ctx),
			db.Query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"))
		if err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}
