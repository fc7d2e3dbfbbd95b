package report

import "github.com/waybill/waybill/projections/runs"

// moments are the entries of a timeline that a report shows.
type moments struct {
	first   []runs.TimelineEntry
	last    []runs.TimelineEntry // a ring behind first, from at on
	at      int
	brief   bool // entries about internal work are left out
	leftOut int
}

// add adds an entry.
func (m *moments) add(e runs.TimelineEntry) error {
	if m.brief && e.Working {
		m.leftOut++
		return nil
	}
	if len(m.first) < momentsMax && len(m.last) == 0 {
		m.first = append(m.first, e)
		return nil
	}
	if !m.brief {
		m.brief = true
		kept := m.first[:0]
		for _, x := range m.first {
			if !x.Working {
				kept = append(kept, x)
			}
		}
		m.leftOut += len(m.first) - len(kept)
		m.first = kept
		return m.add(e)
	}
	if len(m.last) == 0 { // the first ones are a third, and the ring has the others
		third := momentsMax / 3
		m.last = append([]runs.TimelineEntry{}, m.first[third:]...)
		m.first = m.first[:third]
	}
	m.last[m.at] = e
	m.at = (m.at + 1) % len(m.last)
	m.leftOut++
	return nil
}

// all returns the entries in their order.
func (m *moments) all() []runs.TimelineEntry {
	out := append([]runs.TimelineEntry{}, m.first...)
	return append(append(out, m.last[m.at:]...), m.last[:m.at]...)
}
