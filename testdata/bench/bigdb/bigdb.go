// Package bigdb writes stores with many sessions into a database, as no run of a bench could commit them in time. The engine makes a
// session of each kind over a store in memory; the others differ from these in ids, times and a number, and are what the engine would have
// made. Their rows are those that package pgstore writes, and are copied into the tables, several thousand sessions in a transaction. They
// have no head caches. What is written passes a full verification without findings.
//
// Start with Write.
package bigdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// batch is how many sessions a transaction has.
const batch = 2000

// Write makes a store at the address of a schema that does not exist, with a number of sessions of one run each.
func Write(ctx context.Context, address string, sessions, goroutines int) error {
	a, err := pgstore.Parse(address)
	if err != nil {
		return err
	}
	if _, err := pgstore.Init(ctx, a, pgstore.Options{}, pgstore.Roles{}); err != nil {
		return err
	}
	if err := identify(ctx, a); err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	known := &objects{all: map[string]bool{}}
	kinds, err := templates(sessions)
	if err != nil {
		return err
	}
	var work errgroup.Group
	work.SetLimit(goroutines)
	for from := 0; from < sessions; from += batch {
		work.Go(func() error { return copied(ctx, address, a.Schema(), from, min(from+batch, sessions), kinds, known) })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	c, err := Connect(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if _, err = c.Exec(ctx, `select setval(pg_get_serial_sequence('`+a.Schema()+`.logs', 'log'), (select max(log) from `+a.Schema()+`.logs))`).ReadAll(); err != nil {
		return err
	}
	for _, table := range []string{"logs", "groups", "objects", "heads", "briefs", "brief_runs"} {
		if _, err = c.Exec(ctx, "vacuum (analyze) "+a.Schema()+"."+table).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// Connect makes a connection as the store does.
func Connect(ctx context.Context, address string) (*pgconn.PgConn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := u.Query()
	query.Del("schema")
	u.RawQuery = query.Encode()
	return pgconn.Connect(ctx, u.String())
}

// identify gives the store the id and the keys that each session was made with.
func identify(ctx context.Context, a pgstore.Address) error {
	s := memstore.NewDisk(storeSeed).Open(0)
	store, err := s.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return err
	}
	var keys token.Keys
	if keys, err = s.Keys(ctx, ports.MayCreate); err != nil {
		return err
	}
	d := db.Open(a, db.Options{})
	defer d.Close()
	return d.Transact(ctx, []db.Change{{Statement: db.Query("insert into @.store (id) values ($1)", store.String())},
		{Statement: rows.InsertKeys(keys, "")}})
}

// objects are the objects that were written, by kind and digest.
type objects struct {
	mu  sync.Mutex
	all map[string]bool
}

// isNew reports an object that was not written, once.
func (o *objects) isNew(kind manifest.ObjectKind, ref canon.Digest) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := string(kind) + ref.String()
	is := !o.all[name]
	o.all[name] = true
	return is
}

// columns are those of the tables, in the order of the values of a row.
var columns = []struct{ table, names string }{
	{"logs", "log, root, place, owner, name, " + rows.HeadColumns + ", changed_ms, changed"},
	{"groups", "log, at, first, last, lines, segment"},
	{"objects", "kind, ref, part, size, bytes"},
	{"briefs", "session, digest, group_at, bytes, next, next_record, notes_digest, notes_group_at, notes_bytes, notes_next, notes_next_record"},
	{"brief_runs", rows.RunColumns},
}

// compared is how many sessions of each kind are made by the engine too, and compared.
const compared = 3

// templates makes a session of each kind among the first n.
func templates(n int) (map[string]*template, error) {
	m, err := newMaker()
	if err != nil {
		return nil, err
	}
	out, times := map[string]*template{}, map[string]int{}
	for i := range min(n, (compared+1)*Every) {
		kind := kindOf(i)
		if times[kind]++; times[kind] > compared+1 {
			continue
		}
		s, err := m.session(i)
		if err == nil && out[kind] == nil {
			out[kind], err = newTemplate(s, i)
		} else if err == nil {
			var other *session
			if other, err = out[kind].session(i); err == nil {
				err = s.equal(other)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", i, err)
		}
	}
	return out, nil
}

// copied makes sessions by their numbers and commits their rows.
func copied(ctx context.Context, address, schema string, from, to int, kinds map[string]*template, known *objects) error {
	tables := make([]table, len(columns))
	for i := from; i < to; i++ {
		s, err := kinds[kindOf(i)].session(i)
		if err != nil {
			return fmt.Errorf("session %d: %w", i, err)
		}
		if err := s.rows(tables, int64(i)+1, s.lastMs, known); err != nil {
			return fmt.Errorf("session %d: %w", i, err)
		}
	}
	c, err := Connect(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	// The rows refer to each other as they have to: that is not checked again.
	if _, err := c.Exec(ctx, "set session_replication_role = replica; begin").ReadAll(); err != nil {
		return err
	}
	for i := range tables {
		sql := fmt.Sprintf("copy %s.%s (%s) from stdin binary", schema, columns[i].table, columns[i].names)
		if _, err := c.CopyFrom(ctx, bytes.NewReader(tables[i].end()), sql); err != nil {
			return fmt.Errorf("%s: %w", columns[i].table, err)
		}
	}
	_, err = c.Exec(ctx, "commit").ReadAll()
	return err
}

// rows adds the rows of a session.
func (s *session) rows(to []table, log, changedMs int64, known *objects) error {
	if s.brief == nil {
		return fmt.Errorf("there is no brief")
	}
	l := manifest.SessionEvents(s.id)
	place, name := rows.PlaceOf(l)
	to[0].row(append(append([]any{log, l.Root, place, l.Owner, name}, rows.HeadArgs(s.head)...), changedMs, false)...)
	for _, g := range s.groups {
		to[1].row(log, g.at.Bytes, g.seg.First, g.seg.Last, g.seg.Group, g.seg.Bytes)
	}
	for _, o := range s.objects {
		if len(o.Bytes) > 1<<20 {
			return fmt.Errorf("an object of several parts")
		}
		if known.isNew(o.Kind, o.Ref()) {
			to[2].row(string(o.Kind), o.Ref().String(), int64(0), int64(len(o.Bytes)), o.Bytes)
		}
	}
	to[3].row(append(append([]any{s.id.String()}, rows.HeadArgs(s.head)...), rows.HeadArgs(s.brief.Notes)...)...)
	for i, r := range s.brief.Runs {
		to[4].row(rows.RunArgs(s.id, i, r)...)
	}
	return nil
}

// table is rows in the form of a binary copy.
type table struct{ b []byte }

const copyHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// row adds a row.
func (t *table) row(values ...any) {
	if t.b == nil {
		t.b = append(t.b, copyHead...)
	}
	t.b = binary.BigEndian.AppendUint16(t.b, uint16(len(values)))
	for _, v := range values {
		value := binaryOf(v)
		t.b = append(binary.BigEndian.AppendUint32(t.b, uint32(len(value))), value...)
	}
}

// binaryOf returns a value as the protocol has it.
func binaryOf(v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return []byte{1}
		}
		return []byte{0}
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v))
	case string:
		return []byte(v)
	case []byte:
		return v
	case []string:
		const text = 25
		if len(v) == 0 {
			return binary.BigEndian.AppendUint32(make([]byte, 8), text)
		}
		var out []byte
		for _, n := range []int{1, 0, text, len(v), 1} {
			out = binary.BigEndian.AppendUint32(out, uint32(n))
		}
		for _, one := range v {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(one))), one...)
		}
		return out
	}
	panic(fmt.Sprintf("a value of the type %T", v))
}

// end returns the rows with their end.
func (t *table) end() []byte {
	if t.b == nil {
		t.b = append(t.b, copyHead...)
	}
	return append(t.b, 0xff, 0xff)
}

// Schema is the name of the schema of an address, for statements.
func Schema(address string) string {
	_, schema, _ := strings.Cut(address, "schema=")
	schema, _, _ = strings.Cut(schema, "&")
	return schema
}
