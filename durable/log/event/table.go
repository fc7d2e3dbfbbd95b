package event

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
)

// ScopeNeed states which scope the events of a kind must have.
type ScopeNeed int

// The scope needs.
const (
	NoScope    ScopeNeed = iota // none: the event is about the log as a whole
	RunScope                    // a run without a node
	NodeScope                   // a node of a run
	AnyScope                    // none, or a node of a run (observations)
	OwnerScope                  // checked by the payload's Check
)

// check returns an error for a scope that does not satisfy n.
func (n ScopeNeed) check(s Scope) error {
	hasRun, hasNode := !s.RunID.IsZero(), !s.NodeID.IsZero()
	fits := [...]bool{NoScope: !hasRun && !hasNode, RunScope: hasRun && !hasNode, NodeScope: hasRun && hasNode,
		AnyScope: hasRun == hasNode, OwnerScope: true}
	return errorIf(!fits[n], "scope does not fit the kind")
}

// Spec is one row of a table: how data of a kind is decoded, and which scope it needs.
type Spec struct {
	kind  string
	scope ScopeNeed
	of    reflect.Type // of the payload
	pins  bool         // the payload is a Pinner
	// ignorable: events of the kind have the member of that name, and one without it is foreign.
	ignorable bool
	zero      Payload
	scratch   *sync.Pool // of pointers to payloads, for exact
}

// Pinner is implemented by data that refers to a snapshot. The group that commits the event pins
// the snapshot, which keeps it from being removed.
type Pinner interface {
	Pin() canon.Digest
}

// Row returns the row for payload type P.
func Row[P Payload](need ScopeNeed) Spec {
	var zero P
	return rowOf(zero, need)
}

func rowOf(zero Payload, need ScopeNeed) Spec {
	_, pins := zero.(Pinner)
	_, ignores := zero.(ignorable)
	of := reflect.TypeOf(zero)
	return Spec{kind: zero.Kind(), scope: need, of: of, pins: pins, ignorable: ignores, zero: zero,
		scratch: &sync.Pool{New: func() any { return reflect.New(of).Interface() }}}
}

// exact decodes a canonical line.
func (s *Spec) exact(x *canon.Exact) (Payload, bool) {
	p := s.scratch.Get()
	defer s.scratch.Put(p)
	data := reflect.ValueOf(p).Elem()
	data.SetZero()
	ok := x.Into(p, dataDepth)
	return data.Interface().(Payload), ok // a copy
}

// decode decodes with one of canon's decoders.
func (s *Spec) decode(v canon.Value, into func(canon.Value, any) error) (Payload, error) {
	p := reflect.New(s.of)
	err := into(v, p.Interface())
	return p.Elem().Interface().(Payload), err
}

// Table is the closed union of the events of one kind of log. Tables are immutable after NewTable.
type Table struct {
	Name       string // the word for the log: "events", "annotations", …
	OwnerField string // "sessionId" or "storeId"
	specs      map[string]Spec
}

// NewTable returns the table with these rows. A kind that is listed twice is a programming error
// and panics.
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

// Opaque returns the table of a side log whose name this version does not know
// (docs/design.md#side-logs). All its events are foreign: their envelopes are checked, and their
// lines are kept unchanged.
func Opaque(name, ownerField string) *Table { return NewTable(name, ownerField) }

// Kinds returns the kinds of the table, sorted.
func (t *Table) Kinds() []string {
	return slices.Sorted(maps.Keys(t.specs))
}

// Payloads returns a zero value of each payload type, in the order of Kinds, for generated
// documents and schemas.
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

// unknown returns a payload that has only the snapshot of data: its group has a pin line for it,
// and the snapshot must not be removed (docs/design.md#foreign-stores).
func (s Spec) unknown(data canon.Value) Unknown {
	u := Unknown{kind: s.kind}
	if s.pins {
		ref, _ := data.Get("snapshotRef")
		u.pin, _ = canon.ParseDigest(ref.Text())
	}
	return u
}

// Kind returns the stored word.
func (u Unknown) Kind() string { return u.kind }

// Pin returns the snapshot of the data, zero where the kind has none.
func (u Unknown) Pin() canon.Digest { return u.pin }

// DedupeKey returns "": the key of a foreign event is not computed, its line is copied.
func (u Unknown) DedupeKey(string, Scope) string { return "" }

// Check returns an error: events of unknown kinds are never written.
func (u Unknown) Check(Scope) error { return fmt.Errorf("kind %q is not known", u.kind) }
