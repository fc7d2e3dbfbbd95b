package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/testdata/bench/bigdb"
)

// commits compares an append to a store in a database, on one server and on three with quorum commit, with one INSERT of the same bytes by
// the same driver, and with an append to a store of files on the same disk.
func commits(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	one, err := pgtest.New()
	if errors.Is(err, pgtest.ErrMissing) {
		fmt.Printf("\ncommits: skipped, %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer one.Remove()
	if err := one.Start("fsync=on", "full_page_writes=on", "shared_buffers=128MB"); err != nil {
		return err
	}
	if err := commitsTo(n, filepath.Join(dir, "one"), "one server", one.URL("bench")); err != nil {
		return err
	}
	one.Remove()
	three, err := pgtest.NewCluster(3)
	if three != nil {
		defer three.Remove()
	}
	if err != nil {
		return err
	}
	return commitsTo(n, filepath.Join(dir, "three"), "three servers, quorum commit", three.URL("bench", 0, url.Values{}))
}

// commitsTo measures one database.
func commitsTo(n int, dir, title, address string) error {
	ctx := context.Background()
	a, err := pgstore.Parse(address)
	if err != nil {
		return err
	}
	if _, err := pgstore.Init(ctx, a, pgstore.Options{}, pgstore.Roles{}); err != nil {
		return err
	}
	shared := pgstore.Open(a, pgstore.Options{LockWait: commitWait})
	defer shared.Close()
	files, err := open(dir)
	if err != nil {
		return err
	}
	defer files.Close()
	ours, err := newAppender(shared)
	if err != nil {
		return err
	}
	ours.brief = true
	local, err := newAppender(files)
	if err != nil {
		return err
	}
	bare, err := newInserter(ctx, address)
	if err != nil {
		return err
	}
	defer bare.c.Close(ctx)
	x, y, z := &series{name: "append to the store in the database"}, &series{name: "INSERT of the same bytes, autocommit"},
		&series{name: "append to a store of files on the same disk"}
	rows := *ours
	for range n {
		for _, round := range []struct {
			s *series
			f func() error
		}{{x, ours.append}, {y, func() error { return bare.insert(ctx, &rows) }}, {z, local.append}} {
			if err := round.s.time(round.f); err != nil {
				return err
			}
		}
	}
	table("commits: "+title, y, x, y, z)
	fmt.Printf("  append / INSERT, p50: %.2f; append / append to files, p50: %.2f\n", ratio(x, y), ratio(x, z))
	return nil
}

// commitWait is how long a lock is waited for.
const commitWait = 2_000_000_000

// inserter inserts rows with one statement each, on one connection.
type inserter struct {
	c *pgconn.PgConn
	n int64
}

func newInserter(ctx context.Context, address string) (*inserter, error) {
	c, err := bigdb.Connect(ctx, address+"&target_session_attrs=primary")
	if err != nil {
		return nil, err
	}
	_, err = c.Exec(ctx, "create table bare (id bigint primary key, lines bytea, segment bytea, object bytea, brief bytea)").ReadAll()
	return &inserter{c: c}, err
}

// insert inserts the bytes of the next append of a.
func (i *inserter) insert(ctx context.Context, a *appender) error {
	p, err := a.plan()
	if err != nil {
		return err
	}
	var segment []byte
	for _, e := range p.Events {
		if segment, err = event.Domain.AppendLine(segment, e); err != nil {
			return err
		}
	}
	a.head.Next += int64(len(p.Events))
	i.n++
	group := manifest.Group(p.Log, a.head, manifest.Segment{First: p.Events[0].Index, Last: p.Events[len(p.Events)-1].Index, Bytes: segment, Events: p.Events})
	_, err = i.c.ExecParams(ctx, "insert into bare values ($1, $2, $3, $4, $5)", [][]byte{fmt.Append(nil, i.n), group, segment, p.Objects[0].Bytes,
		make([]byte, briefBytes)}, nil, []int16{0, 1, 1, 1, 1}, nil).Close()
	return err
}
