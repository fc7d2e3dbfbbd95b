package event

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// ScopeNeed says what an event of a kind must be about.
type ScopeNeed int

// The scope needs.
const (
	NoScope    ScopeNeed = iota // the log as a whole
	RunScope                    // a run, no node
	NodeScope                   // a node of a run
	AnyScope                    // none, or a node of a run (observations)
	OwnerScope                  // decided by the payload's Check
)

func (n ScopeNeed) check(s Scope) error {
	hasRun, hasNode := !s.RunID.IsZero(), !s.NodeID.IsZero()
	ok := true
	switch n {
	case NoScope:
		ok = !hasRun && !hasNode
	case RunScope:
		ok = hasRun && !hasNode
	case NodeScope:
		ok = hasRun && hasNode
	case AnyScope:
		ok = hasRun == hasNode
	}
	if !ok {
		return errors.New("scope does not fit the kind")
	}
	return nil
}

// Spec is one row of a table: how data of a kind is read, and what it may be about.
type Spec struct {
	kind   string
	scope  ScopeNeed
	exact  func(*canon.Exact) (Payload, bool)
	decode func(canon.Value) (Payload, error)
	known  func(canon.Value) (Payload, error) // passes over members that we do not know
	pins   bool
	zero   Payload
}

// Pinner is data whose snapshot must stay reachable (R4).
type Pinner interface {
	Pin() canon.Digest
}

// Row makes the row for payload type P.
func Row[P Payload](need ScopeNeed) Spec {
	var zero P
	_, pins := any(zero).(Pinner)
	return Spec{kind: zero.Kind(), scope: need, pins: pins, zero: zero,
		exact: func(x *canon.Exact) (Payload, bool) {
			var p P
			ok := x.Into(&p, dataDepth)
			return p, ok
		},
		decode: func(v canon.Value) (Payload, error) {
			var p P
			err := canon.Decode(v, &p)
			return p, err
		},
		known: func(v canon.Value) (Payload, error) {
			var p P
			err := canon.DecodeKnown(v, &p)
			return p, err
		}}
}

// Table is the closed union of one kind of log: its owner field and its events.
type Table struct {
	Name       string // the word for the log: "events", "annotations", …
	OwnerField string // "sessionId" or "storeId"
	specs      map[string]Spec
}

// NewTable lists a log's kinds once.
func NewTable(name, ownerField string, rows ...Spec) *Table {
	t := &Table{Name: name, OwnerField: ownerField, specs: make(map[string]Spec, len(rows))}
	for _, row := range rows {
		if _, twice := t.specs[row.kind]; twice {
			panic(fmt.Sprintf("event: kind %q twice in table %s", row.kind, name))
		}
		t.specs[row.kind] = row
	}
	return t
}

// Opaque is the table of a side log whose name we do not know: every event of it is
// foreign, is checked as far as any event can be, and is kept as it is (R10).
func Opaque(name, ownerField string) *Table { return NewTable(name, ownerField) }

// Kinds lists the kinds of the table, sorted.
func (t *Table) Kinds() []string {
	var out []string
	for k := range t.specs {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Payloads gives a zero value of each payload type, in the order of Kinds: what
// describes the union describes these types.
func (t *Table) Payloads() []Payload {
	var out []Payload
	for _, k := range t.Kinds() {
		out = append(out, t.specs[k].zero)
	}
	return out
}

// Unknown is the payload of an event whose data this binary cannot read.
type Unknown struct {
	kind string
	pin  canon.Digest
}

// unknown keeps of data only the snapshot that it pins, whatever else it says:
// its group has a line for it, and nobody may collect it (R4, R14).
func (s Spec) unknown(data canon.Value) Unknown {
	u := Unknown{kind: s.kind}
	if s.pins {
		ref, _ := data.Get("snapshotRef")
		u.pin, _ = canon.ParseDigest(ref.Text())
	}
	return u
}

// Kind is the word that was stored.
func (u Unknown) Kind() string { return u.kind }

// Pin is the snapshot that the data names, zero where the kind names none.
func (u Unknown) Pin() canon.Digest { return u.pin }

// DedupeKey is unknown as well: a foreign line is never written, only kept.
func (u Unknown) DedupeKey(string, Scope) string { return "" }

// Check refuses: nobody here writes what they do not know.
func (u Unknown) Check(Scope) error { return fmt.Errorf("kind %q is not known", u.kind) }
