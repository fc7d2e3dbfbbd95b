package page

import "time"

// Clock returns the time of an entry in a list that is ordered by time. On a terminal it is the
// time of day in the layout, below a heading for each day; elsewhere it has the date (RFC 3339).
// day is the heading that was written last.
func (p *Page) Clock(day *string, atMs int64, layout string) string {
	if p.Width == 0 {
		return ClockTime(atMs, time.RFC3339)
	}
	if d := ClockTime(atMs, "Monday, 2 January 2006"); d != *day && d != "" {
		p.Line("%s", p.Bold(d))
		*day = d
	}
	return ClockTime(atMs, layout)
}
