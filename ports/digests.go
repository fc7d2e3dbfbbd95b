package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Digests reads logs as fast as their bytes can be hashed.
type Digests interface {
	// Digests verifies a log without decoding what is committed: chain, bounds and
	// digests of every segment, and how many pins each group has. The tail is judged as
	// Logs.Read does, which also says how damage is met. Events of kinds or shapes that
	// this version does not know go unnoticed.
	Digests(ctx context.Context, log manifest.Log, v DigestVisitor) (manifest.Verdict, error)

	// EachStored gives the objects of a kind one by one, in no order: what Stored lists,
	// without a list of it.
	EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error

	// InspectSeeing is Inspector.Inspect beside a reading of all logs by Digests, which
	// says in its verdict what there is to say about the files of segments. It tells of
	// every object that it found to be what its name says: seen is called by several
	// goroutines at once.
	InspectSeeing(ctx context.Context, seen func(kind manifest.ObjectKind, ref canon.Digest)) ([]manifest.Finding,
		error)

	// LogBytes is the length of a log's manifest, 0 where there is none: what the heads
	// of a reading come up to.
	LogBytes(ctx context.Context, log manifest.Log) (int64, error)
}

// DigestVisitor receives the groups of a log.
type DigestVisitor interface {
	// Reset forgets what was visited: reading starts over.
	Reset()
	// Group takes the snapshots that one group pins, and the head behind it.
	Group(pins []canon.Digest, head manifest.Head) error
}
