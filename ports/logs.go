// Package ports declares the interfaces between the engine and its environment: logs, locks,
// objects, control files, bundles, commands and the person at the terminal, about one interface a
// file. The comments are the contract that package porttest tests for every implementation;
// infra/filestore is the one on disk. gate.go holds WithHealthySession, the only way to append to a
// log.
//
// A store may be remote. Then every method returns STORE_UNREACHABLE, at once and without another try, where the store
// cannot be reached; it promises that the call changed nothing. A commit whose answer is lost is STORE_OUTCOME_UNKNOWN.
//
// What a store makes durable survives what its kind can survive: the loss of power of the machine for files, of one
// machine for a replicated database, nothing for memory. "As durable as an Append" in these comments means that.
//
// The package contains no rules and no I/O. Start with Logs in this file and with gate.go.
package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Logs reads and appends to the logs of one store.
type Logs interface {
	// Read verifies a log from a known head on (the zero Head: from its beginning) and passes each
	// committed segment to a visitor, in order. It takes no lock. Damage is read again under the
	// shared lock before it is reported (docs/design.md#reading), from the zero Head for every
	// r.From and into another visitor: visit is called at the start of each reading. A log that
	// does not exist reads as empty and healthy. manifest.ErrNotOnChain: r.From is not on the log's
	// chain. Other errors come from the operating system or from the visitor; problems of the
	// stored bytes are in the verdict.
	Read(ctx context.Context, r ReadRequest, visit NewVisitor) (manifest.Verdict, error)

	// Confirm syncs a log that was read. nil promises that everything up to head is as durable as
	// an Append of this store. It is called before an answer acknowledges events that this process
	// did not write (docs/design.md#reading).
	Confirm(ctx context.Context, log manifest.Log, head manifest.Head) error

	// Append commits the events and objects of a plan after the head at, on which the plan was
	// decided. nil promises that they are durable (see the package comment). Any error but
	// STORE_OUTCOME_UNKNOWN promises that the log is unchanged; STORE_CONFLICT: at is no longer the
	// head. w must be the valid Witness of this log. RUN_BUSY (see LostLease): the store has leases,
	// and Plan.Lease is not 0 and not the token of the session's present lease; this is compared in
	// the commit itself. A store without leases takes no notice of it.
	Append(ctx context.Context, w Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error)
}

// ReadRequest selects what Logs.Read reads.
type ReadRequest struct {
	Log  manifest.Log
	From manifest.Head // start after this head
	// Trusted is a head of the log that this version folded before, as healthy; the zero Head is none. A store may
	// pass the segments up to it without their events, after it verified their digests. The error is
	// manifest.ErrNotOnChain, perhaps after some were passed, if the log does not contain it.
	Trusted manifest.Head
	// TrustedEvents asks for these segments with their events, decoded without checks that they passed before. A store may then
	// pass all segments without their bytes, and overwrites the list of the events of one after the next one was passed.
	TrustedEvents bool
	// Ahead is nil or called, on any goroutine, with events of segments that a store reads ahead of the visitor: of none, some
	// or all, not verified yet. It is for reading what the visitor will ask for; nothing may depend on it.
	Ahead  func([]event.Event)
	Locked bool // the caller holds the log's exclusive lock: re-reading takes none
}

// Visitor receives the committed segments of one reading of a log.
type Visitor interface {
	// Visit receives one committed segment and the head after it. Its error ends the reading.
	Visit(seg manifest.Segment, head manifest.Head) error
}

// NewVisitor returns the visitor of a reading that starts after the given head, which is that of
// the request or the zero Head. A reading that starts over calls it again, so for the zero Head it
// returns a visitor that has received nothing.
type NewVisitor func(from manifest.Head) Visitor

// VisitorFunc is a function as a Visitor.
type VisitorFunc func(seg manifest.Segment, head manifest.Head) error

// Visit implements Visitor.
func (f VisitorFunc) Visit(seg manifest.Segment, head manifest.Head) error { return f(seg, head) }

// Into returns a NewVisitor that keeps the visitor of the last reading in *v. A reading from the
// zero Head gets one of fresh; a reading that continues gets the present *v.
func Into[V Visitor](v *V, fresh func() V) NewVisitor {
	return func(from manifest.Head) Visitor {
		if from.IsZero() {
			*v = fresh()
		}
		return *v
	}
}

// Each returns a NewVisitor of a function that has no state of one reading.
func Each(visit VisitorFunc) NewVisitor { return func(manifest.Head) Visitor { return visit } }

// Skip is the NewVisitor of a reading that needs only the verdict.
var Skip = Each(func(manifest.Segment, manifest.Head) error { return nil })

// Continue reads a log from r.From on, and from its beginning if the log does not contain that
// head: the log was replaced.
func Continue(ctx context.Context, logs Logs, r ReadRequest, visit NewVisitor) (manifest.Verdict, error) {
	v, err := logs.Read(ctx, r, visit)
	if errors.Is(err, manifest.ErrNotOnChain) {
		r.From = manifest.Head{}
		v, err = logs.Read(ctx, r, visit)
	}
	return v, err
}
