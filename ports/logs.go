// Package ports holds what the engine needs from the world: one small interface
// a file, whose comments are the contract that package porttest checks, and the
// gate that alone lets anyone append. It holds no rules and no I/O.
package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// Logs reads and appends to the logs of one store.
type Logs interface {
	// Read verifies a log from a known head on (the zero Head: all of it) and
	// hands each committed segment to visit, in order. It takes no lock; damage
	// that it meets is read again under the shared lock before the verdict says
	// so (R8): the visitor is reset, and that reading starts at the zero Head,
	// whatever From was. A log that is not there reads as empty and healthy. When from is not
	// on the log's chain the error is manifest.ErrNotOnChain. An error is the
	// world's or visit's; what is wrong with the bytes is in the verdict.
	Read(ctx context.Context, r Reading, v Visitor) (manifest.Verdict, error)

	// Confirm: nil promises that everything up to head survives a power cut, as
	// an Append by this process would have made it. It is called before an answer
	// acknowledges what was only read (R8).
	Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error

	// Append commits a plan behind at, which is the head that it was decided on.
	// nil promises that events and objects survive a power cut. Any error but
	// STORE_OUTCOME_UNKNOWN promises that the log is as before; STORE_CONFLICT
	// says that at is not the head any more. The witness must be the live one of
	// this log.
	Append(ctx context.Context, w Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error)
}

// Reading says what to read.
type Reading struct {
	Log    manifest.Log
	From   manifest.Head
	Locked bool // the caller holds the log's exclusive lock: none is taken to re-read
}

// Visitor receives the committed segments of a log.
type Visitor interface {
	// Reset forgets what was visited: reading starts over.
	Reset()
	// Visit takes one committed segment and the head behind it.
	Visit(seg manifest.Segment, head manifest.Head) error
}
