// Package adapters has the conformance suites of ports that are implemented beside a store: commands, notifications, the
// person, projects, schedules and traces, what is derived from a store, its changes, its work and its place. Each
// implementation runs its suite in its own tests. The suite of stores is package suite, whose tests break each method of
// these ports as well.
//
// Each exported function is the suite of one port. Those that take long are lists of cases: ChangesCases and WorkCases.
package adapters

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// Schedules is the conformance suite of ports.Schedules: fire times in several zones and on days of
// clock changes, expressions that never fire, rejected expressions, and time zones. An
// implementation needs the IANA database of time zones.
func Schedules(t testing.TB, s ports.Schedules) {
	fireTimes(t, s)
	neverFires(t, s)
	rejectedSchedules(t, s)
	zones(t, s)
}

// fireRows is a table of fire times. Each row has a time zone, an expression, a time t, the last
// fire time at or before t, and the first one after t. Times are UTC in RFC 3339.
const fireRows = `
# plain
UTC | * * * * *           | 2026-05-04T10:00:00.000Z | 2026-05-04T10:00:00Z | 2026-05-04T10:01:00Z
UTC | * * * * *           | 2026-05-04T10:00:59.999Z | 2026-05-04T10:00:00Z | 2026-05-04T10:01:00Z
UTC | 30 9 * * *          | 2026-05-04T09:30:00.000Z | 2026-05-04T09:30:00Z | 2026-05-05T09:30:00Z
UTC | 30 9 * * *          | 2026-05-04T09:29:59.999Z | 2026-05-03T09:30:00Z | 2026-05-04T09:30:00Z
UTC | */7 * * * *         | 2026-05-04T10:57:00.000Z | 2026-05-04T10:56:00Z | 2026-05-04T11:00:00Z
UTC | 10/25 8-18/5 * * *  | 2026-05-04T09:00:00.000Z | 2026-05-04T08:35:00Z | 2026-05-04T13:10:00Z
UTC | 5,1,5 0 * * *       | 2026-05-04T00:03:00.000Z | 2026-05-04T00:01:00Z | 2026-05-04T00:05:00Z
UTC | 00 007 * * *        | 2026-05-04T12:00:00.000Z | 2026-05-04T07:00:00Z | 2026-05-05T07:00:00Z
# names of days and months, days of the week
UTC | 30 9 * * mon-FRI    | 2026-05-02T12:00:00.000Z | 2026-05-01T09:30:00Z | 2026-05-04T09:30:00Z
UTC | 0 0 1 Jan,jul *     | 2026-05-02T12:00:00.000Z | 2026-01-01T00:00:00Z | 2026-07-01T00:00:00Z
UTC | 0 12 * * 0          | 2026-05-04T00:00:00.000Z | 2026-05-03T12:00:00Z | 2026-05-10T12:00:00Z
UTC | 0 12 * * 7          | 2026-05-04T00:00:00.000Z | 2026-05-03T12:00:00Z | 2026-05-10T12:00:00Z
UTC | 0 12 * * 5-7        | 2026-05-09T12:00:00.000Z | 2026-05-09T12:00:00Z | 2026-05-10T12:00:00Z
UTC | 0 0 13 * fri        | 2026-05-14T00:00:00.000Z | 2026-05-13T00:00:00Z | 2026-05-15T00:00:00Z
UTC | 0 0 13 * *          | 2026-05-14T00:00:00.000Z | 2026-05-13T00:00:00Z | 2026-06-13T00:00:00Z
UTC | 0 0 31 * *          | 2026-05-01T00:00:00.000Z | 2026-03-31T00:00:00Z | 2026-05-31T00:00:00Z
# named schedules
UTC | @hourly             | 2026-05-04T10:10:00.000Z | 2026-05-04T10:00:00Z | 2026-05-04T11:00:00Z
UTC | @daily              | 2026-05-04T10:10:00.000Z | 2026-05-04T00:00:00Z | 2026-05-05T00:00:00Z
UTC | @midnight           | 2026-05-04T10:10:00.000Z | 2026-05-04T00:00:00Z | 2026-05-05T00:00:00Z
UTC | @weekly             | 2026-05-04T10:10:00.000Z | 2026-05-03T00:00:00Z | 2026-05-10T00:00:00Z
UTC | @monthly            | 2026-05-04T10:10:00.000Z | 2026-05-01T00:00:00Z | 2026-06-01T00:00:00Z
UTC | @yearly             | 2026-05-04T10:10:00.000Z | 2026-01-01T00:00:00Z | 2027-01-01T00:00:00Z
UTC | @annually           | 2026-05-04T10:10:00.000Z | 2026-01-01T00:00:00Z | 2027-01-01T00:00:00Z
# leap days: eight years around 2100
UTC | 0 0 29 2 *          | 2026-05-04T00:00:00.000Z | 2024-02-29T00:00:00Z | 2028-02-29T00:00:00Z
UTC | 59 23 29 2 *        | 2100-05-04T00:00:00.000Z | 2096-02-29T23:59:00Z | 2104-02-29T23:59:00Z
UTC | 0 0 29 2 *          | 2096-02-29T00:00:00.000Z | 2096-02-29T00:00:00Z | 2104-02-29T00:00:00Z
# zones with a constant offset
Asia/Tokyo       | 0 9 * * *   | 2026-05-04T00:00:00.000Z | 2026-05-04T00:00:00Z | 2026-05-05T00:00:00Z
Asia/Kathmandu   | @hourly     | 2026-05-04T00:00:00.000Z | 2026-05-03T23:15:00Z | 2026-05-04T00:15:00Z
# Berlin, 2026-03-29: local times from 02:00 to 03:00 do not exist; the change is at 01:00 UTC
Europe/Berlin    | 30 2 * * *  | 2026-03-28T12:00:00.000Z | 2026-03-28T01:30:00Z | 2026-03-29T01:00:00Z
Europe/Berlin    | 30 2 * * *  | 2026-03-29T01:00:00.000Z | 2026-03-29T01:00:00Z | 2026-03-30T00:30:00Z
Europe/Berlin    | */20 2 * * *| 2026-03-29T01:00:00.000Z | 2026-03-29T01:00:00Z | 2026-03-30T00:00:00Z
Europe/Berlin    | 0 2,3 * * * | 2026-03-29T00:59:59.999Z | 2026-03-28T02:00:00Z | 2026-03-29T01:00:00Z
Europe/Berlin    | 0 2,3 * * * | 2026-03-29T01:00:00.000Z | 2026-03-29T01:00:00Z | 2026-03-30T00:00:00Z
Europe/Berlin    | 30 * * * *  | 2026-03-29T01:00:00.000Z | 2026-03-29T00:30:00Z | 2026-03-29T01:30:00Z
Europe/Berlin    | 0 5 * * *   | 2026-03-29T12:00:00.000Z | 2026-03-29T03:00:00Z | 2026-03-30T03:00:00Z
# Berlin, 2026-10-25: local times from 02:00 to 03:00 exist twice; the second time starts at 01:00 UTC
Europe/Berlin    | 30 2 * * *  | 2026-10-25T00:30:00.000Z | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z
Europe/Berlin    | 30 2 * * *  | 2026-10-25T01:45:00.000Z | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z
Europe/Berlin    | 30 2 * * *  | 2026-10-25T01:15:00.000Z | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z
Europe/Berlin    | 30 * * * *  | 2026-10-25T00:30:00.000Z | 2026-10-25T00:30:00Z | 2026-10-25T01:30:00Z
Europe/Berlin    | 30 0-23 * * * | 2026-10-25T01:30:00.000Z | 2026-10-25T01:30:00Z | 2026-10-25T02:30:00Z
Europe/Berlin    | 0 3 * * *   | 2026-10-25T01:30:00.000Z | 2026-10-24T01:00:00Z | 2026-10-25T02:00:00Z
# clock changes that skip midnight, half an hour, and a whole day
America/Sao_Paulo   | @daily      | 2018-11-04T03:00:00.000Z | 2018-11-04T03:00:00Z | 2018-11-05T02:00:00Z
Australia/Lord_Howe | 15 2 * * *  | 2026-10-03T12:00:00.000Z | 2026-10-02T15:45:00Z | 2026-10-03T15:30:00Z
Australia/Lord_Howe | 45 1 * * *  | 2026-04-04T15:00:00.000Z | 2026-04-04T14:45:00Z | 2026-04-05T15:15:00Z
Pacific/Apia        | 0 9,18 * * *| 2011-12-30T09:00:00.000Z | 2011-12-30T04:00:00Z | 2011-12-30T10:00:00Z
Pacific/Apia        | 0 9,18 * * *| 2011-12-30T10:00:00.000Z | 2011-12-30T10:00:00Z | 2011-12-30T19:00:00Z
Pacific/Apia        | 0 * 30 12 * | 2011-12-30T12:00:00.000Z | 2010-12-31T09:00:00Z | 2012-12-29T10:00:00Z
`

// fireTimes: LastBefore and NextAfter return the times of fireRows. The rows cover lists, ranges
// and steps, the union of the two day fields, leap days, and the rules for clock changes: an
// expression that fires in every hour follows the clock, every other one fires once.
func fireTimes(t testing.TB, s ports.Schedules) {
	for row := range strings.Lines(fireRows) {
		if row = strings.TrimSpace(row); row == "" || row[0] == '#' {
			continue
		}
		// Zone, expression, time, last, next.
		cell := strings.Split(row, "|")
		zone, cron, at := strings.TrimSpace(cell[0]), strings.TrimSpace(cell[1]), milli(t, cell[2])
		// Fire times are compared as milliseconds: a fire time within a minute is wrong too.
		last, ok, err := s.LastBefore(cron, zone, at)
		if want := milli(t, cell[3]); err != nil || !ok || last != want {
			t.Errorf("%s: LastBefore is %s, %v, %v", row, time.UnixMilli(last).UTC().Format(time.RFC3339), ok, err)
		}
		next, ok, err := s.NextAfter(cron, zone, at)
		if want := milli(t, cell[4]); err != nil || !ok || next != want {
			t.Errorf("%s: NextAfter is %s, %v, %v", row, time.UnixMilli(next).UTC().Format(time.RFC3339), ok, err)
		}
	}
}

// milli parses a time in RFC 3339 and returns it in milliseconds since 1970 UTC.
func milli(t testing.TB, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	must(t, err)
	return at.UnixMilli()
}

// neverFires: expressions without a fire time within eight years, and times outside the years 1900
// to 9999, are valid. Both methods return false without an error for them, in bounded time.
func neverFires(t testing.TB, s ports.Schedules) {
	now := milli(t, "2026-05-04T10:00:00Z")
	for _, row := range []struct {
		cron string
		at   int64
	}{
		{"0 0 31 2 *", now}, {"* * 30 feb *", now}, {"*/5 0-22 31 4,6,9,11 *", now},
		{"0 0 31 2 *", milli(t, "2100-02-28T23:59:59Z")},
		// times outside the supported years, and the limits of int64
		{"* * * * *", 1 << 62}, {"* * * * *", -1 << 62}, {"0 1 * * *", 1<<63 - 1}, {"0 1 * * *", -1 << 63},
	} {
		// Casablanca changes its clocks with the lunar calendar: its rules are a long table.
		for _, zone := range []string{"", "Europe/Berlin", "Africa/Casablanca"} {
			if err := s.Check(row.cron, zone); err != nil {
				t.Errorf("%s: %v; want it valid", row.cron, err)
			}
			if ms, ok, err := s.LastBefore(row.cron, zone, row.at); ok || err != nil || ms != 0 {
				t.Errorf("%s, LastBefore %d: %d, %v, %v; want none", row.cron, row.at, ms, ok, err)
			}
			if ms, ok, err := s.NextAfter(row.cron, zone, row.at); ok || err != nil || ms != 0 {
				t.Errorf("%s, NextAfter %d: %d, %v, %v; want none", row.cron, row.at, ms, ok, err)
			}
		}
	}
}

// rejectedSchedules: all three methods reject an invalid expression with VALIDATION_ERROR. The
// message names the number of fields, the field, the allowed names, or the length in bytes; the
// second column is a part of it. It is at most 1024 bytes long, also for a longer
// expression.
func rejectedSchedules(t testing.TB, s ports.Schedules) {
	for cron, part := range map[string]string{
		"": "0 fields", "* * * *": "4 fields", "* * * * * *": "6 fields", "0 30 2 * * *": "6 fields", "  ": "0 fields",
		"60 * * * *": "the minute of", "-1 * * * *": "the minute of", "*/0 * * * *": "the minute of",
		"*/60 * * * *": "the minute of",
		"5-1 * * * *":  "the minute of", "1,,2 * * * *": "the minute of", ", * * * *": "the minute of",
		"5/ * * * *":    "the minute of",
		"*/5/5 * * * *": "the minute of", "*-5 * * * *": "the minute of", "5-* * * * *": "the minute of",
		"1-2-3 * * * *": "the minute of",
		"+5 * * * *":    "the minute of", "? * * * *": "the minute of", "h * * * *": "the minute of",
		"H * * * *": "the minute of", "0,99 * * * *": "the minute of",
		"*,99 * * * *": "the minute of", "99999999999999999999 * * * *": "the minute of",
		"mon * * * *": "the minute of", "\u0665 * * * *": "the minute of",
		"0 24 * * *": "the hour of", "0 22-2 * * *": "the hour of", "0 9am * * *": "the hour of",
		"0 0 0 * *": "the day of the month of", "0 0 32 * *": "the day of the month of",
		"0 0 L * *": "the day of the month of", "0 0 15W * *": "the day of the month of",
		"0 0 * 0 *": "the month of", "0 0 * 13 *": "the month of", "0 0 * january *": "the month of",
		"0 0 * nov-feb *": "the month of",
		"0 0 * * 8":       "the day of the week of", "0 0 * * fri-mon": "the day of the week of",
		"0 0 * * fri-mon/2": "the day of the week of",
		"0 0 * * mon#1":     "the day of the week of", "0 0 * * friday": "the day of the week of",
		"0 0 * * 5L": "the day of the week of",
		"@every 1s":  "@hourly", "@reboot": "@hourly", "@": "@hourly", "@daily extra": "@hourly", "@DAILY": "@hourly",
		"TZ=UTC * * * * *": "6 fields", "CRON_TZ=UTC @daily": "2 fields", "TZ=UTC * * * *": "the minute of",
		"*\n* * * *": "4 fields", "* * * * *\n": "the day of the week of",
		strings.Repeat("1,", 200) + "1 * * * *": "409 bytes", strings.Repeat("*", 1<<20): "1048576 bytes",
		strings.Repeat("\x01", 248) + " * * * *": "the minute of", strings.Repeat(" *", 128): "128 fields",
		"@" + strings.Repeat("x", 300): "301 bytes",
	} {
		// The expression is checked before the time: at 0 a valid one could fire.
		_, _, last := s.LastBefore(cron, "", 0)
		_, _, next := s.NextAfter(cron, "", 0)
		for _, err := range []error{s.Check(cron, ""), last, next} {
			if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), part) ||
				len(err.Error()) > 1024 {
				t.Errorf("%.80q: %v; want VALIDATION_ERROR with %q", cron, err, part)
			}
		}
	}
}

// zones: a time zone is a name of the IANA database, or "" for UTC. Any other name is
// VALIDATION_ERROR in all three methods: names of this machine ("Local"), offsets, abbreviations,
// directories of the database, and paths out of it.
func zones(t testing.TB, s ports.Schedules) {
	// Aliases and offsets of the database (Etc/GMT+12) are names like any other.
	for _, zone := range []string{"", "UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia", "Etc/GMT+12",
		"Pacific/Kiritimati"} {
		if err := s.Check("@daily", zone); err != nil {
			t.Errorf("%q: %v", zone, err)
		}
	}
	// None of these may reach the file system as a path, or depend on the settings of this machine.
	for _, zone := range []string{"Local", "local", "localtime", "Europe", "Europe/Atlantis", "CEST", "+02:00",
		"../etc/passwd", "/etc/localtime",
		"Europe/Berlin\x00", "Europe\\Berlin", " ", strings.Repeat("x", 1<<20)} {
		_, _, last := s.LastBefore("@daily", zone, 0)
		_, _, next := s.NextAfter("@daily", zone, 0)
		for _, err := range []error{s.Check("@daily", zone), last, next} {
			if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), "time zone") ||
				len(err.Error()) > 1024 {
				t.Errorf("%.80q: %v; want VALIDATION_ERROR about the time zone", zone, err)
			}
		}
	}
}
