package yaml

import (
	"errors"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// The core schema of YAML 1.2.2, section 10.3.2. The library resolves by a mixture
// of 1.1 and 1.2, under which "012" is ten and "2024-01-01" a date.
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

// Reasons for numbers that JSON cannot hold; the second is canon's own wording.
var (
	errNotANumber = errors.New("JSON has no infinities and no NaN; quote it to make it a string")
	errTooBig     = errors.New("number is not exactly a double; send it as a string")
)

// resolve is the JSON literal that a plain scalar stands for, "" when it is a
// string. Whether a number is exactly a double is judged by canon, which reads
// the literal next.
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

// decimal spells a whole number as JSON allows it: no plus, no leading zeros.
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

// based reads octal and hexadecimal text. Beyond 64 bits nothing is exact, so that no
// larger arithmetic is worth having.
func based(digits string, base int) (string, error) {
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return "", errTooBig
	}
	return strconv.FormatUint(n, 10), nil
}
