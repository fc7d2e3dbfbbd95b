package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/imported"
)

// Ledger is the state that a writer of the audit log saves between two writes, so that neither
// the audit log nor the logs with the facts are read from their beginnings. It is a fold of the
// audit log and records how far each of the other logs was searched for facts, what a person
// confirmed last, and what was imported. It is derived state: listing and verification never read it.
type Ledger struct {
	// Head is the prefix of the audit log that Lines is the fold of.
	Head manifest.Head
	// Lines holds the facts that have a line, by root of their log, with their event indices in
	// that log. A single index per log would not do: a session restored from a backup has other
	// facts at the same indices, and some of the same facts at other indices.
	Lines map[string]map[id.Event]int64
	// Seen is, by root, the prefix of each log whose facts all have their lines.
	Seen map[string]manifest.Head
	// Partial reports that Prune removed lines: if a log turns out to have another history than
	// Seen, the audit log has to be folded from its beginning.
	Partial bool
	// Confirmed is what a person confirmed in this prefix.
	Confirmed Confirmed
	// Imports are the imports that are recorded in this prefix.
	Imports Imports
}

// LedgerFormat is the number of the form that Save writes. A changed form gets a new number
// and with it another cache file (docs/design.md#head-cache).
const LedgerFormat = 7

// NewLedger returns the ledger of an empty audit log.
func NewLedger() *Ledger {
	return &Ledger{Lines: map[string]map[id.Event]int64{}, Seen: map[string]manifest.Head{}, Imports: newImports()}
}

// Visit implements ports.Visitor. It never returns an error.
func (l *Ledger) Visit(seg manifest.Segment, head manifest.Head) error {
	l.Head = head
	for _, e := range seg.Events {
		l.Confirmed.visit(e)
		l.Imports.visit(e)
		if r, ok := e.Data.(audit.Recorded); ok {
			l.add(r.Source.Root(), r.Source.EventID, r.Source.EventIndex)
		}
	}
	return nil
}

// add records that a fact of the log at root has its line.
func (l *Ledger) add(root string, fact id.Event, index int64) {
	if l.Lines[root] == nil {
		l.Lines[root] = map[id.Event]int64{}
	}
	l.Lines[root][fact] = index
}

// Missing returns the facts of a log that have no line, in their order. Each is returned once: a
// log that was modified by hand may hold two events with one id.
func (l *Ledger) Missing(facts []Fact) (missing []Fact) {
	seen := map[id.Event]bool{}
	for _, f := range facts {
		from := f.Source
		if _, has := l.Lines[from.Root()][from.EventID]; !has && !seen[from.EventID] {
			seen[from.EventID] = true
			missing = append(missing, f)
		}
	}
	return missing
}

// Prune removes the lines of facts that Seen covers. The next write needs only Seen for them, and a
// log with ten thousand facts would make the saved ledger large.
func (l *Ledger) Prune() {
	for root, facts := range l.Lines {
		for fact, index := range facts {
			if index < l.Seen[root].Next {
				delete(facts, fact)
				l.Partial = true
			}
		}
		if len(facts) == 0 {
			delete(l.Lines, root)
		}
	}
}

// ledgerRow is the saved state of one log.
type ledgerRow struct {
	Root  string        `json:"root"`
	Lines []ledgerLine  `json:"lines,omitzero"` // by event index, then by id
	Seen  manifest.Head `json:"seen,omitzero"`
	// Imported is behind the last event that came with a bundle, ImportedFrom the first one.
	Imported     int64 `json:"imported,omitzero"`
	ImportedFrom int64 `json:"importedFrom,omitzero"`
}

// ledgerLine is one fact that has its line.
type ledgerLine struct {
	EventID    id.Event `json:"eventId"`
	EventIndex int64    `json:"eventIndex"`
}

// savedLedger is the document that Save writes; its member names are part of the form.
type savedLedger struct {
	Confirmed Confirmed     `json:"confirmed,omitzero"`
	Head      manifest.Head `json:"head"`
	Importing []importRow   `json:"importing,omitzero"` // by event id
	Logs      []ledgerRow   `json:"logs"`
	Partial   bool          `json:"partial,omitzero"`
}

// Save returns the ledger as canonical JSON, with logs and lines sorted: equal ledgers have equal
// bytes.
func (l *Ledger) Save() ([]byte, error) {
	doc := savedLedger{Confirmed: l.Confirmed, Head: l.Head, Importing: l.Imports.rows(), Logs: []ledgerRow{},
		Partial: l.Partial}
	roots := slices.AppendSeq(slices.Collect(maps.Keys(l.Seen)), maps.Keys(l.Lines))
	roots = slices.AppendSeq(roots, maps.Keys(l.Imports.spans))
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		r := ledgerRow{Root: root, Seen: l.Seen[root], Imported: l.Imports.Span(root).Events,
			ImportedFrom: l.Imports.Span(root).From}
		for fact, index := range l.Lines[root] {
			r.Lines = append(r.Lines, ledgerLine{fact, index})
		}
		sorting.By(r.Lines, func(a, b ledgerLine) int {
			return cmp.Or(cmp.Compare(a.EventIndex, b.EventIndex), a.EventID.Compare(b.EventID))
		})
		doc.Logs = append(doc.Logs, r)
	}
	return canon.Marshal(doc)
}

// LoadLedger reads what Save wrote; data of another form is an error. The caller has to make
// sure that Head is on the chain of the audit log.
func LoadLedger(data []byte) (*Ledger, error) {
	var doc savedLedger
	if err := canon.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	l := NewLedger()
	l.Head, l.Partial, l.Confirmed = doc.Head, doc.Partial, doc.Confirmed
	for _, r := range doc.Importing {
		l.Imports.open[r.EventID] = r.SessionID
	}
	for _, r := range doc.Logs {
		if !r.Seen.IsZero() {
			l.Seen[r.Root] = r.Seen
		}
		l.Imports.set(r.Root, imported.Span{From: r.ImportedFrom, Events: r.Imported})
		for _, line := range r.Lines {
			l.add(r.Root, line.EventID, line.EventIndex)
		}
	}
	return l, nil
}
