package projections

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// AuditEntry is one act: what two lines of the audit log say of it, or one.
type AuditEntry struct {
	AtMs    int64             `json:"atMs"`
	Actor   event.Actor       `json:"actor"`
	Action  audit.Action      `json:"action"`
	Target  audit.Target      `json:"target"`
	Outcome audit.Outcome     `json:"outcome"`
	Code    string            `json:"code,omitzero"` // of the fault, where the act failed
	Reason  string            `json:"reason,omitzero"`
	Details map[string]string `json:"details,omitzero"` // of the intention and of the outcome
	Source  *audit.Source     `json:"source,omitzero"`  // of a fact that another log holds
	EventID id.Event          `json:"eventId"`          // of the line; of an act, its intention's
	// Unwritten says that the line of a fact is not in the log yet: the entry was made
	// from the fact.
	Unwritten bool `json:"unwritten,omitzero"`
}

// AuditTrail folds the audit log.
type AuditTrail struct {
	Entries  []AuditEntry // in the order of the log
	Findings []manifest.Finding
	Head     manifest.Head

	log      manifest.Log
	at       map[id.Event]int // entries by their line
	recorded map[recordKey]bool
	keys     map[string]int64
}

type recordKey struct {
	root  string
	event id.Event
}

// NewAuditTrail starts with an empty log.
func NewAuditTrail(log manifest.Log) *AuditTrail {
	t := &AuditTrail{log: log}
	t.Reset()
	return t
}

// Reset implements ports.Visitor.
func (t *AuditTrail) Reset() {
	*t = AuditTrail{log: t.log, at: map[id.Event]int{}, recorded: map[recordKey]bool{}, keys: map[string]int64{}}
}

// Visit implements ports.Visitor. Lines that this version does not know are passed over:
// the log's verdict says so.
func (t *AuditTrail) Visit(seg manifest.Segment, head manifest.Head) error {
	t.Head = head
	for _, e := range seg.Events {
		t.once(e)
		switch p := e.Data.(type) {
		case audit.Intended:
			if p.Ordinal != e.Index {
				t.find(manifest.BrokenReference, e, "event %d says that it is event %d", e.Index, p.Ordinal)
			}
			t.add(AuditEntry{AtMs: e.TimestampMs, Actor: e.Actor, Action: p.Action, Target: p.Target,
				Outcome: audit.Open,
				Reason:  p.Reason, Details: p.Details, EventID: e.ID})
		case audit.Done:
			t.conclude(e, p)
		case audit.Recorded:
			t.add(entryOf(AuditFact{e.Actor, e.TimestampMs, p}, e.ID))
			t.recorded[recordKey{p.Source.Root(), p.Source.EventID}] = true
		}
	}
	return nil
}

// Has reports whether a fact has its line.
func (t *AuditTrail) Has(f AuditFact) bool {
	return t.recorded[recordKey{f.Source.Root(), f.Source.EventID}]
}

// Complete adds the entry of a fact that has no line yet, with the id that its line will
// have. It is for readers, who write nothing (R10).
func (t *AuditTrail) Complete(f AuditFact) {
	if t.Has(f) {
		return
	}
	t.recorded[recordKey{f.Source.Root(), f.Source.EventID}] = true
	e := entryOf(f, id.EventOf(t.log.Owner, f.DedupeKey(t.log.Owner, event.Scope{})))
	e.Unwritten = true
	t.add(e)
}

// Newest orders the entries by their time, the newest last; lines of one moment stand as
// in the log. A line may have been written long after its fact.
func (t *AuditTrail) Newest() []AuditEntry {
	out := slices.Clone(t.Entries)
	slices.SortStableFunc(out, func(a, b AuditEntry) int { return cmp.Compare(a.AtMs, b.AtMs) })
	return out
}

func (t *AuditTrail) add(e AuditEntry) {
	t.at[e.EventID] = len(t.Entries)
	t.Entries = append(t.Entries, e)
}

func (t *AuditTrail) conclude(e event.Event, p audit.Done) {
	i, ok := t.at[p.IntendedEventID]
	if !ok || t.Entries[i].Source != nil {
		t.find(manifest.BrokenReference, e, "event %d is the outcome of %s, which intends nothing", e.Index,
			p.IntendedEventID)
		return
	}
	entry := &t.Entries[i]
	entry.Outcome, entry.Code = p.Outcome, p.Code
	if len(p.Details) > 0 {
		merged := map[string]string{}
		maps.Copy(merged, entry.Details)
		maps.Copy(merged, p.Details) // what came of it counts more than what was meant
		entry.Details = merged
	}
}

// once finds a line that stands twice.
func (t *AuditTrail) once(e event.Event) {
	if e.Foreign() {
		return // its key may be by another recipe
	}
	if first, twice := t.keys[e.DedupeKey()]; twice {
		t.find(manifest.DuplicateKey, e, "event %d has the dedupeKey of event %d", e.Index, first)
		return
	}
	t.keys[e.DedupeKey()] = e.Index
}

func (t *AuditTrail) find(code manifest.FindingCode, e event.Event, format string, args ...any) {
	f := manifest.NewFinding(code, t.log.Root, format, args...)
	f.Event = &e.Index
	t.Findings = append(t.Findings, f)
}

func entryOf(f AuditFact, line id.Event) AuditEntry {
	from := f.Source
	return AuditEntry{AtMs: f.AtMs, Actor: f.Actor, Action: f.Action, Target: f.Target, Outcome: audit.Succeeded,
		Reason: f.Reason, Details: f.Details, Source: &from, EventID: line}
}
