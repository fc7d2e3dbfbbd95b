package contract

import (
	"strconv"

	"github.com/waybill/waybill/durable/pattern"
)

var (
	dateTime = pattern.New(`^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	uuid     = pattern.New(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// formatBytesMax is more than any format needs: nothing longer meets a pattern.
const formatBytesMax = 64

// fits reports whether text is spelled so. No format fits everything, an unknown
// one nothing.
func (f Format) fits(text string) bool {
	switch f {
	case "":
		return true
	case DateTime:
		return len(text) <= formatBytesMax && isDateTime(text)
	case UUID:
		return len(text) <= formatBytesMax && uuid.MatchString(text)
	}
	return false
}

// isDateTime adds the calendar to what the pattern knows: a reader of the artifact
// must not be the first to find out that there is no 30th of February.
func isDateTime(text string) bool {
	parts := dateTime.FindStringSubmatch(text)
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
