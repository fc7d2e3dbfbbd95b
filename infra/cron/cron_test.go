package cron

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/ports/porttest/adapters"
)

func TestContract(t *testing.T) { adapters.Schedules(t, Schedules{}) }

// TestZoneDatabaseIsLinked: the machine of a test has a zone database; the user's may have none.
func TestZoneDatabaseIsLinked(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "cron.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"time/tzdata"` }) {
		t.Error("the zone database is not linked")
	}
}

// TestSearchesMatchSimulatedClock compares both searches with a simulation of the clock, minute by
// minute, around changes of time zones.
func TestSearchesMatchSimulatedClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, zone := drawExpression(t), rapid.SampledFrom(zoneNames).Draw(t, "zone")
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		change := drawMoment(t, loc)
		fires := e.fires(change.Add(-72*time.Hour), change.Add(72*time.Hour))
		for x := change.Add(-150 * time.Minute); x.Before(change.Add(150 * time.Minute)); x = x.Add(10 * time.Minute) {
			checkFireTimes(t, e.String(), x, fires)
		}
	})
}

// checkFireTimes expects the fire times around x; outside of them TestSearchesAgree applies.
func checkFireTimes(t *rapid.T, cron string, x time.Time, fires []int64) {
	zone := x.Location()
	show := func(ms int64) time.Time { return time.UnixMilli(ms).In(zone) }
	i, _ := slices.BinarySearch(fires, x.UnixMilli()+1)
	last, had, err := Schedules{}.LastBefore(cron, zone.String(), x.UnixMilli())
	if err != nil || i > 0 && (!had || last != fires[i-1]) {
		t.Fatalf("%s in %s, last before %s: %s, %v, %v; want %s", cron, zone, x, show(last), had, err, show(fires[i-1]))
	}
	next, follows, err := Schedules{}.NextAfter(cron, zone.String(), x.UnixMilli())
	if err != nil || i < len(fires) && (!follows || next != fires[i]) {
		t.Fatalf("%s in %s, next after %s: %s, %v, %v; want %s", cron, zone, x, show(next), follows, err,
			show(fires[i]))
	}
}

// TestSearchesAgree: both searches return consistent times at any distance.
func TestSearchesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cron, zone := drawExpression(t).String(), rapid.SampledFrom(zoneNames).Draw(t, "zone")
		x := rapid.Int64Range(0, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()).Draw(t, "x")
		s := Schedules{}
		last, ok, err := s.LastBefore(cron, zone, x)
		if err != nil || ok && last > x {
			t.Fatalf("%s: last before %d is %d, %v", cron, x, last, err)
		}
		if ok {
			if again, _, _ := s.NextAfter(cron, zone, last-1); again != last {
				t.Fatalf("%s in %s: what follows %d-1 is %d", cron, zone, last, again)
			}
		}
		next, follows, err := s.NextAfter(cron, zone, x)
		if err != nil || follows && next <= x {
			t.Fatalf("%s: next after %d is %d, %v", cron, x, next, err)
		}
		if follows {
			if again, _, _ := s.LastBefore(cron, zone, next); again != next {
				t.Fatalf("%s in %s: the last at %d is %d", cron, zone, next, again)
			}
			if before, had, _ := s.LastBefore(cron, zone, next-1); had != ok && x-last < 1e9 || ok && had &&
				before != last {
				t.Fatalf("%s in %s: between %d and %d fires %d", cron, zone, last, next, before)
			}
		}
	})
}

var zoneNames = []string{"", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe",
	"Africa/Casablanca", "Pacific/Apia", "Asia/Kathmandu", "America/Godthab"}

// drawMoment is a moment near a change of the zone, if it has one: up to some minutes and one
// millisecond after it.
func drawMoment(t *rapid.T, loc *time.Location) time.Time {
	at := time.UnixMilli(rapid.Int64Range(time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC).
		UnixMilli(), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()).Draw(t, "x")).In(loc)
	if _, end := at.ZoneBounds(); !end.IsZero() {
		at = end.Add(time.Duration(rapid.Int64Range(0, 9).Draw(t, "minutes"))*time.Minute +
			time.Duration(rapid.Int64Range(0, 1).Draw(t, "ms"))*time.Millisecond)
	}
	return at
}

// expression is the five fields as sets; nil is a star.
type expression [5][]int

func drawExpression(t *rapid.T) (e expression) {
	for i, f := range []struct{ from, to, stars int }{{0, 59, 1}, {0, 23, 2}, {1, 31, 8}, {1, 12, 8}, {0, 6, 8}} {
		if rapid.IntRange(0, 9).Draw(t, "star") >= f.stars {
			// Zones change at whole hours early in the day: such values are drawn more often.
			value := rapid.OneOf(rapid.IntRange(f.from, f.to), rapid.IntRange(f.from, f.from+3))
			e[i] = rapid.SliceOfNDistinct(value, 1, 3, rapid.ID).Draw(t, "values")
		}
	}
	return e
}

func (e expression) String() string {
	var out []string
	for _, set := range e {
		words := []string{}
		for _, n := range set {
			words = append(words, strconv.Itoa(n))
		}
		if set == nil {
			words = []string{"*"}
		}
		out = append(out, strings.Join(words, ","))
	}
	return strings.Join(out, " ")
}

func (e expression) matches(shown time.Time) bool {
	in := func(i, n int) bool { return e[i] == nil || slices.Contains(e[i], n) }
	day := in(2, shown.Day()) && in(4, int(shown.Weekday()))
	if e[2] != nil && e[4] != nil {
		day = in(2, shown.Day()) || in(4, int(shown.Weekday()))
	}
	return day && in(0, shown.Minute()) && in(1, shown.Hour()) && in(3, int(shown.Month()))
}

// fires simulates the clock from one moment to another in steps of a minute.
func (e expression) fires(from, to time.Time) (out []int64) {
	from = from.Truncate(time.Minute)
	show := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	}
	seen := show(from.Add(-time.Minute))
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		now := show(t)
		fires := e[1] == nil && e.matches(now)
		for ; e[1] != nil && seen.Before(now); seen = seen.Add(time.Minute) {
			fires = fires || e.matches(seen.Add(time.Minute))
		}
		if fires {
			out = append(out, t.UnixMilli())
		}
	}
	return out
}

// TestLastDayOfLeapYear: after the table of its changes, package time returns the end of that day's
// zone as a moment before the day.
func TestLastDayOfLeapYear(t *testing.T) {
	noon := time.Date(2040, 12, 31, 12, 0, 0, 0, time.UTC).UnixMilli()
	const hour = 3_600_000
	for cron, want := range map[string][2]int64{"@hourly": {noon, noon + hour},
		"0 11 * * *": {noon - 2*hour, noon + 22*hour}} {
		last, _, err := Schedules{}.LastBefore(cron, "Europe/Berlin", noon)
		next, _, errNext := Schedules{}.NextAfter(cron, "Europe/Berlin", noon)
		if got := [2]int64{last, next}; got != want || err != nil || errNext != nil {
			t.Errorf("%s: %v, want %v; %v, %v", cron, got, want, err, errNext)
		}
	}
}

// BenchmarkNeverFires: an expression that never fires is searched by days, not by minutes.
func BenchmarkNeverFires(b *testing.B) {
	for b.Loop() {
		_, _, _ = Schedules{}.LastBefore("* * 31 2,4,6,9,11 *", "Africa/Casablanca", 1_790_000_000_000)
	}
}

func BenchmarkLastBefore(b *testing.B) {
	for b.Loop() {
		_, _, _ = Schedules{}.LastBefore("30 9 * * mon-fri", "Europe/Berlin", 1_790_000_000_000)
	}
}
