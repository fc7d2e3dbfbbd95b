// Package cron implements ports.Schedules: it checks cron expressions and computes when they fire.
// It reads no clock and starts no run.
//
// The meaning of an expression is that of netresearch/go-cron, which is used only in UTC, where
// clocks never change. The changes of a time zone are computed here, by the same rule in both
// directions (docs/decisions/0037-go-cron-for-expressions-own-clock-rules.md). Start with
// Schedules; parse.go checks expressions, clock.go converts times.
package cron

import (
	"strings"
	"time"
	_ "time/tzdata" // for systems without a zone database: minimal containers, Windows

	gocron "github.com/netresearch/go-cron"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// yearsMax is how many calendar years after a moment are searched. Two leap days are at most eight
// years apart (2096 and 2104), and every other date occurs in each year: an expression without a
// match never fires.
const yearsMax = 8

// Schedules implements ports.Schedules. The zero value is ready to use and safe for concurrent use.
type Schedules struct{}

var _ ports.Schedules = Schedules{}

// Check implements ports.Schedules. Errors are VALIDATION_ERROR with the detail "field": cron or
// timezone.
func (Schedules) Check(cron, timezone string) error {
	_, err := parseSchedule(cron, timezone)
	return err
}

// LastBefore implements ports.Schedules: the last fire time at or before atMs, in Unix
// milliseconds.
func (Schedules) LastBefore(cron, timezone string, atMs int64) (ms int64, ok bool, err error) {
	return search(cron, timezone, atMs, schedule.last)
}

// NextAfter implements ports.Schedules: the first fire time after atMs, in Unix milliseconds.
func (Schedules) NextAfter(cron, timezone string, atMs int64) (ms int64, ok bool, err error) {
	return search(cron, timezone, atMs, schedule.next)
}

// search returns the fire time that find returns for a moment; false if there is none.
func search(cron, timezone string, atMs int64, find func(schedule, time.Time) time.Time) (int64, bool, error) {
	s, err := parseSchedule(cron, timezone)
	if err != nil {
		return 0, false, err
	}
	at := time.UnixMilli(atMs).In(s.zone)
	if !inCalendar(at) {
		return 0, false, nil
	}
	found := find(s, at)
	if found.IsZero() {
		return 0, false, nil
	}
	return found.UnixMilli(), true, nil
}

// inCalendar reports a plausible moment: a number of another unit, or one that was never set, is
// not searched.
func inCalendar(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 9999 }

// schedule is a parsed expression and its time zone.
type schedule struct {
	spec   *gocron.SpecSchedule // wall clock times that match; evaluated in UTC only
	zone   *time.Location
	hourly bool // matches every hour of its days
}

// everyHour are the bits of the 24 hours.
const everyHour = 1<<24 - 1

// parseSchedule parses an expression and its time zone.
func parseSchedule(cron, timezone string) (schedule, error) {
	spec, err := parse(cron)
	if err != nil {
		return schedule{}, err
	}
	zone, err := loadZone(timezone)
	if err != nil {
		return schedule{}, err
	}
	return schedule{spec: spec, zone: zone, hourly: spec.Hour&everyHour == everyHour}, nil
}

// zoneBytesMax bounds the name of a zone; the longest in use has 32 bytes.
const zoneBytesMax = 64

// loadZone returns a zone of the IANA database; "" is UTC.
func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	// These name the zone of the machine: another machine would fire at other times.
	if strings.EqualFold(name, "local") || strings.EqualFold(name, "localtime") || len(name) > zoneBytesMax {
		zone, err = nil, nil
	}
	if zone == nil {
		return nil, fault.Wrap(err, fault.ValidationError,
			"the time zone %.64q is not known; expected a name of the IANA time zone database", name).
			Suggest("Write a name such as Europe/Berlin or America/New_York, or UTC.").With("field", "timezone")
	}
	return zone, nil
}
