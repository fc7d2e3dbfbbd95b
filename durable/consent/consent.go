// Package consent defines what a person signs to consent to an operation, and checks such a
// signature: a payload in canonical JSON, an SSHSIG signature over its bytes, and the keys that may
// make one (docs/design.md#signed-consent).
//
// It makes no signature and reads no file. It does not decide which operations need a consent; the
// packages that record decisions and settings do. Start reading at Signers.Check.
package consent

import (
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// Namespace is the SSHSIG namespace of all signatures: 'ssh-keygen -Y sign -n waybill'.
const Namespace = "waybill"

// Kind is the member "kind" of a payload.
const Kind = "wr.consent"

// version is the member "v" of a payload.
const version = 1

// Operation is the closed set of operations that a payload names. The words are signed: never renamed.
type Operation string

// The operations.
const (
	// DecideStep is a decision about a step that waits for a person.
	DecideStep Operation = "step_decision"
	// ApproveProposal is the approval of one revision of a proposal.
	ApproveProposal Operation = "proposal_approval"
	// ActivateProposal installs a proposal without the approvals of the gate.
	ActivateProposal Operation = "proposal_activation"
	// RollBackProposal takes a proposal out of use, and what it replaced into use.
	RollBackProposal Operation = "proposal_rollback"
	// ChangeSettings changes or confirms what decides who may do what.
	ChangeSettings Operation = "settings"
)

// The members of a payload that each operation has.
const (
	memberKind      = "kind"
	memberVersion   = "v"
	memberOperation = "operation"
	memberStore     = "store"
	memberPolicy    = "policy"
	memberTime      = "atMs"
	memberNonce     = "nonce"
)

// Subject is what is consented to: an operation, the store, the policy in force, and the ids and
// digests of exactly what was shown. It is a payload without the time and the nonce.
type Subject struct{ object canon.Value }

// NewSubject returns the subject of an operation in a store under a policy. members are its ids and
// digests; null ones are left out.
func NewSubject(op Operation, store string, policy canon.Digest, members ...canon.Member) Subject {
	all := []canon.Member{
		{Name: memberKind, Value: canon.OfString(Kind)},
		{Name: memberVersion, Value: canon.OfInt(version)},
		{Name: memberOperation, Value: canon.OfString(string(op))},
		{Name: memberStore, Value: canon.OfString(store)},
		{Name: memberPolicy, Value: canon.OfString(policy.String())},
	}
	for _, m := range members {
		if !m.Value.IsNull() {
			all = append(all, m)
		}
	}
	return Subject{canon.OfMembers(all...)}
}

// Text is a member whose value is a text; an empty text is left out.
func Text(name, value string) canon.Member {
	if value == "" {
		return canon.Member{Name: name}
	}
	return canon.Member{Name: name, Value: canon.OfString(value)}
}

// IsZero reports that s is no subject.
func (s Subject) IsZero() bool { return s.object.IsNull() }

// Payload returns the object that is signed: the subject at a moment, in milliseconds since 1970, with
// a random nonce of 32 hexadecimal digits. Its canonical bytes are the message of the signature.
func (s Subject) Payload(atMs int64, nonce string) canon.Value {
	return s.object.With(memberTime, canon.OfInt(atMs)).With(memberNonce, canon.OfString(nonce))
}

// Given is a consent as it is stored: the object that was signed, and the armoured SSHSIG signature
// over its canonical bytes. The zero Given is none.
type Given struct {
	Signed    canon.Value `json:"signed,omitzero"`
	Signature string      `json:"signature,omitzero"`
}

// IsSigned reports that there is a consent, whether it counts or not.
func (g Given) IsSigned() bool { return g.Signature != "" || !g.Signed.IsNull() }

// SignedAtMs returns the moment that the signed object states, 0 if it states none.
func (g Given) SignedAtMs() int64 {
	at, _ := g.Signed.Get(memberTime)
	return int64(at.Float())
}

// SignedDigest identifies the signed text. One text counts once in a log.
func (g Given) SignedDigest() canon.Digest { return canon.Sum(g.Signed.JCS()) }

// Check returns an error for a consent that cannot be stored: a signature without the object that was
// signed, or one that is too long. Whether it counts is decided by Signers.Check.
func (g Given) Check() error {
	if g.IsSigned() && (g.Signature == "" || g.Signed.Kind() != canon.Object || len(g.Signature) > limits.SignatureBytesMax) {
		return errors.New("a consent wants an object that was signed, and a signature within its limit")
	}
	return nil
}

// IsPayload reports an object of the form of a payload.
func IsPayload(v canon.Value) bool {
	kind, _ := v.Get(memberKind)
	at, _ := v.Get(memberTime)
	nonce, _ := v.Get(memberNonce)
	return v.Kind() == canon.Object && kind.Text() == Kind && at.Kind() == canon.Number && at.Float() == float64(int64(at.Float())) &&
		nonceForm.MatchString(nonce.Text())
}

// nonceForm is 16 random bytes in hexadecimal digits.
var nonceForm = pattern.New(`^[0-9a-f]{32}$`)

// IsOf reports whether a payload is one of the subject, at any moment and with any nonce.
func (s Subject) IsOf(payload canon.Value) bool {
	return IsPayload(payload) && s.difference(payload) == ""
}

// difference returns the name of the first member in which a signed object differs from a subject:
// what is named first in order tells most. "" if none does.
func (s Subject) difference(signed canon.Value) string {
	is := signed.Without(memberTime).Without(memberNonce)
	names := []string{memberKind, memberVersion, memberOperation, memberStore, "session", "run", "node", "proposal", memberPolicy}
	for _, v := range []canon.Value{s.object, is} {
		for i := range v.Len() {
			if !slices.Contains(names, v.Key(i)) {
				names = append(names, v.Key(i))
			}
		}
	}
	for _, name := range names {
		want, _ := s.object.Get(name)
		got, _ := is.Get(name)
		if !want.Equal(got) {
			return name
		}
	}
	return ""
}
