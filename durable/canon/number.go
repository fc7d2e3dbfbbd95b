package canon

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// maxInteger is 2^53, the largest magnitude up to which every integer is exactly a double.
const maxInteger = 1 << 53

var errInexact = errors.New("number is not exactly a double; send it as a string")

// parseNumber converts a JSON number literal that the scanner has already delimited. It
// returns errInexact for a literal that no double represents exactly, which JCS would write as
// another number: integers beyond 2^53 between two doubles, overflow, underflow, and fractions
// with more digits than a double has. Every number that JCS writes parses, including those
// beyond 2^53 (1e20 is written 100000000000000000000). See
// docs/decisions/0003-refuse-numbers-that-change-when-rewritten.md.
//
// canonical reports that JCS writes the number as lit.
func parseNumber(lit string) (f float64, canonical bool, err error) {
	// Short integers are the common case, and always exact.
	if n, end := shortInteger(lit, 0); end == len(lit) {
		return float64(n), true, nil
	}
	f, err = strconv.ParseFloat(lit, 64)
	if err != nil { // out of range; the scanner has checked the grammar
		return 0, false, errInexact
	}
	if f == 0 {
		f = 0 // JCS has no negative zero
	}
	var buffer [32]byte
	text, err := AppendNumber(buffer[:0], f)
	if string(text) == lit {
		return f, true, nil
	}
	// A double is within a factor of two of the literal it was parsed from, so equal
	// significant digits mean equal numbers.
	if significant(lit) != significant(strconv.FormatFloat(f, 'e', -1, 64)) {
		return 0, false, errInexact
	}
	return f, false, err
}

// significant returns the digits of a literal without sign, point, exponent, leading and
// trailing zeros. They are equal for two spellings of one number.
func significant(lit string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(lit, "-")), "e")
	return strings.Trim(strings.Replace(mantissa, ".", "", 1), "0")
}

// AppendNumber appends f in the form of RFC 8785, section 3.2.2.3 (ECMAScript's shortest form
// that parses back to f). It returns an error for NaN and infinities.
func AppendNumber(dst []byte, f float64) ([]byte, error) {
	// For these the shortest form is the plain integer; -0 becomes 0, as JCS requires.
	if f == math.Trunc(f) && math.Abs(f) <= maxInteger {
		return strconv.AppendInt(dst, int64(f), 10), nil
	}
	s, err := jcs.NumberToJSON(f)
	if err != nil {
		return dst, errors.New("not a JSON number")
	}
	return append(dst, s...), nil
}
