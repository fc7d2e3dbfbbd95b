package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Bounds of the report about one artifact. They keep the answer to the sender, and the
// event in the log, small for every artifact.
const (
	// MismatchesMax is the number of mismatches that are listed; others are counted.
	MismatchesMax = 20
	// shownBytesMax is about how much of a wrong text is quoted, in bytes.
	shownBytesMax = 60
	// tokenBytesMax is the length to which a name in a pointer is cut, in bytes. Only names
	// that the sender chose are longer.
	tokenBytesMax = 64
)

// Mismatch is one part of an artifact that does not satisfy the contract.
type Mismatch struct {
	// Pointer is a JSON pointer into the artifact, "" for the whole. Names over 64 bytes are
	// cut, so it may not resolve.
	Pointer string
	// Expected is the shape in words, such as `one of "continue", "stop"`.
	Expected string
	// Got is the value in words, such as `"maybe"` or "nothing".
	Got string
	// More is 0, except in the last Mismatch of a list that is too long: there it is the
	// number of further mismatches, and the other fields are empty.
	More int
}

// String renders the mismatch on one line:
// `/decision: expected one of "continue", "stop", got "maybe"`.
func (m Mismatch) String() string {
	switch {
	case m.More > 0:
		return fmt.Sprintf("and %d more", m.More)
	case m.Pointer == "":
		return fmt.Sprintf("expected %s, got %s", m.Expected, m.Got)
	}
	return fmt.Sprintf("%s: expected %s, got %s", m.Pointer, m.Expected, m.Got)
}

// cut shortens s to at most size bytes plus an ellipsis, at a character boundary.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}

// show describes a value in a few words. For lists and objects it gives the number of
// members only, since they may be of any size.
func show(v canon.Value) string {
	switch v.Kind() {
	case canon.String:
		return quote(v.Text())
	case canon.Array:
		return fmt.Sprintf("a list of %d", v.Len())
	case canon.Object:
		return "an object with " + count(v.Len(), "member")
	case canon.Number:
		if text, err := canon.AppendNumber(nil, v.Float()); err == nil {
			return string(text)
		}
		return "a number that JSON does not have"
	}
	return string(v.JCS())
}

// quote returns a text as a JSON string, shortened to about shownBytesMax. The length is
// measured after escaping, which can make a text several times longer.
func quote(s string) string {
	short := cut(s, shownBytesMax)
	for {
		quoted := canon.AppendString(nil, strings.ToValidUTF8(short, "\uFFFD"))
		if len(quoted) <= shownBytesMax+len(`"…"`) {
			return string(quoted)
		}
		short = cut(s, len(strings.TrimSuffix(short, "…"))*2/3)
	}
}

// quoteAll joins quoted texts with commas.
func quoteAll(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}

// count renders a number with its noun, in the plural unless n is 1.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
