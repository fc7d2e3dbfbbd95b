package pgstore

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// Sessions implements ports.Sessions: those with a commit, in the order of their ids.
func (s *Store) Sessions(ctx context.Context) (out []id.Session, err error) {
	err = s.db.Run(ctx, db.Query("select owner from @.logs where "+db.OwnSession+" order by owner").Into(func(r db.Row) error {
		session, err := rows.ParseSession(r.Text(0))
		out = append(out, session)
		return err
	}))
	return out, err
}

// LatestFirst implements ports.SessionTimes.
func (s *Store) LatestFirst(ctx context.Context) (out []ports.SessionTime, err error) {
	err = s.db.Run(ctx, db.Query("select owner, changed_ms from @.logs where "+db.OwnSession+" order by changed_ms desc, owner").Into(func(r db.Row) error {
		session, err := rows.ParseSession(r.Text(0))
		out = append(out, ports.SessionTime{Session: session, ChangedMs: r.Int(1)})
		return err
	}))
	return out, err
}

// ChangedSince returns the sessions whose own log changed at a time of the server or later, in milliseconds since 1970 UTC, the one that
// changed last first, each with a text that differs after a commit.
func (s *Store) ChangedSince(ctx context.Context, ms int64) (out []ports.SessionStamp, err error) {
	err = s.db.Run(ctx, db.Query("select owner, digest, changed_ms from @.logs where "+db.OwnSession+" and changed_ms >= $1 order by changed_ms desc, owner", ms).
		Into(func(r db.Row) error {
			session, err := rows.ParseSession(r.Text(0))
			out = append(out, ports.SessionStamp{Session: session, Stamp: r.Text(1), ChangedMs: r.Int(2)})
			return err
		}))
	return out, err
}

// UnknownEntries implements ports.UnknownEntries: a row has the id of a session, or reading it is an error.
func (s *Store) UnknownEntries(context.Context) ([]string, error) { return nil, nil }

// Failures implements ports.Availability: nothing is a file.
func (s *Store) Failures() ports.Failures { return ports.Failures{Connections: s.db.Unreached()} }

// SideLogs implements ports.SideLogs.
func (s *Store) SideLogs(ctx context.Context, owner string) (names []string, err error) {
	err = s.db.Run(ctx, db.Query("select name from @.logs where owner = $1 and name <> '' and place <> 'trash' order by name", owner).
		Into(func(r db.Row) error { names = append(names, r.Text(0)); return nil }))
	return names, err
}

// Tenant implements ports.Tenancy: the schema is that of one tenant.
func (s *Store) Tenant(ctx context.Context) (string, error) {
	return s.db.Address().Schema(), ctx.Err()
}

// newStoreID returns a random id.
func newStoreID(d *db.DB) (id.Store, error) {
	var seed id.Seed
	_, err := io.ReadFull(d.Options().Random, seed[:])
	return id.NewStore(seed), err
}

// StoreID implements ports.Identity.
func (s *Store) StoreID(ctx context.Context, create ports.Create) (out id.Store, err error) {
	text := ""
	read := db.Query("select id from @.store").Into(func(r db.Row) error { text = r.Text(0); return nil })
	if err := s.db.Run(ctx, read); err != nil {
		return out, err
	}
	if text == "" && create == ports.MayCreate {
		if err := s.db.Transact(ctx, created(s.db), read); err != nil {
			return out, err
		}
	}
	if text == "" {
		return out, nil
	}
	if out, err = id.ParseStore(text); err != nil {
		err = fault.Wrap(err, fault.StoreCorrupt, "the id of the store is %q", text)
	}
	return out, err
}

// Exists reports whether the store exists.
func (s *Store) Exists(ctx context.Context) (bool, error) {
	store, err := s.StoreID(ctx, ports.ReadOnly)
	return err == nil && !store.IsZero(), err
}

// Keys implements ports.Keyring. All machines have the same keys, since a token is valid on each.
func (s *Store) Keys(ctx context.Context, create ports.Create) (token.Keys, error) {
	var ring []db.Row
	read := rows.ReadKeys("", &ring)
	err := s.db.Run(ctx, read)
	if err != nil || len(ring) > 0 {
		return rows.DecodeKeys(ring, err)
	}
	if create == ports.ReadOnly {
		return token.Keys{}, fault.New(fault.KeyringInvalid, "the keyring does not exist").With("missing", true)
	}
	var key token.Key
	if _, err := io.ReadFull(s.db.Options().Random, key[:]); err != nil {
		return token.Keys{}, fault.Wrap(err, fault.StoreIO, "no random bytes: %v", err)
	}
	// Of two processes that create it, both use that of the first.
	err = s.db.Transact(ctx, append(created(s.db), db.Change{Statement: rows.InsertKeys(token.Keys{Current: key}, "on conflict do nothing")}), read)
	return rows.DecodeKeys(ring, err)
}

// CachedHead implements ports.HeadCache.
func (s *Store) CachedHead(ctx context.Context, log manifest.Log, format int, limit int64) (b []byte, err error) {
	err = s.db.Run(ctx, db.Query("select substr(content, 1, $3::int) from @.heads where root = $1 and format = $2", log.Root, int64(format), limit).
		Into(func(r db.Row) error { b = r.Bytes(0); return nil }))
	return b, err
}

// StoreHead implements ports.HeadCache. It waits for no disk: the table is lost with the primary server, and a cache may be.
func (s *Store) StoreHead(ctx context.Context, log manifest.Log, format int, data []byte) error {
	exists := "exists (select from @.store)"
	args := []any{log.Root, int64(format), data}
	if session, err := id.ParseSession(log.Owner); err == nil {
		exists = "exists (select from @.logs where root = $4)"
		args = append(args, manifest.SessionEvents(session).Root)
	}
	return s.db.Run(ctx, db.Query("select set_config('synchronous_commit', 'off', true)"),
		db.Query("insert into @.heads (root, format, content) select $1, $2, $3 where "+exists+
			" on conflict (root, format) do update set content = excluded.content", args...))
}
