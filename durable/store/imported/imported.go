// Package imported defines the import mark: a control file of a session of which events came with a
// bundle, with the interval of these events in each of its logs. Decisions among them are shown and
// have no effect in this store, since a bundle can be written by any program
// (docs/decisions/0030-imported-approvals-do-not-count.md).
//
// It reads and writes no files; the caller passes the data of the control file.
package imported

import (
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Version is the version of the control file's data.
const Version = 1

// Span is the interval of a log's events that came with bundles: from the index From, up to and
// without the index Events. It is widened by each later bundle and never narrowed, so that events
// of this store between two imports are in it as well. The zero Span is empty.
type Span struct{ From, Events int64 }

// Has reports an event in the interval.
func (s Span) Has(index int64) bool { return s.From <= index && index < s.Events }

// IsEmpty reports an interval without events.
func (s Span) IsEmpty() bool { return s.Events <= s.From }

// Widened returns the interval with the events of another one, and all between them.
func (s Span) Widened(by Span) Span {
	if s.IsEmpty() {
		return by
	}
	if by.IsEmpty() {
		return s
	}
	return Span{min(s.From, by.From), max(s.Events, by.Events)}
}

// cutTo returns the interval in a log of next events.
func (s Span) cutTo(next int64) Span { return Span{min(s.From, next), min(s.Events, next)} }

// Mark identifies the bundle that was imported last, and states which events came with bundles.
type Mark struct {
	AtMs     int64  `json:"atMs"` // of the import, in Unix milliseconds
	BundleID string `json:"bundleId"`
	// From is the index of the first event that came with a bundle, Events the one behind the last.
	From   int64 `json:"from,omitzero"`
	Events int64 `json:"events"`
	// Head is that of the bundle's log.
	Head canon.Digest `json:"head"`
	// Logs and LogsFrom are like Events and From, for side logs by their names.
	Logs     map[string]int64 `json:"logs,omitzero"`
	LogsFrom map[string]int64 `json:"logsFrom,omitzero"`
	// Pending has the logs that an import began to extend, by their names, while it is in progress, each with the
	// number of its events before. As long as the log has that many, segments behind them are not committed.
	Pending map[string]int64 `json:"pending,omitzero"`
	Salvage bool             `json:"salvage,omitzero"` // the bundle was a salvage of a damaged log
}

// Own is the name of the session's own log in a mark.
const Own = "events"

// Span returns the interval of the log with a name, that of its table.
func (m Mark) Span(log string) Span {
	if log == Own {
		return Span{m.From, m.Events}
	}
	return Span{m.LogsFrom[log], m.Logs[log]}
}

// WithSpan returns the mark with another interval of a log.
func (m Mark) WithSpan(log string, s Span) Mark {
	if log == Own {
		m.From, m.Events = s.From, s.Events
		return m
	}
	m.Logs, m.LogsFrom = with(m.Logs, log, s.Events), with(m.LogsFrom, log, s.From)
	return m
}

// with returns a copy of numbers by name with one of them changed; 0 is left out.
func with(all map[string]int64, name string, n int64) map[string]int64 {
	out := map[string]int64{}
	maps.Copy(out, all)
	out[name] = n
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// IsBeyond reports a mark that states more about a log than the log has: an import that did not finish left it.
func (m Mark) IsBeyond(log string, next int64) bool {
	_, pending := m.Pending[log]
	return pending || m.Span(log).Events > next
}

// CutTo returns the mark without events of a log that the log does not have, and without the note that an import
// of this log is in progress. Events that are appended from then on were made in this store.
func (m Mark) CutTo(log string, next int64) Mark {
	pending := maps.Clone(m.Pending)
	delete(pending, log)
	m.Pending = pending
	return m.WithSpan(log, m.Span(log).cutTo(next))
}

// Value returns the mark as data of its control file.
func (m Mark) Value() canon.Value {
	v := canon.OfMembers(
		canon.Member{Name: "atMs", Value: canon.OfInt(m.AtMs)},
		canon.Member{Name: "bundleId", Value: canon.OfString(m.BundleID)},
		canon.Member{Name: "events", Value: canon.OfInt(m.Events)},
		canon.Member{Name: "head", Value: canon.OfString(m.Head.String())})
	if m.From != 0 {
		v = v.With("from", canon.OfInt(m.From))
	}
	for name, all := range map[string]map[string]int64{"logs": m.Logs, "logsFrom": m.LogsFrom, "pending": m.Pending} {
		if len(all) == 0 {
			continue
		}
		logs := canon.OfMembers()
		for log, n := range all {
			logs = logs.With(log, canon.OfInt(n))
		}
		v = v.With(name, logs)
	}
	if m.Salvage {
		v = v.With("salvage", canon.OfBool(true))
	}
	return v
}

// Read returns the mark of stored data. Unknown members are ignored; anything else that Value
// would not have written is STORE_CORRUPT.
func Read(data canon.Value) (m Mark, err error) {
	// Members that a newer version adds do not change the meaning of the known ones.
	if err := canon.DecodeKnown(data, &m); err != nil {
		return m, fault.Wrap(err, fault.StoreCorrupt, "the import mark is not valid: %v", err)
	}
	if m.Events <= 0 {
		return m, fault.New(fault.StoreCorrupt, "the import mark states that no events were imported")
	}
	for _, log := range append([]string{Own}, keys(m.LogsFrom)...) {
		if s := m.Span(log); s.From < 0 || s.From > s.Events {
			return m, fault.New(fault.StoreCorrupt, "the import mark states that events %d to %d of %s were imported", s.From,
				s.Events, log)
		}
	}
	return m, nil
}

// keys returns the names of numbers, in no order.
func keys(all map[string]int64) (out []string) {
	for name := range all {
		out = append(out, name)
	}
	return out
}
