// Package manifest implements the manifest of a log: the groups of records that commit segments,
// the chain of digests between groups, and the verdict over a log that was changed or left
// incomplete by a crash (docs/design.md#lines-and-files, docs/design.md#log-tail).
//
// It reads and writes no files: the caller passes readers and functions, and writes what
// EncodeSegment and Group return. It does not interpret events; their table decodes them. It
// serves session logs and side logs alike (docs/design.md#side-logs).
//
// The main types are Log, Head, Segment, Plan and Verdict. Start reading at Read.
package manifest

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Log identifies one log of a store.
type Log struct {
	Root  string       // directory relative to the store, with slashes
	Owner string       // session or store id
	Table *event.Table // the kinds of events that the log may contain
}

// SessionEvents returns the log of a session's domain events.
//
//go:noinline
func SessionEvents(s id.Session) Log {
	return Log{Root: "sessions/" + s.String(), Owner: s.String(), Table: event.Domain}
}

// SessionSide returns a side log of a session (docs/design.md#side-logs). It is stored in a
// directory of the session that has the name of table. table is event.Opaque for a name that
// this version does not know.
func SessionSide(s id.Session, table *event.Table) Log {
	return Log{Root: "sessions/" + s.String() + "/" + table.Name, Owner: s.String(), Table: table}
}

// StoreLog returns a side log of the store itself (docs/design.md#side-logs).
func StoreLog(s id.Store, table *event.Table) Log {
	return Log{Root: table.Name, Owner: s.String(), Table: table}
}

// FileName is the name of the manifest in a log's root; SegmentDir is the directory of its
// segments.
const (
	FileName   = "manifest.jsonl"
	SegmentDir = "events"
)

// Head identifies one committed prefix of a log. The zero Head is that of an empty log. Heads are
// comparable with ==; equal heads of one log mean equal prefixes, by the chain of digests.
type Head struct {
	Digest     canon.Digest `json:"digest,omitzero"` // of the last group's bytes
	GroupAt    int64        `json:"groupAt"`         // where that group starts in the manifest
	Bytes      int64        `json:"bytes"`           // length of the manifest
	Next       int64        `json:"next"`            // next event index
	NextRecord int64        `json:"nextRecord"`      // next manifest index
}

// IsZero reports the head of an empty log.
func (h Head) IsZero() bool { return h == Head{} }

// SegmentName returns the file name of the segment with the events first to last.
func SegmentName(first, last int64) string {
	name := make([]byte, 0, 48)
	return string(append(appendIndex(append(appendIndex(name, first), '-'), last), ".jsonl"...))
}

// appendIndex appends an index as parseIndex parses it.
func appendIndex(name []byte, n int64) []byte {
	for least := int64(10_000_000); n < least && least > 1; least /= 10 {
		name = append(name, '0')
	}
	return strconv.AppendInt(name, n, 10)
}

// ParseSegmentName is the inverse of SegmentName. ok is false for any other spelling.
func ParseSegmentName(name string) (first, last int64, ok bool) {
	stem, isLines := strings.CutSuffix(name, ".jsonl")
	from, to, isSpan := strings.Cut(stem, "-")
	first, okFirst := parseIndex(from)
	last, okLast := parseIndex(to)
	return first, last, isLines && isSpan && okFirst && okLast && first <= last
}

// parseIndex parses an index as SegmentName writes it: at least eight digits, more only without a
// leading zero.
func parseIndex(digits string) (n int64, ok bool) {
	if len(digits) < indexDigits || len(digits) > indexDigitsMax || len(digits) > indexDigits && digits[0] == '0' {
		return 0, false
	}
	u, err := strconv.ParseUint(digits, 10, 63)
	return int64(u), err == nil
}

// The least and the largest number of digits of an index in a segment name.
const (
	indexDigits    = 8
	indexDigitsMax = 16
)
