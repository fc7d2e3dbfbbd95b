// Package event holds the records of logs: one envelope, one strict spelling per
// line, and tables of closed event unions (locks section 1; R4, R10, R14).
//
// The domain events of a session are the table Domain; side logs (annotations,
// proposals, audit) bring tables of their own and share everything else here.
// The package decides nothing: what events mean is folded by projections.
package event

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Payload is the data of one event. Each log has a closed set of payload types,
// listed once in its Table.
type Payload interface {
	// Kind is the stored word: for ever.
	Kind() string
	// DedupeKey is the locks' recipe over stable identifiers of owner and scope.
	DedupeKey(owner string, s Scope) string
	// Check refuses data that breaks an invariant or a budget of the locks.
	Check(s Scope) error
}

// Scope says which run and node an event is about; either may be absent.
type Scope struct {
	NodeID id.Node `json:"nodeId,omitzero"`
	RunID  id.Run  `json:"runId,omitzero"`
}

// IsZero reports an event about the log as a whole.
func (s Scope) IsZero() bool { return s == Scope{} }

// ActorKind is the closed set of who did it (R4).
type ActorKind string

// The actor kinds.
const (
	Human  ActorKind = "human"
	Agent  ActorKind = "agent"
	Engine ActorKind = "engine"
)

// Actor is who caused an event; Ref is what they call themselves ("--as").
type Actor struct {
	Kind ActorKind `json:"kind"`
	Ref  string    `json:"ref,omitzero"`
}

// Check refuses unknown kinds and refs over budget.
func (a Actor) Check() error {
	if a.Kind != Human && a.Kind != Agent && a.Kind != Engine {
		return fmt.Errorf("unknown actor kind %q", a.Kind)
	}
	if len(a.Ref) > limits.ActorRefMax {
		return fmt.Errorf("actor ref of %d bytes: want at most %d", len(a.Ref), limits.ActorRefMax)
	}
	return nil
}

// Event is one record of a log. Events that were read keep what was written;
// Foreign ones are re-encoded verbatim.
type Event struct {
	ID          id.Event
	Index       int64  // 0-based, contiguous within the log
	Owner       string // session or store id, by the log's table
	Scope       Scope
	Actor       Actor // zero where a log was written without actors
	TimestampMs int64 // informational; never ordered by
	Ignorable   bool  // an older binary may skip this kind
	Data        Payload

	idText   string // what was read in place of ID, where it is of another shape
	verbatim []byte // the line without newline, where it is not our spelling
}

// Foreign reports an event that this binary cannot write: an unknown kind, or
// fields, ids or keys of another shape. Data and scope that could be read and
// keep the promises of their kind still are typed; else Data is Unknown.
func (e Event) Foreign() bool { return e.verbatim != nil }

// IDText is the event's id as its line spells it; those of other programs may
// have another shape, for which ID is zero.
func (e Event) IDText() string {
	if e.idText != "" {
		return e.idText
	}
	return e.ID.String()
}

// DedupeKey is the event's idempotency key by the recipe of its kind.
func (e Event) DedupeKey() string { return e.Data.DedupeKey(e.Owner, e.Scope) }

// New is an event with its derived id (R3), for a plan.
func New(owner string, index int64, s Scope, a Actor, timestampMs int64, data Payload) Event {
	e := Event{Index: index, Owner: owner, Scope: s, Actor: a, TimestampMs: timestampMs, Data: data}
	e.ID = id.EventOf(owner, e.DedupeKey())
	return e
}

// Check refuses an event that must not be written.
func (e Event) Check(t *Table) error {
	spec, ok := t.specs[e.Data.Kind()]
	if !ok {
		return fmt.Errorf("event %d: kind %q is not of this log", e.Index, e.Data.Kind())
	}
	if err := spec.scope.check(e.Scope); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	if err := e.Data.Check(e.Scope); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	if err := e.Actor.Check(); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	if err := checkDedupeKey(e.DedupeKey()); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Index, e.Data.Kind(), err)
	}
	return nil
}

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
