package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// A session in the trash has the root trashRoot and its name there.
const (
	trashRoot    = "trash/"
	trashVersion = 1
)

// trashEntry is the entry of a session, without its control file.
func trashEntry(session id.Session, atMs int64) ports.TrashEntry {
	name := fmt.Sprintf("%s.%d", session, atMs)
	return ports.TrashEntry{Name: name, Root: trashRoot + name, Session: session, AtMs: atMs}
}

// parseTrashName returns the entry with a name; other spellings are no names of the trash.
func parseTrashName(name string) (e ports.TrashEntry, ok bool) {
	text, ms, _ := strings.Cut(name, ".")
	session, err := id.ParseSession(text)
	atMs, msErr := strconv.ParseInt(ms, 10, 64)
	e = trashEntry(session, atMs)
	return e, err == nil && msErr == nil && e.Name == name
}

// TrashEntries implements ports.Trash. The logs of the trash are those with a root below it.
func (s *keeper) TrashEntries(ctx context.Context) (out []ports.TrashEntry, err error) {
	err = s.db.Run(ctx, db.Query("select l.root, c.content from @.logs l left join @.controls c on c.place = l.root || '/"+ports.TrashFile.Name+"' "+
		"where l.root >= 'trash/' and l.root < 'trash0' and l.name = '' order by l.root").Into(func(r db.Row) error {
		e, ok := parseTrashName(strings.TrimPrefix(r.Text(0), trashRoot))
		if !ok {
			return nil
		}
		if !r.IsNull(1) {
			e.Control, _ = rows.DecodeControl(ports.TrashFile, r.Bytes(1))
		}
		out = append(out, e)
		return nil
	}))
	return out, err
}

// Discard implements ports.Trash. Locks of the session's logs, and the use-lock behind them, are those of the transaction that
// moves it.
func (s *keeper) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value, unless func() error) (ports.TrashEntry, error) {
	e := trashEntry(session, atMs)
	e.Control = ports.Control{V: trashVersion, Data: data}
	content, err := rows.EncodeControl(ports.TrashFile, e.Control)
	if err != nil {
		return e, fault.Wrap(err, fault.StoreLimit, "%s: %v", ports.TrashFile.Name, err)
	}
	root := manifest.SessionEvents(session).Root
	return e, s.db.Locked(ctx, []db.Statement{db.IdleStatement()}, func(c *db.Conn) ([]db.Change, error) {
		if err := s.lockSession(ctx, c, session); err != nil {
			return nil, err
		}
		k := db.Keep(c, 0)
		err := unless()
		k.End()
		if err != nil {
			return nil, err
		}
		changes := move(root, e.Root, "trash")
		return append(changes, db.Change{Statement: db.Query("delete from @.briefs where session = $1", session.String())},
			rows.WriteControl(e.Root+"/"+ports.TrashFile.Name, content)), nil
	}, root)
}

// lockSession excludes all writers of a session and all removals. A session that is performed is RUN_BUSY without waiting.
func (s *keeper) lockSession(ctx context.Context, c *db.Conn, session id.Session) error {
	own := manifest.SessionEvents(session)
	if err := s.discardable(ctx, c, session); err != nil {
		return err
	}
	err := s.db.Alone(ctx, c, db.LockStatement(own.Root, false), db.LockStatement(rows.SideLock(session), false))
	if errors.Is(err, db.ErrLogLocked) {
		return s.logs.BusySession(ctx, session)
	}
	if err == nil {
		err = s.discardable(ctx, c, session)
	}
	return err
}

// discardable refuses a session without a commit, and one that is performed.
func (s *keeper) discardable(ctx context.Context, c *db.Conn, session id.Session) error {
	found := false
	var by *ports.Holder
	err := c.Run(ctx,
		db.Query("select true from @.logs where root = $1", manifest.SessionEvents(session).Root).Into(func(db.Row) error { found = true; return nil }),
		db.Query("select host, pid, ref from @.leases where session = $1 and "+isPresent, session.String()).Into(func(r db.Row) error {
			by = &ports.Holder{Host: r.Text(0), PID: int(r.Int(1)), Ref: r.Text(2)}
			return nil
		}))
	switch {
	case err != nil:
		return db.Failure(ctx, err)
	case !found:
		return fault.New(fault.SessionNotFound, "the store holds no session %s", session)
	case by != nil:
		return ports.BusyPerformer(session, s.db.Seen(*by))
	}
	return nil
}

// move moves a session from one root to another, and drops what is cached of its logs.
func move(from, to, place string) []db.Change {
	return db.Changes([]db.Statement{
		db.Query("update @.logs set root = $2 || substr(root, length($1) + 1), place = $3, changed = true where "+rows.Within("root", 1),
			from, to, place),
		db.Query("update @.controls set place = $2 || substr(place, length($1) + 1) where "+rows.Within("place", 1), from, to),
		db.Query("delete from @.heads where "+rows.Within("root", 1), from),
	})
}

// Restore implements ports.Trash. It takes no lock of a log: what a writer would begin there has a root that exists.
func (s *keeper) Restore(ctx context.Context, name string) (id.Session, error) {
	e, ok := parseTrashName(name)
	missing := func() error { return fault.New(fault.SessionNotFound, "the trash has no session %q", name) }
	if !ok {
		return id.Session{}, missing()
	}
	root := manifest.SessionEvents(e.Session).Root
	return e.Session, s.db.Locked(ctx, nil, func(c *db.Conn) ([]db.Change, error) {
		if err := s.db.Alone(ctx, c); err != nil {
			return nil, err
		}
		found, taken := false, false
		err := c.Run(ctx, db.Query("select exists (select from @.logs where root = $1), exists (select from @.logs where "+rows.Within("root", 2)+")",
			e.Root, root).Into(func(r db.Row) error { found, taken = r.IsTrue(0), r.IsTrue(1); return nil }))
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, missing()
		case taken:
			return nil, fault.New(fault.ValidationError, "the store holds another session under the id %s", e.Session).
				Suggest("Delete that session first, or leave this one in the trash.")
		}
		changes := []db.Change{{Statement: db.Query("delete from @.controls where place = $1", e.Root+"/"+ports.TrashFile.Name)}}
		return append(changes, move(e.Root, root, "session")...), nil
	}, root)
}

// Empty implements ports.Trash.
func (s *keeper) Empty(ctx context.Context, name string) error {
	e, ok := parseTrashName(name)
	if !ok {
		return ctx.Err()
	}
	return s.db.Locked(ctx, []db.Statement{db.IdleStatement()}, func(c *db.Conn) ([]db.Change, error) {
		if err := s.db.Alone(ctx, c); err != nil {
			return nil, err
		}
		found := false
		// Here and not among the changes, which have to be answered as soon as a commit.
		err := db.OnLong(c)(ctx, db.Query("with gone as (delete from @.logs where "+rows.Within("root", 1)+" returning root) "+
			"select exists (select from gone)", e.Root).Into(func(r db.Row) error { found = r.IsTrue(0); return nil }))
		if err != nil || !found {
			return nil, err
		}
		return db.Changes([]db.Statement{db.Query("delete from @.controls where "+rows.Within("place", 1), e.Root),
			db.Query("delete from @.heads where "+rows.Within("root", 1), e.Root)}), nil
	})
}
