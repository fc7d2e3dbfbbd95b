package words

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Stated reports a value that looks like no word of a sentence, no format and no file.
func Stated(v string) bool {
	v = strings.TrimRight(v, "!")
	has := func(set string) bool { return strings.ContainsAny(v, set) }
	switch {
	case len(v) < 5, NotStated.MatchString(v), !utf8.ValidString(v):
		return false
	case has("0123456789") && has(alphabet):
		return true
	case has("0123456789"):
		return len(v) >= 6 && Number.MatchString(v) && !has(".,-+")
	}
	return has(alphabet) && has("!@#$%^&*+=")
}

// NotStated matches words with digits or signs: formats and algorithms, versions, dates, files, and
// identifiers that a sentence is about.
var NotStated = pattern.New(`^(?i:(?:base|scram-sha|sha|md|utf|ipv|hs|rs|es|ps|ed|aes|rsa|x|oauth|http|v|bcrypt|argon|pbkdf|win|ascii)-?[0-9]+[\w.-]{0,14}` +
	`|[0-9]+(?:st|nd|rd|th|s|ms|h|d|min|kb|mb|bit|bits|bytes?|chars?|days?|hours?|x)` +
	`|[0-9]+-[a-z]+(?:-[a-z]+)*|\d{4}-\d\d-\d\d.*|\d+(?:[.:]\d+)+|[\w./-]+\.[a-z]{1,5}|\$.*|@.*|#\d+)$`)

// A number or a range such as 8-64, and the word behind it.
var (
	Number    = pattern.New(`^[0-9+.,-]*$`)
	wordAfter = pattern.New(`^[ \t]+([A-Za-z]+)`)
)

// IsCount reports a number with a unit: "Password: 8-64 characters".
func IsCount(s string, to int, v string) bool {
	unit := wordAfter.FindStringSubmatch(s[to:])
	return unit != nil && units.Has(strings.ToLower(unit[1])) && Number.MatchString(v)
}

// units is the set of such units.
var units = Set("character characters chars bytes bits digits letters words minutes hours days seconds weeks " +
	"times tokens or to and per")

// SecretNouns are the words with which a sentence about a secret begins, by the last five bits of their first letter.
var SecretNouns = [32][]string{
	'a' & 0x1f: {"api", "access", "auth"}, 'b' & 0x1f: {"bearer"}, 'c' & 0x1f: {"credential", "client"}, 'i' & 0x1f: {"identified"},
	'p' & 0x1f: {"password", "passphrase", "passwort", "passe", "passcode", "passwd"}, 'r' & 0x1f: {"refresh"}, 's' & 0x1f: {"secret"},
	't' & 0x1f: {"token"},
}
