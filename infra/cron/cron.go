// Package cron implements ports.Schedules: it judges cron expressions and says when they
// fire. It reads no clock and starts nothing.
//
// What an expression means is netresearch/go-cron's to say, but only on a clock that never
// jumps: it is asked in UTC. What the clocks of a zone do is worked out here, in both
// directions by the same rule (docs/decisions/0037-go-cron-for-expressions-own-clock-rules.md).
package cron

import (
	"strings"
	"time"
	_ "time/tzdata" // the zones must be known where the system has no database: a bare container, Windows

	gocron "github.com/netresearch/go-cron"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// yearsMax is how many calendar years are searched beyond that of a moment. Two leap days are
// at most eight years apart (2096 and 2104), and every other day of a year comes in each: what
// is not found never fires.
const yearsMax = 8

// Schedules is ports.Schedules. Its zero value is ready for use, by many at once.
type Schedules struct{}

var _ ports.Schedules = Schedules{}

// Check implements ports.Schedules.
func (Schedules) Check(cron, timezone string) error {
	_, err := read(cron, timezone)
	return err
}

// LastBefore implements ports.Schedules.
func (Schedules) LastBefore(cron, timezone string, atMs int64) (ms int64, ok bool, err error) {
	s, err := read(cron, timezone)
	if err != nil {
		return 0, false, err
	}
	at := time.UnixMilli(atMs).In(s.zone)
	if !inCalendar(at) {
		return 0, false, nil
	}
	ms, ok = milli(s.last(at))
	return ms, ok, nil
}

// NextAfter implements ports.Schedules.
func (Schedules) NextAfter(cron, timezone string, atMs int64) (ms int64, ok bool, err error) {
	s, err := read(cron, timezone)
	if err != nil {
		return 0, false, err
	}
	at := time.UnixMilli(atMs).In(s.zone)
	if !inCalendar(at) {
		return 0, false, nil
	}
	ms, ok = milli(s.next(at))
	return ms, ok, nil
}

// inCalendar reports whether a moment is one that somebody could mean: a number of another
// unit, or one that was never set, must not be searched around.
func inCalendar(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 9999 }

// milli tells whether a search found a time.
func milli(t time.Time) (int64, bool) {
	if t.IsZero() {
		return 0, false
	}
	return t.UnixMilli(), true
}

// schedule is an expression that was read, and the zone whose clock it goes by.
type schedule struct {
	face   *gocron.SpecSchedule // what a clock shows when it fires; has no zone, so it goes by that of what it is asked
	zone   *time.Location
	hourly bool // fires in every hour of its days
}

// everyHour are the bits of the 24 hours.
const everyHour = 1<<24 - 1

func read(cron, timezone string) (schedule, error) {
	face, err := parse(cron)
	if err != nil {
		return schedule{}, err
	}
	zone, err := load(timezone)
	if err != nil {
		return schedule{}, err
	}
	return schedule{face: face, zone: zone, hourly: face.Hour&everyHour == everyHour}, nil
}

// zoneBytesMax bounds the name of a zone; the longest in use has 32.
const zoneBytesMax = 64

func load(name string) (*time.Location, error) {
	wrong := func() *fault.Fault {
		return fault.New(fault.ValidationError,
			"the time zone %.64q is not known; expected a name of the IANA time zone database", name).
			Suggest("Write a name such as Europe/Berlin or America/New_York, or UTC.").With("field", "timezone")
	}
	// These are the machine's own zone, whichever that is: another machine would fire at
	// other times.
	if strings.EqualFold(name, "local") || strings.EqualFold(name, "localtime") || len(name) > zoneBytesMax {
		return nil, wrong()
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		f := wrong()
		f.Err = err
		return nil, f
	}
	return zone, nil
}
