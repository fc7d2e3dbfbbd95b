// Package token encodes and decodes the tokens that callers hold (docs/design.md#tokens):
// "st|ack|chk.v1.<payload>.<signature>", a signed reference to recorded facts, which are
// authoritative.
//
// Keys are arguments: the package stores none and looks nothing up, so that a valid token may
// still refer to a node that has been removed. Start with MintState and ParseState.
package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Key is the key of HMAC-SHA256, which signs tokens.
type Key [32]byte

// Keys is the active set: a current key and at most one previous key, which remains valid for
// verification after a rotation.
type Keys struct {
	Current  Key
	Previous *Key
}

// State is the payload of a state token: a reference to a node, from which a run is
// continued. WorkflowHash binds it to the pinned workflow.
type State struct {
	NodeID       id.Node      `json:"nodeId"`
	RunID        id.Run       `json:"runId"`
	SessionID    id.Session   `json:"sessionId"`
	TokenKind    string       `json:"tokenKind"` // "state"
	TokenVersion int64        `json:"tokenVersion"`
	WorkflowHash canon.Digest `json:"workflowHash"`
}

// Attempt is the payload of an ack or checkpoint token: a reference to one attempt at a node.
// The attempt id makes retries idempotent.
type Attempt struct {
	AttemptID    id.Attempt `json:"attemptId"`
	NodeID       id.Node    `json:"nodeId"`
	RunID        id.Run     `json:"runId"`
	SessionID    id.Session `json:"sessionId"`
	TokenKind    string     `json:"tokenKind"` // "ack" or "checkpoint"
	TokenVersion int64      `json:"tokenVersion"`
}

// kinds maps a token's prefix to the tokenKind in its payload.
var kinds = map[string]string{"st": "state", "ack": "ack", "chk": "checkpoint"}

// base64url is the encoding of payload and signature: RFC 4648 without padding.
var base64url = base64.RawURLEncoding

// MintState returns a signed state token. TokenKind and TokenVersion are set here.
func MintState(k Key, s State) string {
	s.TokenKind, s.TokenVersion = "state", 1
	return mint(k, "st", s)
}

// MintAck returns a signed ack token.
func MintAck(k Key, a Attempt) string {
	a.TokenKind, a.TokenVersion = "ack", 1
	return mint(k, "ack", a)
}

// MintCheckpoint returns a signed checkpoint token.
func MintCheckpoint(k Key, a Attempt) string {
	a.TokenKind, a.TokenVersion = "checkpoint", 1
	return mint(k, "chk", a)
}

// mint signs the payload's canonical JSON. It panics only on a zero id, which is a bug in the
// caller.
func mint(k Key, prefix string, payload any) string {
	b, err := canon.Marshal(payload)
	if err != nil {
		panic("token: " + err.Error())
	}
	return prefix + ".v1." + base64url.EncodeToString(b) + "." + base64url.EncodeToString(sign(k, b))
}

// sign returns the HMAC of the payload bytes, not of their base64 form.
func sign(k Key, payload []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write(payload)
	return mac.Sum(nil)
}

// ParseState decodes a state token. Errors are TOKEN_INVALID_FORMAT,
// TOKEN_UNSUPPORTED_VERSION, TOKEN_SCOPE_MISMATCH (a token of another kind) and
// TOKEN_BAD_SIGNATURE.
func ParseState(keys Keys, s string) (out State, err error) {
	err = parse(keys, s, "st", &out)
	if err == nil && (out.TokenKind != "state" || out.TokenVersion != 1) {
		err = wrongPayload(out.TokenKind, out.TokenVersion)
	}
	return out, err
}

// ParseAck decodes an ack token; errors are those of ParseState.
func ParseAck(keys Keys, s string) (Attempt, error) { return parseAttempt(keys, s, "ack") }

// ParseCheckpoint decodes a checkpoint token; errors are those of ParseState.
func ParseCheckpoint(keys Keys, s string) (Attempt, error) { return parseAttempt(keys, s, "chk") }

// parseAttempt decodes both kinds of attempt tokens.
func parseAttempt(keys Keys, s, prefix string) (out Attempt, err error) {
	err = parse(keys, s, prefix, &out)
	if err == nil && (out.TokenKind != kinds[prefix] || out.TokenVersion != 1) {
		err = wrongPayload(out.TokenKind, out.TokenVersion)
	}
	return out, err
}

// wrongPayload is the fault for a signed payload whose kind or version contradicts its
// prefix.
func wrongPayload(kind string, version int64) error {
	if version != 1 {
		return fault.New(fault.TokenUnsupportedVersion,
			"the token's payload is of version %d; this binary knows version 1", version)
	}
	return fault.New(fault.TokenInvalidFormat, "the token's payload is of kind %q, unlike its prefix", kind)
}

// Peek returns the kind of a text that has the form of a token, "" for another text, and the run that its payload
// names. The signature is not checked: what is returned explains a mistake and decides nothing.
func Peek(s string) (kind string, run id.Run) {
	prefix, _, _ := strings.Cut(s, ".")
	payload, _, err := split(s, prefix)
	if err != nil {
		return "", run
	}
	v, err := canon.Parse(payload)
	if err != nil {
		return "", run
	}
	if member, ok := v.Get("runId"); ok {
		run, _ = id.ParseRun(member.Text())
	}
	return kinds[prefix], run
}

// CheckState checks a state token's form without keys: an error is one that ParseState
// returns for every set of keys.
func CheckState(s string) error {
	_, _, err := split(s, "st")
	return err
}

// ClaimedRun returns the run that a token of any kind names, without checking the signature: for a
// suggestion that the caller has to look up, never for an access. false for a text that names none.
func ClaimedRun(s string) (id.Run, bool) {
	prefix, _, _ := strings.Cut(s, ".")
	if _, known := kinds[prefix]; !known {
		return id.Run{}, false
	}
	payload, _, err := split(s, prefix)
	if err != nil {
		return id.Run{}, false
	}
	var state State
	if canon.UnmarshalExact(payload, &state) == nil {
		return state.RunID, true
	}
	var attempt Attempt
	err = canon.UnmarshalExact(payload, &attempt)
	return attempt.RunID, err == nil
}

// parse checks form, version and prefix before the signature, so that typing errors are
// reported as such.
func parse(keys Keys, s, prefix string, out any) error {
	payload, signature, err := split(s, prefix)
	if err != nil {
		return err
	}
	if !verify(keys, payload, signature) {
		return fault.New(fault.TokenBadSignature,
			"the token was not signed by this store: it belongs to another store, was altered, or its key was "+
				"replaced since")
	}
	if err := canon.UnmarshalExact(payload, out); err != nil {
		return fault.Wrap(err, fault.TokenInvalidFormat, "the token's payload does not have the right members")
	}
	return nil
}

// split checks a token's form and decodes its two parts, without keys.
func split(s, prefix string) (payload, signature []byte, err error) {
	if len(s) > limits.TokenBytesMax {
		return nil, nil, fault.New(fault.TokenInvalidFormat, "the token has %d characters; none has more than %d",
			len(s), limits.TokenBytesMax)
	}
	parts := strings.Split(s, ".")
	kind, known := kinds[parts[0]]
	if !known || len(parts) < 2 || !strings.HasPrefix(parts[1], "v") {
		f := fault.New(fault.TokenInvalidFormat, "%s is not a token: want st|ack|chk.v1.<payload>.<signature>", quote(s))
		if id.Noun(s) == "a run" {
			f.Suggest("It is the id of a run: give it with --run, as in %s.", fault.Command{"continue", "--run", s})
		}
		return nil, nil, f
	}
	if parts[1] != "v1" {
		return nil, nil, fault.New(fault.TokenUnsupportedVersion, "the token is of version %s; this binary knows v1",
			quote(parts[1]))
	}
	if len(parts) != 4 {
		return nil, nil, fault.New(fault.TokenInvalidFormat,
			"the token has %d parts; want 4: it was truncated or concatenated", len(parts))
	}
	if parts[0] != prefix {
		return nil, nil, fault.New(fault.TokenScopeMismatch,
			"a token of kind %s was given where one of kind %s is expected",
			kind, kinds[prefix]).
			Suggest("Pass the %s token of the last answer here.", kinds[prefix])
	}
	payload, ok := decode(parts[2])
	if !ok {
		return nil, nil, fault.New(fault.TokenInvalidFormat, "the token's payload is not base64url")
	}
	if signature, ok = decode(parts[3]); !ok {
		return nil, nil, fault.New(fault.TokenInvalidFormat, "the token's signature is not base64url")
	}
	return payload, signature, nil
}

// decode accepts exactly one spelling per value: the library ignores line breaks and unused
// bits.
func decode(s string) ([]byte, bool) {
	b, err := base64url.DecodeString(s)
	return b, err == nil && base64url.EncodeToString(b) == s
}

// verify compares in constant time, with the current key first.
func verify(keys Keys, payload, signature []byte) bool {
	if hmac.Equal(signature, sign(keys.Current, payload)) {
		return true
	}
	return keys.Previous != nil && hmac.Equal(signature, sign(*keys.Previous, payload))
}

// quote shortens and escapes text from a caller for a message.
func quote(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return strconv.Quote(s)
}
