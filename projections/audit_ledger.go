package projections

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/audit"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
)

// AuditLedger is what a writer of the audit log keeps between two writings, so that
// neither that log nor the sessions' are read from their beginnings: a fold of the audit
// log, and how far each session's log was looked through. It is derived: a reader who
// lists or checks never asks it.
type AuditLedger struct {
	// Head is the prefix of the audit log that Lines is the fold of.
	Head manifest.Head
	// Lines are the facts of each session that have a line. All of them, and not how far
	// the lines reach: a session that was put back from a backup has other facts at the
	// same places, and some of the same at others.
	Lines map[id.Session]map[id.Event]bool
	// Seen is the prefix of each session's log whose facts all have their lines.
	Seen map[id.Session]manifest.Head
}

// AuditLedgerFormat is that of Save; a change of it is another file (R11).
const AuditLedgerFormat = 1

// NewAuditLedger is the ledger of an empty log.
func NewAuditLedger() *AuditLedger {
	l := &AuditLedger{}
	l.Reset()
	return l
}

// Reset implements ports.Visitor. What was seen of the sessions goes as well: with
// another history of the audit log their lines may be gone.
func (l *AuditLedger) Reset() {
	*l = AuditLedger{Lines: map[id.Session]map[id.Event]bool{}, Seen: map[id.Session]manifest.Head{}}
}

// Visit implements ports.Visitor.
func (l *AuditLedger) Visit(seg manifest.Segment, head manifest.Head) error {
	l.Head = head
	for _, e := range seg.Events {
		if r, ok := e.Data.(audit.Recorded); ok {
			l.add(r.Source.SessionID, r.Source.EventID)
		}
	}
	return nil
}

func (l *AuditLedger) add(s id.Session, fact id.Event) {
	if l.Lines[s] == nil {
		l.Lines[s] = map[id.Event]bool{}
	}
	l.Lines[s][fact] = true
}

// Missing is which of a session's facts have no line, each once: a log that somebody
// meddled with may hold two events of one id.
func (l *AuditLedger) Missing(facts []AuditFact) (missing []AuditFact) {
	seen := map[id.Event]bool{}
	for _, f := range facts {
		if from := f.Source; !l.Lines[from.SessionID][from.EventID] && !seen[from.EventID] {
			seen[from.EventID] = true
			missing = append(missing, f)
		}
	}
	return missing
}

// ledgerRow is what is kept of a session.
type ledgerRow struct {
	SessionID id.Session    `json:"sessionId"`
	Lines     []id.Event    `json:"lines,omitzero"` // sorted
	Seen      manifest.Head `json:"seen,omitzero"`
}

type savedLedger struct {
	Head     manifest.Head `json:"head"`
	Sessions []ledgerRow   `json:"sessions"`
}

// Save is the ledger as JCS.
func (l *AuditLedger) Save() ([]byte, error) {
	rows := map[id.Session]ledgerRow{}
	for s, h := range l.Seen {
		rows[s] = ledgerRow{SessionID: s, Seen: h}
	}
	for s, facts := range l.Lines {
		r := rows[s]
		r.SessionID, r.Lines = s, slices.SortedFunc(maps.Keys(facts), func(a, b id.Event) int { return cmp.Compare(a.String(), b.String()) })
		rows[s] = r
	}
	doc := savedLedger{Head: l.Head, Sessions: make([]ledgerRow, 0, len(rows))}
	for _, r := range rows {
		doc.Sessions = append(doc.Sessions, r)
	}
	slices.SortFunc(doc.Sessions, func(a, b ledgerRow) int { return cmp.Compare(a.SessionID.String(), b.SessionID.String()) })
	return canon.Marshal(doc)
}

// LoadAuditLedger undoes Save.
func LoadAuditLedger(data []byte) (*AuditLedger, error) {
	var doc savedLedger
	if err := canon.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	l := NewAuditLedger()
	l.Head = doc.Head
	for _, r := range doc.Sessions {
		if !r.Seen.IsZero() {
			l.Seen[r.SessionID] = r.Seen
		}
		for _, fact := range r.Lines {
			l.add(r.SessionID, fact)
		}
	}
	return l, nil
}
