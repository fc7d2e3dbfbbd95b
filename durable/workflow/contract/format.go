package contract

import (
	"strconv"

	"github.com/waybill/waybill/durable/pattern"
)

// The patterns of the formats. dateTime and date capture year, month and day for dated.
var (
	dateTime = pattern.New(`^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	date     = pattern.New(`^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([Zz]|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$`)
	uuid     = pattern.New(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// formatBytesMax bounds a text of a format, in bytes. Longer texts are rejected before a
// pattern is applied.
const formatBytesMax = 64

// formats maps each format to its description and its check.
var formats = map[Format]struct {
	want string
	fits func(string) bool
}{
	DateTime: {"a date and time such as 2026-01-31T09:30:00Z", dated(dateTime)},
	Date:     {"a date or a date and time of ISO 8601", dated(date)},
	UUID:     {"a UUID", uuid.MatchString},
}

// fits reports whether text has the format. The empty format accepts every text, an unknown
// one accepts none.
func (f Format) fits(text string) bool {
	format, known := formats[f]
	return f == "" || known && len(text) <= formatBytesMax && format.fits(text)
}

// dated returns a check of a pattern and that the day exists in its month. Without that check, a
// reader of the artifact would fail on a date such as 30 February.
func dated(form *pattern.Pattern) func(string) bool {
	return func(text string) bool {
		parts := form.FindStringSubmatch(text)
		if parts == nil {
			return false
		}
		year, _ := strconv.Atoi(parts[1])
		month, _ := strconv.Atoi(parts[2])
		day, _ := strconv.Atoi(parts[3])
		days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
		if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			days++
		}
		return day <= days
	}
}
