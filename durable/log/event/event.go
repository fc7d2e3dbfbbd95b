// Package event defines the events of logs: the envelope, the encoding of an event as one canonical
// JSON line (docs/design.md#lines-and-files), and tables of closed unions of payloads
// (docs/design.md#events).
//
// The domain events of a session are in the table Domain. Side logs (annotations, proposals, audit)
// define their own tables with the same envelope (docs/design.md#side-logs). The package folds
// nothing and decides nothing; projections and package advance do. It reads and writes no files.
//
// Start reading at Event, Payload and Table.
package event

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Payload is the data of one event. Each log has a closed set of payload types, listed once in its
// Table.
type Payload interface {
	// Kind returns the stored word for the type: never renamed.
	Kind() string
	// DedupeKey returns the idempotency key: two events with one key record the same fact. It is
	// made of ids only, and never changed, since event ids are derived from it.
	DedupeKey(owner string, s Scope) string
	// Check returns an error for data that violates an invariant or exceeds a limit.
	Check(s Scope) error
}

// ignorable is implemented by payloads of kinds whose events always have the member ignorable
// (docs/format/events.md#the-envelope).
type ignorable interface{ ignorable() }

// Scope identifies the run and node that an event is about; either may be absent.
type Scope struct {
	NodeID id.Node `json:"nodeId,omitzero"`
	RunID  id.Run  `json:"runId,omitzero"`
}

// IsZero reports an event about the log as a whole.
func (s Scope) IsZero() bool { return s == Scope{} }

// ActorKind is the closed set of kinds of actors.
type ActorKind string

// The actor kinds.
const (
	Human  ActorKind = "human"
	Agent  ActorKind = "agent"
	Engine ActorKind = "engine"
)

// Actor is the user or program that caused an event. Ref is a name of its choice (flag --as); it is
// not authenticated.
type Actor struct {
	Kind ActorKind `json:"kind"`
	Ref  string    `json:"ref,omitzero"`
}

// Check returns an error for unknown kinds and refs that are too long.
func (a Actor) Check() error {
	return cmp.Or(oneOf("actor kind", a.Kind, Human, Agent, Engine),
		within("actor ref of %d bytes", len(a.Ref), 0, limits.ActorRefMax))
}

// Event is one record of a log. An event that was decoded and is Foreign is encoded as it was read.
type Event struct {
	ID          id.Event
	Index       int64  // 0-based, contiguous within the log
	Owner       string // session or store id, by the log's table
	Scope       Scope
	Actor       Actor // zero in logs that were written without actors
	TimestampMs int64 // Unix time in milliseconds; informational, never used for ordering
	Ignorable   bool  // a binary that does not know the kind may skip the event
	Data        Payload

	read *asRead // nil where this table would encode the line as it was read, and the id has Waybill's form
}

// asRead is what of an event is kept as it was read.
type asRead struct {
	id   string // where it does not have Waybill's form
	line []byte // without newline, where a table would encode it differently
}

// Foreign reports an event that this binary cannot write: an unknown kind, or members, ids or
// keys of another form (docs/design.md#foreign-stores). Its Data has the type of the kind where
// data and scope could be decoded and pass Check; else it is Unknown.
func (e Event) Foreign() bool { return e.read != nil && e.read.line != nil }

// IDText returns the event's id as its line spells it. Ids of other programs may have another form,
// for which ID is zero.
func (e Event) IDText() string {
	if e.read != nil && e.read.id != "" {
		return e.read.id
	}
	return e.ID.String()
}

// DedupeKey returns the event's idempotency key, "" for Unknown data.
//
//go:noinline
func (e Event) DedupeKey() string { return e.Data.DedupeKey(e.Owner, e.Scope) }

// New returns an event for a plan, with the id that is derived from its owner and dedupe key
// (docs/design.md#ids).
func New(owner string, index int64, s Scope, a Actor, timestampMs int64, data Payload) Event {
	e := Event{Index: index, Owner: owner, Scope: s, Actor: a, TimestampMs: timestampMs, Data: data}
	_, e.Ignorable = data.(ignorable)
	e.ID = id.EventOf(owner, e.DedupeKey())
	return e
}

// Check returns an error for an event that must not be written to a log of table t. The error names
// the event's index and kind.
func (e Event) Check(t *Table) error {
	spec, ok := t.specs[e.Data.Kind()]
	if !ok {
		return fmt.Errorf("event %d: kind %q is not of this log", e.Index, e.Data.Kind())
	}
	if err := cmp.Or(spec.scope.check(e.Scope), e.Data.Check(e.Scope), e.Actor.Check(),
		errorIf(spec.ignorable && !e.Ignorable, "the kind is ignorable, and the event is not"),
		checkDedupeKey(e.DedupeKey())); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	return nil
}

// checkDedupeKey returns an error for a key that is too long or has characters outside of a-z 0-9
// and four signs. Keys can therefore be written into lines without escaping.
func checkDedupeKey(key string) error {
	if key == "" || len(key) > limits.DedupeKeyMax {
		return fmt.Errorf("dedupeKey of %d characters: want 1 to %d", len(key), limits.DedupeKeyMax)
	}
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == ':', c == '>', c == '-':
		default:
			return fmt.Errorf("dedupeKey holds %q: want only a-z 0-9 _ : > -", c)
		}
	}
	return nil
}
