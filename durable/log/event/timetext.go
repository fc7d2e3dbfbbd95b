package event

import "fmt"

// Bounds of timestamps in milliseconds.
const (
	dayMs = 24 * 60 * 60 * 1000
	// RFC 3339 has years of four digits: from 0000-01-01 to the end of 9999.
	firstTimeMs = -62_167_219_200_000
	lastTimeMs  = 253_402_300_799_999
)

// TimeText formats a timestampMs as RFC 3339 in UTC, with milliseconds and Z. A time outside of
// the years 0000 to 9999 is clamped to the first or last valid moment: timestamps are
// informational, and an invalid text would make the whole document invalid.
func TimeText(ms int64) string {
	ms = min(max(ms, firstTimeMs), lastTimeMs)
	days, rest := ms/dayMs, ms%dayMs
	if rest < 0 {
		days, rest = days-1, rest+dayMs
	}
	year, month, day := civil(days)
	seconds := rest / 1000
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day, seconds/3600, seconds/60%60, seconds%60,
		rest%1000)
}

// civil returns the Gregorian date that is days after 1970-01-01. It counts years from March, so
// that a leap day is the last day of its year.
func civil(days int64) (year, month, day int64) {
	const (
		daysOf400Years = 146_097
		toMarchOfYear0 = 719_468 // from 0000-03-01 to 1970-01-01
	)
	days += toMarchOfYear0
	era := days / daysOf400Years
	if days < 0 {
		era = (days - daysOf400Years + 1) / daysOf400Years
	}
	ofEra := days - era*daysOf400Years                                     // 0 to 146096
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36_524 - ofEra/146_096) / 365 // 0 to 399
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)        // 0 to 365
	// months of 31, 30, 31, 30, 31 days, again and again
	fromMarch := (5*ofYear + 2) / 153
	year, month, day = yearOfEra+400*era, fromMarch+3, ofYear-(153*fromMarch+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
