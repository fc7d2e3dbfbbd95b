package main

import (
	"database/sql"
	"os"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/waybill/waybill/durable/log/event"
)

// sqlite commits the rows that one append holds: 3 events, 2 manifest lines and a
// snapshot, in one transaction of a WAL database that syncs every commit.
type sqlite struct{ db *sql.DB }

func openSQLite(path string) (*sqlite, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
		"CREATE TABLE events(session TEXT, idx INTEGER, line BLOB, PRIMARY KEY(session, idx))",
		"CREATE TABLE manifest(session TEXT, idx INTEGER, line BLOB, PRIMARY KEY(session, idx))",
		"CREATE TABLE snapshots(ref TEXT PRIMARY KEY, data BLOB)"} {
		if _, err := db.Exec(q); err != nil {
			return nil, err
		}
	}
	return &sqlite{db}, nil
}

func (s *sqlite) commit(a *appender) error {
	p, err := a.plan()
	if err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, e := range p.Events {
		line, err := event.Domain.AppendLine(nil, e)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO events VALUES(?,?,?)", e.Owner, e.Index, line); err != nil {
			return err
		}
	}
	// The manifest's two lines are of about this length each.
	line := make([]byte, 420)
	for i := range int64(2) {
		if _, err := tx.Exec("INSERT INTO manifest VALUES(?,?,?)", p.Log.Owner, a.head.Next*2+i, line); err != nil {
			return err
		}
	}
	o := p.Objects[0]
	if _, err := tx.Exec("INSERT OR IGNORE INTO snapshots VALUES(?,?)", o.Ref().String(), o.Bytes); err != nil {
		return err
	}
	a.head.Next += 3
	return tx.Commit()
}

// oneWrite is the cheapest durable operation: a write at the end of a file
// that exists, and one fdatasync.
type oneWrite struct{ f *os.File }

func (o *oneWrite) commit() error {
	if _, err := o.f.Write(make([]byte, 2048)); err != nil {
		return err
	}
	return syscall.Fdatasync(int(o.f.Fd()))
}
