package canon

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// maxInteger is the largest magnitude up to which every integer is exactly a double.
const maxInteger = 1 << 53

var errInexact = errors.New("number is not exactly a double; send it as a string")

// parseNumber reads a JSON number literal that the scanner has already
// delimited. It refuses what a double would silently change, which is what JCS
// would spell as another number: integers beyond 2^53 that no double names,
// overflow, underflow, and fractions with more digits than a double has. What
// JCS itself writes (1e20 is 100000000000000000000) always reads back.
func parseNumber(lit string) (float64, error) {
	if len(lit) < 16 {
		if n, err := strconv.ParseInt(lit, 10, 64); err == nil {
			return float64(n), nil
		}
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return 0, errInexact
	}
	// A double lies within a factor of two of the literal it was read from, so equal
	// digits are equal numbers.
	if significant(lit) != significant(strconv.FormatFloat(f, 'e', -1, 64)) {
		return 0, errInexact
	}
	if f == 0 {
		f = 0 // JCS has no negative zero
	}
	return f, nil
}

// significant is the digits of a literal without sign, point, exponent and the
// zeros at both ends, in which two spellings of one number agree.
func significant(lit string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(lit, "-")), "e")
	return strings.Trim(strings.Replace(mantissa, ".", "", 1), "0")
}

// AppendNumber writes f as RFC 8785 wants it (ECMAScript's shortest form).
func AppendNumber(dst []byte, f float64) ([]byte, error) {
	if f == math.Trunc(f) && math.Abs(f) <= maxInteger {
		return strconv.AppendInt(dst, int64(f), 10), nil
	}
	s, err := jcs.NumberToJSON(f)
	if err != nil {
		return dst, errors.New("not a JSON number")
	}
	return append(dst, s...), nil
}
