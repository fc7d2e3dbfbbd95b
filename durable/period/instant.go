package period

import (
	"errors"

	"github.com/waybill/waybill/durable/pattern"
)

// instantForm is a date and a time of day with a zone as in RFC 3339, in capital letters.
var instantForm = pattern.New(
	`^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$`)

// InstantLike describes an instant, for messages.
const InstantLike = `an instant with its zone such as "2026-12-01T09:00:00Z" or "2026-12-01T10:00:00+01:00"`

// errInstant reports a text that is no instant.
var errInstant = errors.New("want a date and a time of day with a zone, such as 2026-12-01T09:00:00Z")

// ParseInstant returns the milliseconds since 1970 UTC of an RFC 3339 text. Parts of a millisecond
// count as a whole one, so that nothing that waits for the instant is early. Leap seconds are
// refused, since they have no milliseconds of their own.
func ParseInstant(text string) (ms int64, err error) {
	found := instantForm.FindStringSubmatch(text)
	if found == nil {
		return 0, errInstant
	}
	year, month, day := number(found[1]), number(found[2]), number(found[3])
	hour, minute, second := number(found[4]), number(found[5]), number(found[6])
	zoneHour, zoneMinute := number(found[9]), number(found[10])
	if month < 1 || month > 12 || day < 1 || day > monthDays(year, month) || hour > 23 || minute > 59 || second > 59 ||
		zoneHour > 23 || zoneMinute > 59 {
		return 0, errInstant
	}
	offset := zoneHour*60 + zoneMinute
	if found[8] == "-" {
		offset = -offset
	}
	seconds := daysSince1970(year, month, day)*24*3600 + hour*3600 + minute*60 + second - offset*60
	return seconds*1000 + milliseconds(found[7]), nil
}

// number is the value of a text of digits, 0 for "".
func number(digits string) (n int64) {
	for _, c := range []byte(digits) {
		n = 10*n + int64(c-'0')
	}
	return n
}

// milliseconds rounds the digits of a fraction of a second up.
func milliseconds(fraction string) int64 {
	nanos := number((fraction + "000000000")[:9])
	return (nanos + 999_999) / 1_000_000
}

// monthDays is the number of days of a month of the Gregorian calendar.
func monthDays(year, month int64) int64 {
	switch {
	case month == 2 && (year%4 == 0 && year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// daysSince1970 is the number of days from 1970-01-01 to a date of the years 0 to 9999. It counts
// years from March, so that a leap day is the last day of its year.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	const yearZero = 400 // a multiple of the calendar's 400 years, so that no year is negative
	y := year + yearZero
	days := 365*y + y/4 - y/100 + y/400 + (153*(month-3)+2)/5 + day - 1
	return days - 719_468 - 146_097
}
