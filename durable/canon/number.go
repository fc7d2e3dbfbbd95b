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
	if err != nil || math.IsInf(f, 0) {
		return 0, errInexact
	}
	digits, exp := decimal(lit)
	short, shortExp := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	if digits != short || (digits != "" && exp != shortExp) {
		return 0, errInexact
	}
	if f == 0 {
		f = 0 // JCS has no negative zero
	}
	return f, nil
}

// decimal normalizes a literal to its significant digits d1d2…dn and the
// exponent e of 0.d1d2…dn x 10^e, so that two literals of one value compare equal.
func decimal(lit string) (digits string, exp int) {
	lit = strings.TrimPrefix(lit, "-")
	mantissa, e, _ := strings.Cut(strings.ToLower(lit), "e")
	if e != "" {
		exp, _ = strconv.Atoi(strings.TrimPrefix(e, "+"))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp += len(whole)
	all := whole + fraction
	trimmed := strings.TrimLeft(all, "0")
	exp -= len(all) - len(trimmed)
	return strings.TrimRight(trimmed, "0"), exp
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
