package cron

import "time"

// The library is exact for clocks that never change. A moment is converted to the wall clock time
// of its zone, written as UTC; the library searches among wall clock times; and its result is
// converted back to a moment. Between two changes of the zone that is an addition.

// last is the newest fire time at or before at, zero without one.
func (s schedule) last(at time.Time) time.Time {
	if !s.hourly {
		return s.firstMoment(s.lastWallClock(latestWallClock(at)))
	}
	return follow(at, s.lastWallClock, func(t, found time.Time) (time.Time, bool) {
		begin, _ := t.ZoneBounds()
		return begin.Add(-time.Millisecond), !begin.IsZero() && found.Before(begin)
	})
}

// next is the first fire time after at, zero without one.
func (s schedule) next(at time.Time) time.Time {
	if !s.hourly {
		return s.firstMoment(s.spec.Next(latestWallClock(at)))
	}
	return follow(at.Add(time.Millisecond), s.firstWallClock, func(t, found time.Time) (time.Time, bool) {
		_, end := t.ZoneBounds()
		return end, end.After(t) && !found.Before(end) // package time: see firstMoment
	})
}

// follow searches with find from t, as if the clock never changed. beyond reports that the result
// is on the other side of a change of the zone, and where the search continues. The years of a
// search contain about thirty changes, and each costs one search.
func follow(t time.Time, find func(shown time.Time) time.Time,
	beyond func(t, found time.Time) (time.Time, bool)) time.Time {
	for {
		shown := find(wallClock(t))
		if shown.IsZero() {
			return shown
		}
		found := t.Add(shown.Sub(wallClock(t)))
		change, crossed := beyond(t, found)
		if !crossed {
			return found
		}
		t = change
	}
}

// lastWallClock is the newest matching wall clock time at or before shown. The library searches
// before a whole second.
func (s schedule) lastWallClock(shown time.Time) time.Time {
	return s.spec.Prev(shown.Truncate(time.Second).Add(time.Second))
}

// firstWallClock is the first matching wall clock time at or after shown.
func (s schedule) firstWallClock(shown time.Time) time.Time {
	return s.spec.Next(shown.Add(-time.Nanosecond))
}

// wallClock is the wall clock time of t's zone at t, written as UTC.
func wallClock(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// zoneChangeMax is more than any clock was ever set forward or back: some places moved across the
// date line.
const zoneChangeMax = 48 * time.Hour

// latestWallClock is the latest wall clock time up to and at t. After a clock was set back it is
// later than the current one for a while.
func latestWallClock(t time.Time) time.Time {
	latest := wallClock(t)
	for begin, _ := t.ZoneBounds(); !begin.IsZero() && t.Sub(begin) < zoneChangeMax; {
		before := begin.Add(-time.Nanosecond)
		if shown := wallClock(before); shown.After(latest) {
			latest = shown
		}
		begin, _ = before.ZoneBounds()
	}
	return latest
}

// firstMoment is the moment at which the clock first shows a wall clock time, or skips it when it
// is set forward. It never decreases while shown increases; both searches use it and therefore
// agree.
func (s schedule) firstMoment(shown time.Time) time.Time {
	if shown.IsZero() {
		return shown
	}
	t := shown.Add(-zoneChangeMax).In(s.zone) // before that moment in every zone
	for {
		begin, end := t.ZoneBounds()
		_, offset := t.Zone()
		at := shown.Add(-time.Duration(offset) * time.Second).In(s.zone)
		switch {
		case !begin.IsZero() && at.Before(begin):
			return begin
		case !end.After(t) || at.Before(end):
			return at // end is zero, or on the last day of a leap year before t (package time)
		}
		t = end
	}
}
