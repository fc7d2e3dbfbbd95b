package projections

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
)

// AuditLedger is what a writer of the audit log keeps between two writings, so that
// neither that log nor those with the facts are read from their beginnings: a fold of the
// audit log, and how far each of the others was looked through. It is derived: a reader who
// lists or checks never asks it.
type AuditLedger struct {
	// Head is the prefix of the audit log that Lines is the fold of.
	Head manifest.Head
	// Lines are the facts of each log, by its root, that have a line, with their places in
	// that log. Not how far the lines reach: a session that was put back from a backup has
	// other facts at the same places, and some of the same at others.
	Lines map[string]map[id.Event]int64
	// Seen is the prefix of each log, by its root, whose facts all have their lines.
	Seen map[string]manifest.Head
	// Partial says that lines of facts within what was seen are left out: whoever finds
	// that a log has another history has to fold the audit log anew.
	Partial bool
}

// AuditLedgerFormat is that of Save; a change of it is another file (R11).
const AuditLedgerFormat = 2

// NewAuditLedger is the ledger of an empty log.
func NewAuditLedger() *AuditLedger {
	l := &AuditLedger{}
	l.Reset()
	return l
}

// Reset implements ports.Visitor. What was seen of the sessions goes as well: with
// another history of the audit log their lines may be gone.
func (l *AuditLedger) Reset() {
	*l = AuditLedger{Lines: map[string]map[id.Event]int64{}, Seen: map[string]manifest.Head{}}
}

// Visit implements ports.Visitor.
func (l *AuditLedger) Visit(seg manifest.Segment, head manifest.Head) error {
	l.Head = head
	for _, e := range seg.Events {
		if r, ok := e.Data.(audit.Recorded); ok {
			l.add(r.Source.Root(), r.Source.EventID, r.Source.EventIndex)
		}
	}
	return nil
}

func (l *AuditLedger) add(root string, fact id.Event, index int64) {
	if l.Lines[root] == nil {
		l.Lines[root] = map[id.Event]int64{}
	}
	l.Lines[root][fact] = index
}

// Missing is which of a log's facts have no line, each once: a log that somebody
// meddled with may hold two events of one id.
func (l *AuditLedger) Missing(facts []AuditFact) (missing []AuditFact) {
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

// Prune leaves out the lines of facts within what was seen: of a log with ten thousand
// facts the next writing needs to know how far it was looked through, and no more.
func (l *AuditLedger) Prune() {
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

// ledgerRow is what is kept of a log.
type ledgerRow struct {
	Root  string        `json:"root"`
	Lines []ledgerLine  `json:"lines,omitzero"` // in their order
	Seen  manifest.Head `json:"seen,omitzero"`
}

type ledgerLine struct {
	EventID    id.Event `json:"eventId"`
	EventIndex int64    `json:"eventIndex"`
}

type savedLedger struct {
	Head    manifest.Head `json:"head"`
	Logs    []ledgerRow   `json:"logs"`
	Partial bool          `json:"partial,omitzero"`
}

// Save is the ledger as JCS.
func (l *AuditLedger) Save() ([]byte, error) {
	rows := map[string]ledgerRow{}
	for root, h := range l.Seen {
		rows[root] = ledgerRow{Root: root, Seen: h}
	}
	for root, facts := range l.Lines {
		r := ledgerRow{Root: root, Seen: l.Seen[root]}
		for fact, index := range facts {
			r.Lines = append(r.Lines, ledgerLine{fact, index})
		}
		slices.SortFunc(r.Lines, func(a, b ledgerLine) int {
			return cmp.Or(cmp.Compare(a.EventIndex, b.EventIndex), cmp.Compare(a.EventID.String(), b.EventID.String()))
		})
		rows[root] = r
	}
	doc := savedLedger{Head: l.Head, Logs: make([]ledgerRow, 0, len(rows)), Partial: l.Partial}
	for _, root := range slices.Sorted(maps.Keys(rows)) {
		doc.Logs = append(doc.Logs, rows[root])
	}
	return canon.Marshal(doc)
}

// LoadAuditLedger undoes Save.
func LoadAuditLedger(data []byte) (*AuditLedger, error) {
	var doc savedLedger
	if err := canon.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	l := NewAuditLedger()
	l.Head, l.Partial = doc.Head, doc.Partial
	for _, r := range doc.Logs {
		if !r.Seen.IsZero() {
			l.Seen[r.Root] = r.Seen
		}
		for _, line := range r.Lines {
			l.add(r.Root, line.EventID, line.EventIndex)
		}
	}
	return l, nil
}
