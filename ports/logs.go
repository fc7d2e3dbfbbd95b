// Package ports declares the interfaces between the engine and its environment: logs, locks,
// objects, control files, bundles, commands and the person at the terminal, about one interface a
// file. The comments are the contract that package porttest tests for every implementation;
// infra/filestore is the one on disk. gate.go holds WithHealthySession, the only way to append to a
// log.
//
// The package contains no rules and no I/O. Start with Logs in this file and with gate.go.
package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// Logs reads and appends to the logs of one store.
type Logs interface {
	// Read verifies a log from a known head on (the zero Head: from its beginning) and passes each
	// committed segment to v, in order. It takes no lock. Damage is read again under the shared
	// lock before it is reported (docs/design.md#reading): v is reset, and that reading starts at
	// the zero Head for every r.From. A log that does not exist reads as empty and healthy.
	// manifest.ErrNotOnChain: r.From is not on the log's chain. Other errors come from the
	// operating system or from v; problems of the stored bytes are in the verdict.
	Read(ctx context.Context, r ReadRequest, v Visitor) (manifest.Verdict, error)

	// Confirm syncs a log that was read. nil promises that everything up to head survives a power
	// cut, as after an Append of this process. It is called before an answer acknowledges events
	// that this process did not write (docs/design.md#reading).
	Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error

	// Append commits the events and objects of a plan after the head at, on which the plan was
	// decided. nil promises that they survive a power cut. Any error but STORE_OUTCOME_UNKNOWN
	// promises that the log is unchanged; STORE_CONFLICT: at is no longer the head. w must be the
	// valid Witness of this log.
	Append(ctx context.Context, w Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error)
}

// ReadRequest selects what Logs.Read reads.
type ReadRequest struct {
	Log    manifest.Log
	From   manifest.Head // start after this head
	Locked bool          // the caller holds the log's exclusive lock: re-reading takes none
}

// Visitor receives the committed segments of a log.
type Visitor interface {
	// Reset is called when reading restarts from the beginning; the visitor forgets what it got.
	Reset()
	// Visit receives one committed segment and the head after it. Its error ends the reading.
	Visit(seg manifest.Segment, head manifest.Head) error
}
