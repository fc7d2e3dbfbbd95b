package pgstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/logs"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// arrival is a session that is being imported. One transaction has its logs, under roots that are no logs until Commit gives
// them their own: nothing waits for a name before that. It holds the use-lock shared, so that no cleanup removes the objects, which
// are stored as they come, each in a transaction of its own. A crash leaves objects without references, which a cleanup removes. It
// is used by one goroutine.
type arrival struct {
	s        *Store
	session  id.Session
	kept     *db.Kept
	others   []*logs.Held // further locked logs of the caller of an extension, whose transactions are kept too
	staged   string       // the beginning of the roots of new logs before Commit
	logs     []*arriving
	controls []arrivingControl

	pending      []db.Statement // not sent yet
	pendingBytes int

	failed error // the first error: every later call returns it
	ended  bool  // committed or ended
}

// arriving is one of the logs of an arrival.
type arriving struct {
	log      manifest.Log
	at, next manifest.Head // before the import and behind its last segment
	staged   manifest.Log  // log, with the root that its groups have until Commit
}

// arrivingControl is a control file.
type arrivingControl struct {
	place   string
	content []byte
}

// What is sent to the server at once has at most these bytes and statements.
const (
	pendingBytesMost = partBytes
	pendingCountMost = 256
)

// BeginImport implements ports.SessionImporter.
func (s *Store) BeginImport(ctx context.Context, session id.Session) (ports.SessionImport, error) {
	if _, err := s.StoreID(ctx, ports.MayCreate); err != nil {
		return nil, err
	}
	c, err := s.db.Transaction(ctx, db.IdleStatement(), db.LockStatement(db.UseLock, true))
	if err != nil {
		return nil, err
	}
	a, err := s.newArrival(session)
	if err != nil {
		s.db.Rollback(c)
		return nil, err
	}
	a.kept = db.Keep(c, s.db.WaitingLimit())
	return a, nil
}

// newArrival returns an arrival without its transaction.
func (s *Store) newArrival(session id.Session) (*arrival, error) {
	var token [16]byte
	if _, err := io.ReadFull(s.db.Options().Random, token[:]); err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "no random bytes: %v", err)
	}
	return &arrival{s: s, session: session, staged: "arriving/" + hex.EncodeToString(token[:])}, nil
}

// do performs one call of an arrival that has neither failed nor ended, and keeps its error.
func (a *arrival) do(ctx context.Context, call func() error) (err error) {
	switch {
	case a.failed != nil:
		return a.failed
	case a.ended:
		return fault.New(fault.Internal, "the import has ended")
	case ctx.Err() != nil:
		err = fault.Wrap(ctx.Err(), fault.Interrupted, "using the store was interrupted")
	default:
		err = call()
	}
	a.failed = err // also an interruption: what was read from the caller may be incomplete
	return err
}

// add adds statements to those that are pending, and sends them if they are many.
func (a *arrival) add(ctx context.Context, size int, all ...db.Statement) error {
	a.pending, a.pendingBytes = append(a.pending, all...), a.pendingBytes+size
	if a.pendingBytes < pendingBytesMost && len(a.pending) < pendingCountMost {
		return nil
	}
	return a.flush(ctx)
}

// flush sends the pending statements, and others behind them.
func (a *arrival) flush(ctx context.Context, others ...db.Statement) error {
	all := append(a.pending, others...)
	a.pending, a.pendingBytes = nil, 0
	if len(all) == 0 {
		return nil
	}
	return db.Failure(ctx, a.kept.Run(ctx, all...))
}

// find returns the log with a root, nil if nothing of it came.
func (a *arrival) find(root string) *arriving {
	for _, l := range a.logs {
		if l.log.Root == root {
			return l
		}
	}
	return nil
}

// rootOf returns the root of a log of the session by its name, "" for its own.
func (a *arrival) rootOf(name string) string {
	root := manifest.SessionEvents(a.session).Root
	if name != "" {
		root += "/" + name
	}
	return root
}

// Segment implements ports.SessionImport. A segment without a group or not behind the one before it, and a name that no side log
// can have, are INTERNAL.
func (a *arrival) Segment(ctx context.Context, name string, seg manifest.Segment) error {
	return a.do(ctx, func() error {
		l := a.find(a.rootOf(name))
		if l == nil && (name == "" || bundle.ValidLogName(name)) {
			l = a.newLog(manifest.Log{Root: a.rootOf(name), Owner: a.session.String()}, manifest.Head{})
			a.logs = append(a.logs, l)
		}
		return a.segment(ctx, l, name, seg)
	})
}

// newLog returns a log without segments that continues behind a head.
func (a *arrival) newLog(log manifest.Log, at manifest.Head) *arriving {
	l := &arriving{log: log, at: at, next: at, staged: log}
	if at.IsZero() {
		l.staged.Root = a.staged + log.Root
	}
	return l
}

// segment adds a segment to a log.
func (a *arrival) segment(ctx context.Context, l *arriving, name string, seg manifest.Segment) error {
	if _, _, ok := manifest.ParseSegmentName(seg.Name()); !ok || len(seg.Group) == 0 || l == nil || seg.First != l.next.Next {
		return fault.New(fault.Internal, "events %d to %d of log %q cannot be imported", seg.First, seg.Last, name)
	}
	var all []db.Statement
	if l.next.IsZero() {
		place, column := rows.PlaceOf(l.log)
		all = append(all, db.Query("insert into @.logs ("+rows.HeadColumns+", root, changed_ms, place, owner, name) "+
			"values ('', 0, 0, 0, 0, $1, 0, $2, $3, $4)", l.staged.Root, place, l.log.Owner, column))
	}
	// Copied: the caller may use its buffers again before they are sent.
	kept := manifest.Segment{First: seg.First, Last: seg.Last, Bytes: bytes.Clone(seg.Bytes), Group: bytes.Clone(seg.Group)}
	all = append(all, addGroup(l.staged, l.next, kept).Statement)
	l.next = l.next.After(kept.Group, kept)
	return a.add(ctx, len(kept.Bytes)+len(kept.Group), all...)
}

// Object implements ports.SessionImport.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error { return a.s.storeObject(ctx, kind, ref, r) })
}

// Tombstone implements ports.SessionImport.
func (a *arrival) Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error {
	return a.do(ctx, func() error { return a.s.storeTombstone(ctx, ref, data) })
}

// Control implements ports.SessionImport. Files other than ports.ImportedFile and ports.KeepFile are INTERNAL.
func (a *arrival) Control(ctx context.Context, f ports.ControlFile, c ports.Control) error {
	return a.do(ctx, func() error {
		place, err := controlPlace(a.session, f)
		if err != nil {
			return err
		}
		content, err := rows.EncodeControl(f, c)
		if err != nil {
			return fault.Wrap(err, fault.StoreLimit, "%s: %v", f.Name, err)
		}
		a.controls = append(a.controls, arrivingControl{place, content})
		return nil
	})
}

// Commit implements ports.SessionImport. A session without events is INTERNAL.
func (a *arrival) Commit(ctx context.Context) (placed bool, err error) {
	err = a.do(ctx, func() error {
		own := manifest.SessionEvents(a.session)
		if a.find(own.Root) == nil {
			return fault.New(fault.Internal, "the import of session %s has no events", a.session)
		}
		exists, err := a.lockSession(ctx, own)
		if err != nil || exists {
			return err
		}
		placed, err = a.finish(ctx, nil)
		return err
	})
	a.ended = a.ended || err == nil
	return placed, err
}

// lockSession locks the session's own log, and the side logs that it does not have yet. exists reports that it has a commit.
func (a *arrival) lockSession(ctx context.Context, own manifest.Log) (exists bool, err error) {
	err = a.flush(ctx, db.LockStatement(own.Root, false), db.LockStatement(rows.SideLock(a.session), false),
		db.Query("select true from @.logs where root = $1", own.Root).Into(func(db.Row) error { exists = true; return nil }))
	// Who waits for the use-lock while it holds the log may wait for this import: the server ends one of both.
	if db.IsLocked(err) || db.IsDeadlock(err) {
		return false, a.s.Busy(ctx, own)
	}
	return exists, err
}

// finish commits the transaction with further conditions: each log gets its root and its head.
func (a *arrival) finish(ctx context.Context, changes []db.Change) (done bool, err error) {
	own := manifest.SessionEvents(a.session)
	asked := own
	var asks *arriving // the log that tells what became of the commit
	var roots []string
	for _, l := range a.logs {
		if l.next == l.at {
			continue
		}
		if l.at.IsZero() {
			changes = append(changes, placeLog(l))
		} else {
			changes = append(changes, extendLog(l.log, l.at, l.next))
		}
		if roots = append(roots, l.log.Root); asks == nil || l.log.Root == own.Root {
			asks, asked = l, l.log
		}
	}
	for _, c := range a.controls {
		changes = append(changes, db.Change{Statement: db.LockStatement("control/"+c.place, false)}, rows.WriteControl(c.place, c.content))
		roots = append(roots, c.place)
	}
	changes = append(changes, db.Change{Statement: rows.Outdated(a.session)})
	done, err = a.s.db.Finish(ctx, a.kept.End(), changes, roots...)
	for _, h := range a.others {
		h.End()
	}
	if done || err != nil {
		return done, err
	}
	if asks == nil {
		return false, fault.New(fault.StoreOutcomeUnknown, "the connection to the database was lost during a commit, and it is not "+
			"known whether the import mark was recorded")
	}
	_, err = a.s.resolve(ctx, asked, asks.at, asks.next)
	return err == nil, err
}

// placeLog gives a new log its root and its head.
func placeLog(l *arriving) db.Change {
	args := append(rows.HeadArgs(l.next), l.log.Root, l.staged.Root)
	return db.Change{Statement: db.Query("update @.logs set ("+rows.HeadColumns+", root, changed_ms) = "+
		"($1, $2, $3, $4, $5, $6, "+rows.NowMs+") where root = $7", args...),
		Refused: func() error { return logs.Conflict(l.log) }}
}

// End implements ports.SessionImport.
func (a *arrival) End() error {
	a.ended = true
	a.s.db.Rollback(a.kept.End())
	return nil
}
