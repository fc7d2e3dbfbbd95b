// Package forms is the table of the forms of tokens that redaction finds, as data: the prefixes and
// lengths that providers document (docs/redaction.md). Package redact matches them.
package forms

import (
	"slices"

	"github.com/waybill/waybill/durable/redact/words"
)

// Row is one form of token: a prefix at the start of a word, and parts behind
// it. The table is data: docs/redaction.md is generated from it.
type Row struct {
	ID, Provider string
	// Rule is the rule of a row whose word was stored before the table existed; the rule of any
	// other row is its id.
	Rule string
	// Before is for tokens without a fixed beginning: the parts before the prefix, which then is
	// in the middle of the token.
	Before string
	// Prefix lists alternatives, separated by spaces.
	Prefix string
	// Parts lists what follows the prefix, separated by spaces: literals in single quotes, and runs
	// such as hex{32}, alnum{8,16} and dashed{20,}: a class with the least and the most bytes.
	// Behind a last run with a most, no word may continue: a longer run is another identifier.
	Parts string
	// Full is the documented length behind the prefix where the least of Parts is lower: tokens
	// that were truncated or altered are recognized too. A token that is split over two lines has it.
	Full int
	Look Looks // what the bytes behind the prefix must look like, where the prefix is not specific
	// Strict requires that no path, name or expression continues before or behind the token.
	Strict bool
	// Open states that the prefix is an address, and that what is before the last part stays.
	Open bool

	Source  string // documentation of the provider
	Yes, No string // a text that is a token, and one that is not
}

// Looks is what the bytes of a token look like, in forms whose prefix also begins words.
type Looks int

// The looks of tokens.
const (
	Any       Looks = iota
	Key             // a key, not words
	Digits          // with digits
	Cased           // with capitals and small letters
	Mixed           // with digits, capitals and small letters
	Random          // with digits, or with capitals among small letters
	Scattered       // with digits, capitals and small letters that alternate as in no identifier
)

// Match reports whether the bytes of a token look as its form requires.
func (l Looks) Match(body string) bool {
	var digit, capital, small, inner bool // inner: a capital behind the first byte
	for i := range len(body) {
		switch b := body[i]; {
		case b >= '0' && b <= '9':
			digit = true
		case b >= 'A' && b <= 'Z':
			capital, inner = true, inner || i > 0
		case b >= 'a' && b <= 'z':
			small = true
		}
	}
	switch l {
	case Digits:
		return digit
	case Cased:
		return capital && small
	case Random:
		return digit || inner && small
	case Mixed:
		return digit && capital && small
	case Scattered:
		return digit && capital && small && words.Alternations(body) > len(body)/3
	}
	return true
}

// Rows returns all rows. Of two rows that match, the one with the longer prefix decides, or the first
// one.
func Rows() []Row { return slices.Concat(models, code, cloud, business, operations, services, listed) }
