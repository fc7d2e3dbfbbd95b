// Package token is the codec of the opaque handles that callers hold (locks
// section 1.2): "st|ack|chk.v1.<payload>.<signature>", a signed reference to
// durable truth and no truth itself. Keys are handed in; nothing is looked up.
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

// Key signs tokens with HMAC-SHA256.
type Key [32]byte

// Keys is the active set: exactly a current key and at most one previous.
type Keys struct {
	Current  Key
	Previous *Key
}

// State refers to a node; it is what a run is continued from.
type State struct {
	NodeID       id.Node      `json:"nodeId"`
	RunID        id.Run       `json:"runId"`
	SessionID    id.Session   `json:"sessionId"`
	TokenKind    string       `json:"tokenKind"` // "state"
	TokenVersion int64        `json:"tokenVersion"`
	WorkflowHash canon.Digest `json:"workflowHash"`
}

// Attempt refers to one try at a node: to acknowledge it, or to checkpoint it.
type Attempt struct {
	AttemptID    id.Attempt `json:"attemptId"`
	NodeID       id.Node    `json:"nodeId"`
	RunID        id.Run     `json:"runId"`
	SessionID    id.Session `json:"sessionId"`
	TokenKind    string     `json:"tokenKind"` // "ack" or "checkpoint"
	TokenVersion int64      `json:"tokenVersion"`
}

// kinds maps the prefix of a token to the tokenKind in its payload.
var kinds = map[string]string{"st": "state", "ack": "ack", "chk": "checkpoint"}

var base64url = base64.RawURLEncoding

// MintState signs a state token.
func MintState(k Key, s State) string {
	s.TokenKind, s.TokenVersion = "state", 1
	return mint(k, "st", s)
}

// MintAck signs an ack token.
func MintAck(k Key, a Attempt) string {
	a.TokenKind, a.TokenVersion = "ack", 1
	return mint(k, "ack", a)
}

// MintCheckpoint signs a checkpoint token.
func MintCheckpoint(k Key, a Attempt) string {
	a.TokenKind, a.TokenVersion = "checkpoint", 1
	return mint(k, "chk", a)
}

// mint panics only on a zero id, which would be a bug of the caller.
func mint(k Key, prefix string, payload any) string {
	b, err := canon.Marshal(payload)
	if err != nil {
		panic("token: " + err.Error())
	}
	return prefix + ".v1." + base64url.EncodeToString(b) + "." + base64url.EncodeToString(sign(k, b))
}

func sign(k Key, payload []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write(payload)
	return mac.Sum(nil)
}

// ParseState reads a state token, or fails with a TOKEN_* fault.
func ParseState(keys Keys, s string) (out State, err error) {
	err = parse(keys, s, "st", &out)
	if err == nil && (out.TokenKind != "state" || out.TokenVersion != 1) {
		err = wrongPayload(out.TokenKind, out.TokenVersion)
	}
	return out, err
}

// ParseAck reads an ack token, or fails with a TOKEN_* fault.
func ParseAck(keys Keys, s string) (Attempt, error) { return parseAttempt(keys, s, "ack") }

// ParseCheckpoint reads a checkpoint token, or fails with a TOKEN_* fault.
func ParseCheckpoint(keys Keys, s string) (Attempt, error) { return parseAttempt(keys, s, "chk") }

func parseAttempt(keys Keys, s, prefix string) (out Attempt, err error) {
	err = parse(keys, s, prefix, &out)
	if err == nil && (out.TokenKind != kinds[prefix] || out.TokenVersion != 1) {
		err = wrongPayload(out.TokenKind, out.TokenVersion)
	}
	return out, err
}

func wrongPayload(kind string, version int64) error {
	if version != 1 {
		return fault.New(fault.TokenUnsupportedVersion,
			"the token's payload is of version %d; this binary knows version 1", version)
	}
	return fault.New(fault.TokenInvalidFormat, "the token's payload is of kind %q, which its prefix is not", kind)
}

// CheckState refuses what no key could make a state token of, with the fault that
// ParseState would give: for callers that have no keys.
func CheckState(s string) error {
	_, _, err := split(s, "st")
	return err
}

// parse checks form, version, prefix and signature, in this order: a signature
// is the last thing to doubt, a typing mistake the first.
func parse(keys Keys, s, prefix string, out any) error {
	payload, signature, err := split(s, prefix)
	if err != nil {
		return err
	}
	if !verify(keys, payload, signature) {
		return fault.New(fault.TokenBadSignature,
			"the token was not signed by this store: it is of another one, was changed on the way, or its key was "+
				"replaced since")
	}
	if err := canon.UnmarshalExact(payload, out); err != nil {
		return fault.Wrap(err, fault.TokenInvalidFormat, "the token's payload does not have the right members")
	}
	return nil
}

// split takes a token apart by its form alone.
func split(s, prefix string) (payload, signature []byte, err error) {
	if len(s) > limits.TokenBytesMax {
		return nil, nil, fault.New(fault.TokenInvalidFormat, "the token has %d characters; none has more than %d",
			len(s), limits.TokenBytesMax)
	}
	parts := strings.Split(s, ".")
	kind, known := kinds[parts[0]]
	if !known || len(parts) < 2 || !strings.HasPrefix(parts[1], "v") {
		return nil, nil, fault.New(fault.TokenInvalidFormat, "%s is no token: want st|ack|chk.v1.<payload>.<signature>",
			quote(s))
	}
	if parts[1] != "v1" {
		return nil, nil, fault.New(fault.TokenUnsupportedVersion, "the token is of version %s; this binary knows v1",
			quote(parts[1]))
	}
	if len(parts) != 4 {
		return nil, nil, fault.New(fault.TokenInvalidFormat,
			"the token has %d parts; want 4: it was cut or joined on the way", len(parts))
	}
	if parts[0] != prefix {
		return nil, nil, fault.New(fault.TokenScopeMismatch, "a token of kind %s stands where one of kind %s should",
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

// decode accepts one spelling: the library skips line breaks and unused bits.
func decode(s string) ([]byte, bool) {
	b, err := base64url.DecodeString(s)
	return b, err == nil && base64url.EncodeToString(b) == s
}

func verify(keys Keys, payload, signature []byte) bool {
	if hmac.Equal(signature, sign(keys.Current, payload)) {
		return true
	}
	return keys.Previous != nil && hmac.Equal(signature, sign(*keys.Previous, payload))
}

// quote shortens what a caller sent, for a message: control characters and
// invalid text are escaped.
func quote(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return strconv.Quote(s)
}
