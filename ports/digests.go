package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Digests verifies logs without decoding them, at the speed of hashing.
type Digests interface {
	// Digests verifies chain, bounds and segment digests of a log, without decoding the committed
	// events. The tail is judged and damage is read again as in Logs.Read. Events of unknown kinds
	// or forms are not detected. visit is called at the start of each reading.
	Digests(ctx context.Context, log manifest.Log, visit func() DigestVisitor) (manifest.Verdict, error)

	// EachStored calls each for every object of a kind, in no particular order: what
	// Inspector.Stored lists, without building a list.
	EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error

	// InspectWithObjects does the work of Inspector.Inspect for a caller that also reads all logs with
	// Digests, whose verdicts report the segments. It calls seen for every object whose bytes
	// match its name, from several goroutines at once.
	InspectWithObjects(ctx context.Context, seen func(kind manifest.ObjectKind, ref canon.Digest)) ([]manifest.Finding,
		error)

	// LogBytes returns the length of a log's manifest in bytes, 0 if it does not exist: the value
	// that Head.Bytes reaches during a reading, for progress reports.
	LogBytes(ctx context.Context, log manifest.Log) (int64, error)
}

// DigestVisitor receives the groups of one reading of a log, in order.
type DigestVisitor interface {
	// Group receives the snapshots that one group pins, and the head after it.
	Group(pins []canon.Digest, head manifest.Head) error
}
