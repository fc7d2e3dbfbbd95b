// Package decision reads the decisions of people about a step that waits for them, and says what
// they amount to: how many approvals count, what was sent back, what is still needed
// (docs/design.md#decisions).
//
// A decision is an artifact of Kind, bound to the pending step, the snapshot of its node and the
// outputs that were shown. It is recorded by package advance and never edited: a later one changes
// what it amounts to. The package is pure; Judge is a function of the records and of one moment.
package decision

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Kind is the artifact kind of a decision, which only decisions of people write.
const Kind = event.DecisionKind

// ApprovalKind is the artifact kind of an approval. It is written beside the decision, and in the logs of
// older versions without one.
const ApprovalKind = event.ApprovalKind

// Bound is what a decision is about: the pending step, the snapshot of its node and the outputs.
type Bound struct {
	// Outputs is the sorted list of {kind, sha256}.
	Outputs         canon.Value  `json:"outputs"`
	SnapshotRef     canon.Digest `json:"snapshotRef"`
	StepInstanceKey string       `json:"stepInstanceKey"`
}

// Equal reports the same step, snapshot and outputs.
func (b Bound) Equal(other Bound) bool {
	return b.StepInstanceKey == other.StepInstanceKey && b.SnapshotRef == other.SnapshotRef &&
		b.Outputs.Equal(other.Outputs)
}

// Digest identifies what a decision is about: of the canonical object of these members, with ApprovalKind as
// its kind. It is what a person signs as shown, so that a signature counts for these outputs alone.
func (b Bound) Digest() canon.Digest { return canon.Sum(b.Approval().JCS()) }

// Approval returns the object that identifies what is approved, with the kind of the approval.
func (b Bound) Approval() canon.Value {
	return canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(ApprovalKind)},
		canon.Member{Name: "outputs", Value: b.Outputs},
		canon.Member{Name: "snapshotRef", Value: canon.OfString(b.SnapshotRef.String())},
		canon.Member{Name: "stepInstanceKey", Value: canon.OfString(b.StepInstanceKey)})
}

// Record is the content of the artifact.
type Record struct {
	Kind string `json:"kind"` // always Kind
	event.StepDecision
	Bound
	// Account is the account of the person, "" on a platform without numeric ids.
	Account config.Account `json:"account,omitzero"`
	// Principal reports that By is the principal that the account was bound to.
	Principal bool `json:"principal,omitzero"`
	// Roles are the names of the step's approvers that the person was or held, sorted.
	Roles []string `json:"roles,omitzero"`
	// PolicyDigest identifies the settings in force (docs/design.md#settings).
	PolicyDigest canon.Digest `json:"policyDigest,omitzero"`
	AtMs         int64        `json:"atMs"` // milliseconds since 1970
	// Given is the signature of the person over Subject, where the settings require one. Additive.
	consent.Given
}

// CountsFromMs is the moment from which an approval ages: that of the consent, which is signed, where it is
// earlier than that of the record.
func (r Record) CountsFromMs() int64 {
	if r.IsSigned() {
		return min(r.AtMs, r.SignedAtMs())
	}
	return r.AtMs
}

// Place is the node that a decision is about.
type Place struct {
	Store   id.Store
	Session id.Session
	Run     id.Run
	Node    id.Node
}

// Subject is what the person signs to consent to the decision (docs/design.md#signed-consent). What was shown
// is computed from what the record is bound to: Judge compares that, and ShownDigest only repeats it.
func (r Record) Subject(at Place) consent.Subject {
	return consent.NewSubject(consent.DecideStep, at.Store.String(), r.PolicyDigest, consent.Text("session", at.Session.String()),
		consent.Text("run", at.Run.String()), consent.Text("node", at.Node.String()), consent.Text("step", r.StepInstanceKey),
		consent.Text("decision", string(r.Decision)), consent.Text("reason", r.Reason),
		consent.Text("shown", r.Bound.Digest().String()))
}

// Signer returns who signed the decision at a place, if signers count the signature. The fault is
// SIGNATURE_REQUIRED for a decision that is not signed, else SIGNATURE_REFUSED.
func (r Record) Signer(signers consent.Signers, at Place) (consent.By, error) {
	if !r.IsSigned() {
		return consent.By{}, fault.New(fault.SignatureRequired, "the decision of %s is not signed", Name(r.By))
	}
	return signers.Check(r.Given, r.Subject(at), r.AtMs)
}

// Value returns the artifact.
func (r Record) Value() (canon.Value, error) {
	r.Kind = Kind
	return canon.ValueOf(r)
}

// Decode reads an artifact of Kind. An error means that it is none.
func Decode(v canon.Value) (r Record, err error) {
	if err := canon.Unmarshal(v.JCS(), &r); err != nil {
		return r, fmt.Errorf("decision: %w", err)
	}
	if r.Kind != Kind || r.Outputs.Kind() != canon.Array || len(r.Roles) > limits.ApproversMax {
		return r, fmt.Errorf("decision: kind %q with %d roles", r.Kind, len(r.Roles))
	}
	return r, cmp.Or(r.StepDecision.Check(), r.Given.Check())
}

// Given is one recorded decision, as far as it is known. The zero Record is that of an artifact
// that was erased.
type Given struct {
	Record
	// Erased reports that the content is gone. It is not known what was decided, so that earlier
	// approvals do not count any more.
	Erased bool
	// Plain reports an approval of a version that recorded no decision beside it. It counts for a
	// step that any one person approves, without an end.
	Plain bool
	// Repeated reports that an earlier decision of the node has the same signed text, which counts once.
	Repeated bool
}

// State is what the decisions amount to for the outputs that a node holds, at one moment.
type State struct {
	// Rule is the rule of the step that is judged.
	Rule compile.Approval
	// Approvals are those that count, oldest first, one of each person.
	Approvals []Record
	// Expired are approvals of the same outputs that counted once and are too old.
	Expired []Record
	// SentBack is the last decision that sent the step back, nil if a person approved since, or none did.
	// Where Unchanged it is never nil: an approval of other outputs does not end it for these.
	SentBack *Record
	// Unchanged reports that the outputs are some that were sent back, and that no person approved
	// exactly them since.
	Unchanged bool
	// Lost reports that the content of a decision was erased after approvals, which ended them.
	Lost bool
}

// Met reports whether enough approvals count.
func (s State) Met() bool { return len(s.Approvals) >= s.Rule.Needed() && !s.Unchanged }

// Missing is the number of approvals that are still needed.
func (s State) Missing() int { return max(s.Rule.Needed()-len(s.Approvals), 0) }

// ExpiresAtMs is when the first of the approvals that count ends, in milliseconds since 1970; 0 if none
// does.
func (s State) ExpiresAtMs() (at int64) {
	lifetime := s.Rule.LifetimeMs()
	for _, a := range s.Approvals {
		if end := a.CountsFromMs() + lifetime; lifetime > 0 && (at == 0 || end < at) {
			at = end
		}
	}
	return at
}

// Judge evaluates recorded decisions, oldest first, for the outputs in want. atMs is the moment
// in milliseconds since 1970. performers are the accounts that handed in the outputs. An approval counts
// if it is bound to want, no later decision sent the step back, its time is not over, its person held one
// of the approvers when it was recorded and is none of the performers the rule excludes. Each account
// counts once; accounts that are not bound to principals are one person's.
func Judge(rule compile.Approval, all []Given, want Bound, atMs int64, performers []config.Account) State {
	s := State{Rule: rule}
	var same *Record // sent exactly these outputs back
	for i := range all {
		g := all[i]
		switch {
		case g.Erased:
			s.Lost = s.Lost || len(s.Approvals) > 0
			s.Approvals, s.Expired = nil, nil
		case g.Decision == event.SentBack:
			s.SentBack = &all[i].Record
			if g.Bound.Equal(want) {
				same = s.SentBack
			}
			s.Approvals, s.Expired = nil, nil
		case g.Decision == event.Approved:
			if s.SentBack != nil && g.StepInstanceKey == s.SentBack.StepInstanceKey {
				s.SentBack = nil
			}
			if g.Repeated || !g.Bound.Equal(want) || !admits(rule, g, performers) {
				continue
			}
			same = nil
			s.add(g.Record, atMs)
		}
	}
	if same != nil {
		s.Unchanged, s.SentBack = true, cmp.Or(s.SentBack, same)
	}
	return s
}

// MetWith reports whether enough approvals would count if r, which approves the same outputs now, were
// recorded.
func (s State) MetWith(r Record) bool {
	s.Approvals, s.Expired, s.Unchanged = slices.Clone(s.Approvals), nil, false
	s.add(r, r.AtMs)
	return s.Met()
}

// add counts an approval, once for each person; the last one counts.
func (s *State) add(r Record, atMs int64) {
	samePerson := func(other Record) bool { return SamePerson(other, r) }
	s.Approvals = slices.DeleteFunc(s.Approvals, samePerson)
	s.Expired = slices.DeleteFunc(s.Expired, samePerson)
	if lifetime := s.Rule.LifetimeMs(); lifetime > 0 && atMs >= r.CountsFromMs()+lifetime {
		s.Expired = append(s.Expired, r)
		return
	}
	s.Approvals = append(s.Approvals, r)
}

// SamePerson reports that two decisions are, or can be, of one person: of one account, or not both of
// accounts that are bound to principals. Of two that are signed, the names of the signers decide: any
// account can hand in a signature.
func SamePerson(a, b Record) bool {
	if a.IsSigned() && b.IsSigned() {
		return a.By == b.By
	}
	return !a.Principal || !b.Principal || a.Account == b.Account
}

// admits reports whether a rule counts an approval by its person.
func admits(rule compile.Approval, g Given, performers []config.Account) bool {
	if g.Plain {
		return rule.IsZero()
	}
	return (len(rule.Approvers) == 0 || len(Meets(rule, g.Roles)) > 0) &&
		(!rule.NotPerformer || !Performed(performers, g.Account))
}

// UnknownAccount is recorded for an attempt of a process that has no account.
const UnknownAccount = "unknown"

// Performed reports that an account is, or can be, one of those that handed in the outputs: it is not
// known whose account an unknown one is.
func Performed(performers []config.Account, a config.Account) bool {
	return a == "" || slices.Contains(performers, a) || slices.Contains(performers, UnknownAccount)
}

// Meets returns the approvers of a rule that are among names.
func Meets(rule compile.Approval, names []string) (out []string) {
	for _, name := range rule.Approvers {
		if slices.Contains(names, name) {
			out = append(out, name)
		}
	}
	return out
}

// Name is the name of a person who decided, for a sentence.
func Name(by string) string {
	if by == string(event.Human) {
		return "a person"
	}
	return by
}
