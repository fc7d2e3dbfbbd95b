// Package period reads and writes the texts of lengths of time, such as "1h30m", and reads those
// of instants, such as "2026-12-01T09:00:00Z" (docs/design.md#waiting).
//
// It knows no clock and no zone but those in a text: the same text has the same value on every
// machine.
package period

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// units are the units of a period, from the longest, with their milliseconds.
var units = []struct {
	name byte
	ms   int64
}{{'d', 24 * 3600 * 1000}, {'h', 3600 * 1000}, {'m', 60 * 1000}, {'s', 1000}}

// Like describes a period, for messages.
const Like = `a period such as "2d", "1h30m" or "90s"`

// errForm reports a text that is no period.
var errForm = errors.New("want whole numbers from 1, each with one of the units d, h, m and s in this order, such as 2d, 1h30m or 90s")

// Parse returns the milliseconds of a period: whole numbers from 1 with the units d, h, m and s, in
// this order and each at most once, without blanks. A day has 24 hours. An error names the form, or
// the longest period, limits.PeriodSecondsMax.
func Parse(text string) (ms int64, err error) {
	rest := text
	for _, u := range units {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == len(rest) || rest[digits] != u.name {
			continue
		}
		// Nine digits of days do not overflow.
		n, err := strconv.ParseInt(rest[:digits], 10, 32)
		if err != nil && errors.Is(err, strconv.ErrRange) {
			return 0, tooLong()
		}
		if err != nil || n < 1 || rest[0] == '0' {
			return 0, errForm
		}
		ms += n * u.ms
		rest = rest[digits+1:]
	}
	switch {
	case rest != "" || text == "":
		return 0, errForm
	case ms > limits.PeriodSecondsMax*1000:
		return 0, tooLong()
	}
	return ms, nil
}

// tooLong is the error of a period over the longest one.
func tooLong() error { return fmt.Errorf("longer than %s", Text(limits.PeriodSecondsMax*1000)) }

// Text returns the shortest text of a period with its largest units; parts of a second are left
// out, and "0s" is the text of less than one.
func Text(ms int64) string {
	var out strings.Builder
	for _, u := range units {
		if n := ms / u.ms; n > 0 {
			out.WriteString(strconv.FormatInt(n, 10))
			out.WriteByte(u.name)
			ms -= n * u.ms
		}
	}
	if out.Len() == 0 {
		return "0s"
	}
	return out.String()
}
