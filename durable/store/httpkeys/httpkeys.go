// Package httpkeys defines the keys with which programs call 'waybill serve' (docs/design.md#openwop-keys): their text,
// their scopes, and the list of them, which is the data of the control file keys/http.json. A key itself is shown once to
// the person who adds it; its SHA-256 is kept.
//
// It reads and writes no file, asks no questions and draws no entropy. Start with List and Match.
package httpkeys

import (
	"crypto/subtle"
	"encoding/base32"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Scope is a permission of a key, a closed set. The words are stored.
type Scope string

// The scopes.
const (
	ManifestRead     Scope = "manifest:read"
	RunsCreate       Scope = "runs:create"
	RunsRead         Scope = "runs:read"
	RunsCancel       Scope = "runs:cancel"
	FeedbackWrite    Scope = "feedback:write"
	ProposalsAuthor  Scope = "proposals:author"
	PacksPublish     Scope = "packs:publish"
	ApprovalsRespond Scope = "approvals:respond"
)

// Scopes returns the closed set, in the order of the documentation.
func Scopes() []Scope {
	return []Scope{ManifestRead, RunsCreate, RunsRead, RunsCancel, FeedbackWrite, ProposalsAuthor, PacksPublish,
		ApprovalsRespond}
}

// Allows states what a scope permits, for the person who is asked to give it.
func (s Scope) Allows() string {
	return map[Scope]string{
		ManifestRead:     "read workflows and prompts",
		RunsCreate:       "start and fork runs",
		RunsRead:         "read runs, their events, annotations and proposals",
		RunsCancel:       "cancel runs",
		FeedbackWrite:    "annotate runs",
		ProposalsAuthor:  "revise, reject and archive proposals",
		PacksPublish:     "apply proposals that people approved",
		ApprovalsRespond: "answer the questions of runs, except approvals of people",
	}[s]
}

// ParseScopes returns the scopes of a flag: each value is one scope, or several with commas between them. They are sorted,
// and each is contained once. VALIDATION_ERROR: an unknown scope, or none.
func ParseScopes(values []string) (out []Scope, err error) {
	for _, word := range strings.Split(strings.Join(values, ","), ",") {
		s := Scope(strings.TrimSpace(word))
		if !slices.Contains(Scopes(), s) {
			return nil, unknownScope(string(s))
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// unknownScope is the error for a word that is no scope. A secret in its place is not repeated.
func unknownScope(word string) error {
	f := fault.New(fault.ValidationError, "a key needs at least one scope")
	if word != "" {
		f = fault.New(fault.ValidationError, "%q is no scope", shown(word))
	}
	var all []string
	for _, s := range Scopes() {
		all = append(all, string(s))
	}
	return f.Suggest("The scopes are %s.", strings.Join(all, ", ")).With("scopes", all)
}

// nameBytesMax bounds a name.
const nameBytesMax = 64

// name is the form of names. They are typed in a shell, shown, and part of the name of an actor.
var name = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// NameForm is the form of names as a regular expression, for schemas.
func NameForm() string { return name.String() }

// IsName reports whether a name can be that of a key. A text that looks like a secret cannot: names are shown.
func IsName(s string) bool {
	return len(s) <= nameBytesMax && name.MatchString(s) && redact.Text(s, nil) == s
}

// CheckName returns VALIDATION_ERROR for a text that cannot be the name of a key.
func CheckName(s string) error {
	if IsName(s) {
		return nil
	}
	return fault.New(fault.ValidationError, "%q cannot be the name of a key", shown(s)).
		Suggest("Names are 1 to %d letters, digits, dots, _ and -, begin with a letter or digit, and look like no secret.",
			nameBytesMax)
}

// shown returns a text of the caller as errors repeat it.
func shown(s string) string {
	return reason.Clip(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), nameBytesMax)
}

// Prefix begins the text of every key, so that a key is recognized where it should not be (durable/redact).
const Prefix = "wbk_"

// EntropyBytes is how many random bytes a key is made of.
const EntropyBytes = 32

// Text returns the text of the key that is made of random bytes.
func Text(random [EntropyBytes]byte) string {
	return Prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// Key is one key as it is stored.
type Key struct {
	AddedMs int64        `json:"addedMs"`
	Name    string       `json:"name"`
	Scopes  []Scope      `json:"scopes"` // sorted, each once, at least one
	SHA256  canon.Digest `json:"sha256"` // of the key's text
}

// NewKey returns the key with a text and scopes in any order, as it is stored.
func NewKey(name, text string, scopes []Scope, addedMs int64) Key {
	scopes = slices.Clone(scopes)
	slices.Sort(scopes)
	return Key{AddedMs: addedMs, Name: name, Scopes: slices.Compact(scopes), SHA256: canon.Sum([]byte(text))}
}

// Has reports whether the key has a scope.
func (k Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Match returns the key with a text. It compares the digest of the text with those of all keys in constant time, so that
// the time of a refusal does not depend on the keys.
func Match(keys []Key, text string) (found Key, ok bool) {
	sum := canon.Sum([]byte(text)).Raw()
	for _, k := range keys {
		own := k.SHA256.Raw()
		if subtle.ConstantTimeCompare(sum[:], own[:]) == 1 {
			found, ok = k, true
		}
	}
	return found, ok
}
