package yaml

import (
	"errors"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// The core schema of YAML 1.2.2, section 10.3.2. The library resolves scalars by a mixture
// of YAML 1.1 and 1.2, in which "012" is ten and "2024-01-01" a date, so its resolution is
// not used.
var (
	coreNull  = pattern.New(`^(null|Null|NULL|~|)$`)
	coreBool  = pattern.New(`^(true|True|TRUE|false|False|FALSE)$`)
	coreInt   = pattern.New(`^[-+]?[0-9]+$`)
	coreOctal = pattern.New(`^0o[0-7]+$`)
	coreHex   = pattern.New(`^0x[0-9a-fA-F]+$`)
	coreFloat = pattern.New(`^([-+]?)(\.[0-9]+|[0-9]+(?:\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	coreInf   = pattern.New(`^[-+]?(\.inf|\.Inf|\.INF)$`)
	coreNaN   = pattern.New(`^(\.nan|\.NaN|\.NAN)$`)
)

// Errors for numbers that JSON cannot represent. The text of errTooBig is that of package
// canon for the same error.
var (
	errNotANumber = errors.New("JSON has no infinities and no NaN; quote it to make it a string")
	errTooBig     = errors.New("number is not exactly a double; send it as a string")
)

// resolve returns the JSON literal for a plain scalar, or "" when the scalar is a string.
// It does not check that a number is exactly a double; canon does when it parses the
// literal.
func resolve(plain string) (string, error) {
	switch {
	case coreNull.MatchString(plain):
		return "null", nil
	case coreBool.MatchString(plain):
		return strings.ToLower(plain), nil
	case coreInt.MatchString(plain):
		return decimal(plain), nil
	case coreOctal.MatchString(plain):
		return based(plain[2:], 8)
	case coreHex.MatchString(plain):
		return based(plain[2:], 16)
	case coreInf.MatchString(plain), coreNaN.MatchString(plain):
		return "", errNotANumber
	}
	// JSON requires digits before and after the decimal point, YAML only on one side.
	if m := coreFloat.FindStringSubmatch(plain); m != nil {
		whole, fraction, _ := strings.Cut(m[2], ".")
		lit := decimal(m[1] + whole)
		if fraction != "" {
			lit += "." + fraction
		}
		return lit + m[3], nil
	}
	return "", nil
}

// decimal rewrites a whole number in JSON syntax: no plus sign, no leading zeros.
func decimal(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign = "-"
	}
	digits := strings.TrimLeft(s, "+-0")
	if digits == "" {
		digits = "0"
	}
	return sign + digits
}

// based converts octal or hexadecimal digits to decimal. Numbers above 64 bits fail with
// errTooBig: a double does not represent them exactly.
func based(digits string, base int) (string, error) {
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return "", errTooBig
	}
	return strconv.FormatUint(n, 10), nil
}
