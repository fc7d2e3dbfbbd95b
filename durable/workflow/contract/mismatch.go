package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Bounds of what is said about one artifact: its sender, and the log, get a list
// that can be read, whatever was sent.
const (
	// MismatchesMax is how many mismatches are listed; more are counted.
	MismatchesMax = 20
	// shownBytesMax is about how much of a wrong text is shown.
	shownBytesMax = 60
	// tokenBytesMax is where a name is cut in a pointer: only names of a sender's own
	// choosing are ever longer.
	tokenBytesMax = 64
)

// Mismatch is one thing that does not fit.
type Mismatch struct {
	Pointer  string // JSON pointer into the artifact, "" for the whole; names over 64 bytes are cut
	Expected string // e.g. `one of "continue", "stop"`
	Got      string // e.g. `"maybe"`, "nothing"
	// More is 0, but for the last of a list that is too long: that stands for so many
	// further ones and has no other members.
	More int
}

// String is the mismatch as one line: `/decision: expected one of "continue", "stop", got "maybe"`.
func (m Mismatch) String() string {
	switch {
	case m.More > 0:
		return fmt.Sprintf("and %d more", m.More)
	case m.Pointer == "":
		return fmt.Sprintf("expected %s, got %s", m.Expected, m.Got)
	}
	return fmt.Sprintf("%s: expected %s, got %s", m.Pointer, m.Expected, m.Got)
}

// place is the way to a value. It becomes text only when something is wrong there.
type place struct {
	up   *place
	name string
	item int // the index in a list, notAnItem below an object
}

const notAnItem = -1

func (p *place) member(name string) *place { return &place{p, name, notAnItem} }
func (p *place) nth(i int) *place          { return &place{p, "", i} }

// pointer is the JSON pointer of p; nil is the whole artifact.
func (p *place) pointer() string {
	if p == nil {
		return ""
	}
	token := canon.EscapePointer(cut(p.name, tokenBytesMax))
	if p.item != notAnItem {
		token = fmt.Sprint(p.item)
	}
	return p.up.pointer() + "/" + token
}

// cut shortens s to at most size bytes and a mark, between two characters.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}

// show says what a value is in a few words. Lists and objects are counted, not
// spelled out: they may be of any size.
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

// quote is a text as JSON, cut where it is long. Escapes make it longer than what
// it stands for, so it is measured after them.
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

// quoteAll lists texts for a sentence.
func quoteAll(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
