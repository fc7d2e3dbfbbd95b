package page

import (
	"strconv"
	"strings"
	"time"
)

// Since parses a date, an RFC 3339 time, or a duration before now such as
// 36h, 7d and 2w. A date is midnight in the local time zone. ok is false for
// anything else, and for a negative or too large duration. Days and weeks are
// counted by the calendar, so that 1d is the same time of day also when the
// clocks changed.
func Since(s string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, true
		}
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		if text, ok := strings.CutSuffix(s, unit); ok {
			// 16 bits of days are 179 years, more than any store is old; the
			// product below cannot overflow.
			n, err := strconv.ParseUint(text, 10, 16)
			return now.AddDate(0, 0, -days*int(n)), err == nil
		}
	}
	d, err := time.ParseDuration(s)
	return now.Add(-d), err == nil && d >= 0
}
