package forms

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/redact/byteset"
)

// Alphabet is a class with the word for it in Row.Parts, and its description.
type Alphabet struct {
	Word, Meaning string
	In            *byteset.Set
}

const (
	letters = byteset.Letters
	digits  = byteset.Digits
)

// Alphabets are the classes of the notation.
var Alphabets = []Alphabet{
	{"digit", "digits", byteset.Of(digits)},
	{"hex", "lower case hexadecimal digits", byteset.Of(digits + "abcdef")},
	{"hexes", "hexadecimal digits", byteset.Of(digits + "abcdefABCDEF")},
	{"letter", "letters", byteset.Of(letters)},
	{"lower", "lower case letters and digits", byteset.Of(letters[:26] + digits)},
	{"upper", "capitals and digits", byteset.Of(byteset.Capitals + digits)},
	{"alnum", "letters and digits", byteset.Of(letters + digits)},
	{"base32", "lower case base32", byteset.Of(letters[:26] + "234567")},
	{"bech", "capitals of bech32", byteset.Of("QPZRYXGFTVDWSJNKHCEMUAL" + "023456789")},
	{"word", "letters, digits and `_`", byteset.Of(letters + digits + "_")},
	{"dashed", "base64url", byteset.Of(letters + digits + "_-")},
	{"equals", "letters, digits, `_` and `=`", byteset.Of(letters + digits + "_=")},
	{"dotted", "base64url and `.`", byteset.Of(letters + digits + "_-.")},
	{"tilde", "base64url, `.` and `~`", byteset.Of(letters + digits + "_-.~")},
	{"url", "base64url and `=`", byteset.Of(letters + digits + "_-=")},
	{"base", "base64 without `=`", byteset.Of(letters + digits + "+/")},
	{"padded", "base64", byteset.Of(letters + digits + "+/=")},
	{"dashdot", "base64, `_`, `-` and `.`", byteset.Of(letters + digits + "+/=_-.")},
	{"percent", "base64 in both alphabets, and `%`", byteset.Of(letters + digits + "_-%+/=")},
	{"path", "letters, digits, `_`, `-`, `/` and `@`", byteset.Of(letters + digits + "_-/@")},
	{"ids", "digits and `/`", byteset.Of(digits + "/")},
	{"pchar", "characters of a URL path", byteset.Of(letters + digits + "-._~!$*+:@")},
}

// Part is a literal, or a run of bytes of a class. A Most of 0 is no bound; only the last part of
// a token may have none, so that a failed match has read a bounded number of bytes.
type Part struct {
	Text        string
	In          *byteset.Set
	Word        string // the class in the notation
	Least, Most int
}

// Parts parses the notation of Row.Parts.
func Parts(notation string) (parts []Part) {
	for _, field := range strings.Fields(notation) {
		if field[0] == '\'' {
			parts = append(parts, Part{Text: strings.Trim(field, "'")})
			continue
		}
		name, bounds, _ := strings.Cut(strings.TrimSuffix(field, "}"), "{")
		i := slices.IndexFunc(Alphabets, func(a Alphabet) bool { return a.Word == name })
		least, most, ranged := strings.Cut(bounds, ",")
		p := Part{In: Alphabets[i].In, Word: name}
		p.Least, _ = strconv.Atoi(least)
		if p.Most, _ = strconv.Atoi(most); !ranged {
			p.Most = p.Least
		}
		parts = append(parts, p)
	}
	return parts
}
