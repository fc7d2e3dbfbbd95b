package pgstore

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// partBytes is the size of a row of an object.
const partBytes = 1 << 20

// Append implements ports.Logs: one transaction, in one round trip.
func (s *Store) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	leave, err := w.Enter(p.Log)
	if err != nil {
		return at, err
	}
	defer leave()
	h := s.Held(p.Log)
	if h == nil {
		return at, ports.ErrWitness
	}
	seg, err := manifest.EncodeSegment(p.Log, p.Events)
	if err == nil && seg.First != at.Next {
		err = fmt.Errorf("the plan starts at event %d, the log at %d", seg.First, at.Next)
	}
	if err != nil {
		return at, fault.Wrap(err, fault.Internal, "a plan that must not be written: %v", err)
	}
	if err := ctx.Err(); err != nil {
		return at, fault.Wrap(err, fault.Interrupted, "using the store was interrupted")
	}
	seg.Group = manifest.Group(p.Log, at, seg)
	next := at.After(seg.Group, seg)
	done := false
	err = h.Commit(ctx, at, func(c *db.Conn) (err error) {
		done, err = s.db.Finish(ctx, c, s.changesOf(p, at, next, seg), p.Log.Root)
		return err
	})
	switch {
	case err != nil:
		return at, err
	case done:
		return next, nil
	}
	return s.resolve(ctx, p.Log, at, next)
}

// changesOf returns the changes of a plan, whose group is that of a segment.
func (s *Store) changesOf(p manifest.Plan, at, next manifest.Head, seg manifest.Segment) []db.Change {
	changes := created(s.db)
	for _, o := range p.Objects {
		changes = append(changes, object(o.Kind, o.Ref(), o.Bytes)...)
	}
	if p.Lease != 0 {
		changes = append(changes, s.leased(p.Log.Owner, p.Lease))
	}
	changes = append(changes, extendLog(p.Log, at, next), addGroup(p.Log, at, seg))
	return append(changes, briefed(p, next)...)
}

// resolve finds out what became of a commit whose answer is missing. Behind the lock of the log nothing of the lost transaction
// is under way, and behind a barrier what is seen is durable, and what is not seen is in no primary: not even in one that
// replaced the server.
func (s *Store) resolve(ctx context.Context, l manifest.Log, at, next manifest.Head) (manifest.Head, error) {
	recorded, err := s.IsRecorded(ctx, l, next)
	switch {
	case err != nil:
		return at, fault.Wrap(err, fault.StoreOutcomeUnknown, "the connection to the database was lost during a commit, and it is not known "+
			"whether this was recorded: %v", err)
	case recorded:
		return next, nil
	}
	return at, fault.New(fault.StoreUnreachable, "the connection to the database was lost during a commit; nothing was recorded")
}

// created makes the store exist.
func created(d *db.DB) []db.Change {
	store, err := newStoreID(d)
	if err != nil {
		return nil
	}
	return []db.Change{{Statement: db.Query("insert into @.store (id) values ($1) on conflict do nothing", store.String())}}
}

// object stores an object in rows of partBytes. What exists is replaced only where it differs, as damage does.
func object(kind manifest.ObjectKind, ref canon.Digest, b []byte) (out []db.Change) {
	for at, part := 0, int64(0); at == 0 || at < len(b); at, part = at+partBytes, part+1 {
		out = append(out, db.Change{Statement: db.Query("insert into @.objects as o (kind, ref, part, size, bytes) values ($1, $2, $3, $4, $5) "+
			"on conflict (kind, ref, part) do update set size = excluded.size, bytes = excluded.bytes "+
			"where o.size <> excluded.size or o.bytes <> excluded.bytes",
			string(kind), ref.String(), part, int64(len(b)), b[at:min(len(b), at+partBytes)])})
	}
	return out
}

// leased requires that a lease is the present one of a session, and keeps it so until the commit.
func (s *Store) leased(session string, token int64) db.Change {
	return db.Require(func() error { return s.lostLease(session) },
		"select 1 from @.leases where session = $1 and token = $2 and held and until > clock_timestamp() for share", session, token)
}

// extendLog replaces the head of a log, if it is the one that the plan was decided on.
func extendLog(l manifest.Log, at, next manifest.Head) db.Change {
	refused := func() error { return logs.Conflict(l) }
	args := append(rows.HeadArgs(next), l.Root)
	if at.IsZero() {
		place, name := rows.PlaceOf(l)
		return db.Change{Statement: db.Query("insert into @.logs ("+rows.HeadColumns+", root, place, owner, name, changed_ms) "+
			"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, "+rows.NowMs+")", append(args, place, l.Owner, name)...), Refused: refused}
	}
	return db.Require(refused, "update @.logs set (digest, group_at, bytes, next, next_record, changed_ms) = ($1, $2, $3, $4, $5, "+rows.NowMs+") "+
		"where root = $6 and digest = $7 returning 1", append(args, at.Digest.String())...)
}

// addGroup adds the row of a group.
func addGroup(l manifest.Log, at manifest.Head, seg manifest.Segment) db.Change {
	return db.Change{Statement: db.Query("insert into @.groups (log, at, first, last, lines, segment) select log, $2, $3, $4, $5, $6 from @.logs where root = $1",
		l.Root, at.Bytes, seg.First, seg.Last, seg.Group, seg.Bytes), Refused: func() error { return logs.Conflict(l) }}
}

// briefed keeps the brief of a plan, or marks the session as one whose brief is old.
func briefed(p manifest.Plan, next manifest.Head) []db.Change {
	session, err := id.ParseSession(p.Log.Owner)
	switch {
	case err != nil:
		return nil
	case p.Log != manifest.SessionEvents(session):
		if p.Log.Root != feedback.LogOf(session).Root {
			return nil
		}
		return []db.Change{{Statement: rows.Outdated(session)}}
	case p.Brief == nil:
		return []db.Change{{Statement: rows.Outdated(session)}}
	}
	return keepBrief(session, next, *p.Brief)
}
