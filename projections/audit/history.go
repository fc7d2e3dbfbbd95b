package audit

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
)

// Entry is one audited act: two lines of the audit log, intention and outcome, or the one line
// of a fact.
type Entry struct {
	AtMs    int64             `json:"atMs"`
	Actor   event.Actor       `json:"actor"`
	Action  audit.Action      `json:"action"`
	Target  audit.Target      `json:"target"`
	Outcome audit.Outcome     `json:"outcome"`
	Code    string            `json:"code,omitzero"` // fault code, if the act failed
	Reason  string            `json:"reason,omitzero"`
	Details map[string]string `json:"details,omitzero"` // of the intention and of the outcome; the outcome wins
	Source  *audit.Source     `json:"source,omitzero"`  // the event of another log that a fact was taken from
	EventID id.Event          `json:"eventId"`          // of the line; for an act, of its intention
	// Unwritten reports that the line is not in the log yet and that the entry was made from the
	// fact itself.
	Unwritten bool `json:"unwritten,omitzero"`
}

// History folds the audit log into entries and checks its references.
type History struct {
	Entries  []Entry // in the order of the log
	Findings []manifest.Finding
	Head     manifest.Head
	// Confirmed is what a person confirmed in the log.
	Confirmed Confirmed

	log        manifest.Log
	entryIndex map[id.Event]int   // indices into Entries, by event id of the line
	recorded   map[recordKey]bool // facts that have an entry
	keys       map[string]int64   // event index by dedupeKey
}

// recordKey names an event of another log.
type recordKey struct {
	root  string
	event id.Event
}

// NewHistory returns the fold of an empty log. log names it in findings and derives event ids.
func NewHistory(log manifest.Log) *History {
	return &History{log: log, entryIndex: map[id.Event]int{}, recorded: map[recordKey]bool{}, keys: map[string]int64{}}
}

// Visit implements ports.Visitor. It never returns an error: lines that this version does not know
// are skipped here and reported by the log's verdict.
func (t *History) Visit(seg manifest.Segment, head manifest.Head) error {
	t.Head = head
	for _, e := range seg.Events {
		t.checkKey(e)
		t.Confirmed.visit(e)
		switch p := e.Data.(type) {
		case audit.Intended:
			if p.Ordinal != e.Index {
				t.addFinding(manifest.BrokenReference, e, "event %d has the ordinal %d", e.Index, p.Ordinal)
			}
			if p.IsSigned() {
				t.checkSigned(e, p)
			}
			t.add(Entry{AtMs: e.TimestampMs, Actor: e.Actor, Action: p.Action, Target: p.Target,
				Outcome: audit.Open,
				Reason:  p.Reason, Details: p.Details, EventID: e.ID})
		case audit.Done:
			t.conclude(e, p)
		case audit.Recorded:
			t.add(entryOf(Fact{e.Actor, e.TimestampMs, p}, e.ID))
			t.recorded[recordKey{p.Source.Root(), p.Source.EventID}] = true
		}
	}
	return nil
}

// checkSigned adds a finding for a signature that is not one over its text, or a text that is not about the act.
func (t *History) checkSigned(e event.Event, p audit.Intended) {
	policy, _ := p.Signed.Get("policy")
	digest, err := canon.ParseDigest(policy.Text()) // which one was in force is judged by Confirmed
	if err == nil && !p.Subject(e.Owner, digest).IsOf(p.Signed) {
		err = errors.New("its text is about another act")
	}
	if err == nil {
		_, err = consent.Inspect(p.Signed.JCS(), p.Signature)
	}
	if err != nil {
		t.addFinding(manifest.SignatureInvalid, e, "the signature of event %d does not count: %v", e.Index, err)
	}
}

// Has reports whether a fact has an entry, written or not.
func (t *History) Has(f Fact) bool {
	return t.recorded[recordKey{f.Source.Root(), f.Source.EventID}]
}

// AddUnwritten adds an entry for a fact that has no line yet, with the event id that the line will get.
// Readers use it: they never write (docs/design.md#side-logs).
func (t *History) AddUnwritten(f Fact) {
	if t.Has(f) {
		return
	}
	t.recorded[recordKey{f.Source.Root(), f.Source.EventID}] = true
	e := entryOf(f, id.EventOf(t.log.Owner, f.DedupeKey(t.log.Owner, event.Scope{})))
	e.Unwritten = true
	t.add(e)
}

// EntriesByTime returns the entries sorted by time, the newest last; entries of the same millisecond keep
// the order of the log. The log's own order differs: a line may be written long after its fact.
func (t *History) EntriesByTime() []Entry {
	out := slices.Clone(t.Entries)
	sorting.Stable(out, func(a, b Entry) int { return cmp.Compare(a.AtMs, b.AtMs) })
	return out
}

// add appends an entry and indexes it by its event id.
func (t *History) add(e Entry) {
	t.entryIndex[e.EventID] = len(t.Entries)
	t.Entries = append(t.Entries, e)
}

// conclude stores the outcome of an act in the entry of its intention. An outcome without an
// intention is a finding.
func (t *History) conclude(e event.Event, p audit.Done) {
	i, ok := t.entryIndex[p.IntendedEventID]
	// An entry with a Source is a fact, which has no outcome of its own.
	if !ok || t.Entries[i].Source != nil {
		t.addFinding(manifest.BrokenReference, e, "event %d is the outcome of %s, which is not an intention", e.Index,
			p.IntendedEventID)
		return
	}
	entry := &t.Entries[i]
	entry.Outcome, entry.Code = p.Outcome, p.Code
	if len(p.Details) > 0 {
		merged := map[string]string{}
		maps.Copy(merged, entry.Details)
		maps.Copy(merged, p.Details) // the outcome overrides the intention
		entry.Details = merged
	}
}

// checkKey reports a dedupeKey that occurs twice. Foreign lines are not checked.
func (t *History) checkKey(e event.Event) {
	if e.Foreign() {
		return // other programs may derive keys differently
	}
	if first, seen := t.keys[e.DedupeKey()]; seen {
		t.addFinding(manifest.DuplicateKey, e, "event %d has the dedupeKey of event %d", e.Index, first)
		return
	}
	t.keys[e.DedupeKey()] = e.Index
}

// addFinding records a finding about the event e.
func (t *History) addFinding(code manifest.FindingCode, e event.Event, format string, args ...any) {
	t.Findings = append(t.Findings, manifest.NewFinding(code, t.log.Root, format, args...).AtEvent(e.Index))
}

// entryOf returns the entry of a fact whose line has the event id line. A fact is an act that
// succeeded: its event is committed.
func entryOf(f Fact, line id.Event) Entry {
	from := f.Source
	return Entry{AtMs: f.AtMs, Actor: f.Actor, Action: f.Action, Target: f.Target, Outcome: audit.Succeeded,
		Reason: f.Reason, Details: f.Details, Source: &from, EventID: line}
}
