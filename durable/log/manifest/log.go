// Package manifest is the control stream of a log (locks section 1; R4, R9, R10):
// which segments count, how each group of lines that commits one chains to the
// one before, and the verdict over whatever bytes a crash or a hand left behind.
//
// It is pure: files are handed in as readers and functions. It is written for
// any log; what the events of one mean is its table's business.
package manifest

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Log names one log: where it lies in its store, whose it is, what it may hold.
type Log struct {
	Root  string // folder relative to the store, with slashes
	Owner string // session or store id
	Table *event.Table
}

// SessionEvents is the log of a session's domain events.
func SessionEvents(s id.Session) Log {
	return Log{Root: "sessions/" + s.String(), Owner: s.String(), Table: event.Domain}
}

// SessionSide is a side log of a session (R10): it lies beside the events, in a folder
// of its name. table is the one that the name has, or event.Opaque.
func SessionSide(s id.Session, table *event.Table) Log {
	return Log{Root: "sessions/" + s.String() + "/" + table.Name, Owner: s.String(), Table: table}
}

// StoreLog is a log of the store itself (R10).
func StoreLog(s id.Store, table *event.Table) Log {
	return Log{Root: table.Name, Owner: s.String(), Table: table}
}

// FileName is the manifest's name inside a log's root; SegmentDir is the folder
// of its segments.
const (
	FileName   = "manifest.jsonl"
	SegmentDir = "events"
)

// Head names one committed prefix of a log. The zero Head is the empty log.
type Head struct {
	Digest     canon.Digest `json:"digest,omitzero"` // of the last group's bytes
	GroupAt    int64        `json:"groupAt"`         // where that group starts in the manifest
	Bytes      int64        `json:"bytes"`           // length of the manifest
	Next       int64        `json:"next"`            // next event index
	NextRecord int64        `json:"nextRecord"`      // next manifest index
}

// IsZero reports the empty log.
func (h Head) IsZero() bool { return h == Head{} }

// SegmentName is the file name for the events first to last.
func SegmentName(first, last int64) string { return fmt.Sprintf("%08d-%08d.jsonl", first, last) }

// ParseSegmentName undoes SegmentName; any other spelling is no segment.
func ParseSegmentName(name string) (first, last int64, ok bool) {
	stem, isLines := strings.CutSuffix(name, ".jsonl")
	from, to, isSpan := strings.Cut(stem, "-")
	first, okFirst := parseIndex(from)
	last, okLast := parseIndex(to)
	return first, last, isLines && isSpan && okFirst && okLast && first <= last
}

// parseIndex reads an index in the one spelling that SegmentName has for it.
func parseIndex(digits string) (n int64, ok bool) {
	if len(digits) < indexDigits || len(digits) > indexDigitsMax || len(digits) > indexDigits && digits[0] == '0' {
		return 0, false
	}
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// Indices in names of segments have so many digits at least, and at most.
const (
	indexDigits    = 8
	indexDigitsMax = 16
)
