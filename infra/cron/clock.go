package cron

import "time"

// The library is exact on a clock that never jumps. So a moment becomes what the zone's
// clock shows then, written as if it were UTC, the library searches among such times, and
// what it finds becomes a moment again. Between two changes of a zone that is an addition.

// last is the newest fire time at or before at, zero where the search found none.
func (s schedule) last(at time.Time) time.Time {
	if !s.hourly {
		return s.moment(s.faceLast(reached(at)))
	}
	for t := at; ; {
		shown := s.faceLast(face(t))
		if shown.IsZero() {
			return shown
		}
		begin, _ := t.ZoneBounds()
		found := t.Add(shown.Sub(face(t)))
		if begin.IsZero() || !found.Before(begin) {
			return found
		}
		// Some thirty changes lie in the years of a search, and each costs one.
		t = begin.Add(-time.Millisecond)
	}
}

// next is the first fire time behind at, zero where the search found none.
func (s schedule) next(at time.Time) time.Time {
	if !s.hourly {
		return s.moment(s.face.Next(reached(at)))
	}
	for t := at.Add(time.Millisecond); ; {
		shown := s.faceFirst(face(t))
		if shown.IsZero() {
			return shown
		}
		_, end := t.ZoneBounds()
		found := t.Add(shown.Sub(face(t)))
		if end.IsZero() || found.Before(end) {
			return found
		}
		t = end
	}
}

// faceLast is the newest time at or before shown that the expression names. The library
// looks before a whole second.
func (s schedule) faceLast(shown time.Time) time.Time {
	return s.face.Prev(shown.Truncate(time.Second).Add(time.Second))
}

// faceFirst is the first time at or after shown that the expression names.
func (s schedule) faceFirst(shown time.Time) time.Time {
	return s.face.Next(shown.Add(-time.Nanosecond))
}

// face is what the clock of t's zone shows at t, as if that were UTC.
func face(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// jumpMax is more than any clock was ever put forward or back: some places changed the
// side of the date line.
const jumpMax = 48 * time.Hour

// reached is the latest time that the clock has shown up to and at t: later than what it
// shows for a while after it was put back.
func reached(t time.Time) time.Time {
	latest := face(t)
	for begin, _ := t.ZoneBounds(); !begin.IsZero() && t.Sub(begin) < jumpMax; {
		before := begin.Add(-time.Nanosecond)
		if shown := face(before); shown.After(latest) {
			latest = shown
		}
		begin, _ = before.ZoneBounds()
	}
	return latest
}

// moment is when the clock shows a time for the first time, or passes it while it is put
// forward. Both searches go through it, and it never decreases where shown grows: that is
// why they agree.
func (s schedule) moment(shown time.Time) time.Time {
	if shown.IsZero() {
		return shown
	}
	t := shown.Add(-jumpMax).In(s.zone) // the clock shows less by then, in every zone
	for {
		begin, end := t.ZoneBounds()
		_, offset := t.Zone()
		at := shown.Add(-time.Duration(offset) * time.Second).In(s.zone)
		switch {
		case !begin.IsZero() && at.Before(begin):
			return begin
		case end.IsZero() || at.Before(end):
			return at
		}
		t = end
	}
}
