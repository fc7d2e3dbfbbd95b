// Package rows is how the rows of a store have what is also in the files of one: heads, places and owners of logs, control files,
// tombstones and keys, with the statements that read and write them. It connects to nothing, and decides nothing about logs.
// Start with HeadOf, DecodeControl and DecodeKeys.
package rows

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
)

// HeadColumns are the columns of a head in the table of logs, for HeadOf.
const HeadColumns = "digest, group_at, bytes, next, next_record"

// HeadOf reads a head from the columns of a row that begin with an index. STORE_CORRUPT: its digest is none; the other fields are
// returned.
func HeadOf(r db.Row, i int) (h manifest.Head, err error) {
	h = manifest.Head{GroupAt: r.Int(i + 1), Bytes: r.Int(i + 2), Next: r.Int(i + 3), NextRecord: r.Int(i + 4)}
	if text := r.Text(i); text != "" {
		if h.Digest, err = canon.ParseDigest(text); err != nil {
			err = fault.Wrap(err, fault.StoreCorrupt, "the head of a log is %q", text)
		}
	}
	return h, err
}

// StatedHead is HeadOf for a row that may be damaged: a head that is none equals that of no log.
func StatedHead(r db.Row, i int) manifest.Head {
	h, err := HeadOf(r, i)
	if err != nil {
		return manifest.Head{GroupAt: -1, Bytes: h.Bytes, Next: h.Next}
	}
	return h
}

// HeadArgs are the parameters of a head, in the order of HeadColumns. The first one is the digest, "" for a log without a group.
func HeadArgs(h manifest.Head) []any {
	digest := ""
	if !h.IsZero() {
		digest = h.Digest.String()
	}
	return []any{digest, h.GroupAt, h.Bytes, h.Next, h.NextRecord}
}

// NowMs is the time of the server in milliseconds since 1970 UTC: one clock orders the changes of all machines.
const NowMs = "(extract(epoch from clock_timestamp()) * 1000)::bigint"

// PlaceOf returns the columns place and name of a log: that of a session has no name.
func PlaceOf(l manifest.Log) (place, name string) {
	parts := strings.Split(l.Root, "/")
	switch {
	case len(parts) == 1:
		return "store", l.Root
	case parts[0] == "trash":
		place = "trash"
	default:
		place = "session"
	}
	if len(parts) > 2 {
		name = parts[2]
	}
	return place, name
}

// Within selects what is at a root, which is the parameter with a number from 1, or below it: the character behind "/" ends the range.
func Within(column string, parameter int) string {
	p := "$" + strconv.Itoa(parameter)
	return "(" + column + " = " + p + " or " + column + " >= " + p + " || '/' and " + column + " < " + p + " || '0')"
}

// ParseSession reads the id of a session from a row. STORE_CORRUPT: it is none.
func ParseSession(text string) (id.Session, error) {
	session, err := id.ParseSession(text)
	if err != nil {
		err = fault.Wrap(err, fault.StoreCorrupt, "the table of logs has a session %q", text)
	}
	return session, err
}

// Outdated marks a session as one whose brief is not of its logs.
func Outdated(session id.Session) db.Statement {
	return db.Query("update @.logs set changed = true where root = $1 and not changed", manifest.SessionEvents(session).Root)
}

// SideLock is the name of the lock that the lock of each side log of a session holds shared, also of one without a row: who
// holds it alone excludes all their writers.
func SideLock(session id.Session) string { return manifest.SessionEvents(session).Root + "/" }

// SideLockOf returns the lock of the side logs that a log is one of; ok is false for any other log.
func SideLockOf(l manifest.Log) (name string, ok bool) {
	session, err := id.ParseSession(l.Owner)
	if err != nil || l.Root == manifest.SessionEvents(session).Root {
		return "", false
	}
	return SideLock(session), true
}
