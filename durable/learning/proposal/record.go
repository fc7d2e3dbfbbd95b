package proposal

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/sorting"
)

// Only the functions below construct records, so that every stored text is redacted
// (docs/design.md#redaction).

// At holds what every record requires: the proposal, the index of the event that will carry
// the record, and the caller's reason, "" if it gave none.
type At struct {
	Proposal id.Proposal
	Ordinal  int64
	Reason   string
}

// CheckReason refuses, with VALIDATION_ERROR, a reason that is too long or not UTF-8.
func CheckReason(given string) error {
	if len(given) > limits.SummaryBytesMax {
		return refuse("reason", atMost(limits.SummaryBytesMax), sized(len(given))).Suggest("Shorten it.")
	}
	if !utf8.ValidString(given) {
		return refuse("reason", "UTF-8", "other bytes")
	}
	return nil
}

// ReasonRedactions returns the places of a reason from which secrets are removed.
func ReasonRedactions(given string) []redact.Finding {
	var found redact.Findings
	found.Text("/reason", given)
	return found.List()
}

// StoredReason returns the reason as it is recorded: redacted, truncated, NoReason if blank.
// It never fails, since the decision that it belongs to has been made.
func (a At) StoredReason() string {
	return cmp.Or(clean(strings.TrimSpace(a.Reason), limits.AuditTextBytesMax), NoReason)
}

// subject returns what every record states.
func (a At) subject() Subject { return Subject{a.Ordinal, a.Proposal, a.StoredReason()} }

// content returns what a draft proposes. The duplicates are sorted and bounded.
func content(d Draft, duplicates []Duplicate) Content {
	return Content{Artifact: d.Artifact, Duplicates: rank(duplicates),
		Rationale: clean(d.Rationale, limits.RationaleBytesMax), Replaces: d.Replaces, Slot: d.Slot,
		Title: clean(d.Title, limits.ProposalTitleBytesMax), Version: d.Version}
}

// Create returns the record of a new proposal.
func Create(at At, d Draft, o Owner, duplicates []Duplicate) Created {
	from := Provenance{SourceRunIDs: append([]id.Run{}, d.SourceRunIDs...),
		SynthesizerModel: clean(d.SynthesizerModel, limits.ActorRefMax)}
	return Created{Subject: at.subject(), Content: content(d, duplicates), Of: d.Kind, Owner: o, Provenance: from}
}

// Revise returns the record of a further revision; number starts at 2.
func Revise(at At, number int64, d Draft, duplicates []Duplicate) Revised {
	return Revised{at.subject(), content(d, duplicates), number}
}

// Consent is the input of Approve: who approved which artifact in place of what, and on which terms.
type Consent struct {
	Seen      canon.Digest
	Replaces  Replaces
	Principal string
	Role      string
	Terms     Terms
	Given     consent.Given
}

// Consent returns the consent of a caller, whom CheckApprove accepts, to the artifact with the digest
// seen under this policy.
func (p Policy) Consent(who Caller, seen canon.Digest) Consent {
	c := Consent{Seen: seen, Principal: p.Principal(who), Role: p.ApproverRole,
		Terms: Terms{PolicyDigest: p.Digest, Quorum: p.Quorum}}
	if p.people.Bound() {
		c.Terms.Account = p.people.AccountOf(who.Party())
	}
	return c
}

// Approve returns the record of a person's consent. store owns the log; the approval's id is derived
// from it like that of the event.
func Approve(store id.Store, at At, c Consent) Approved {
	r := Approved{Subject: at.subject(), ArtifactSHA256: c.Seen, Replaces: c.Replaces, Principal: c.Principal, Role: c.Role, Terms: c.Terms, Given: c.Given}
	r.ApprovalID = id.EventOf(store.String(), r.DedupeKey(store.String(), event.Scope{}))
	return r
}

// Activation is the input of Apply: how an artifact was activated, and which.
type Activation struct {
	Mode         Mode
	Approvals    []id.Event // the ones that counted; none in direct-rbac
	Override     bool
	PolicyDigest canon.Digest
	Principal    string
	Given        consent.Given
	// The artifact of the last revision.
	SHA256   canon.Digest
	Slot     Slot
	Version  string
	Replaces Replaces
}

// Apply returns the record of an activation.
func Apply(at At, a Activation) Applied {
	return Applied{Subject: at.subject(), ApprovalIDs: append([]id.Event{}, a.Approvals...), ArtifactSHA256: a.SHA256,
		InstalledRef: InstalledRef(a.Slot, a.Version, a.SHA256), Mode: a.Mode, Override: a.Override,
		PolicyDigest: a.PolicyDigest, Principal: a.Principal, Replaces: a.Replaces, Slot: a.Slot, Given: a.Given}
}

// Reject returns the record of a refusal.
func Reject(at At) Rejected { return Rejected{at.subject()} }

// Archive returns the record of archiving a proposal.
func Archive(at At) Archived { return Archived{at.subject()} }

// RollBack returns the record of removing an installation from its slot. restored is the
// digest of the artifact that replaces it, zero if none does.
func RollBack(at At, s Slot, restored canon.Digest) RolledBack {
	return RolledBack{Subject: at.subject(), RestoredSHA256: restored, Slot: s}
}

// rank sorts duplicates by descending similarity, then by ref, and bounds their number. The
// order of the input does not matter, so that equal facts give equal records.
func rank(all []Duplicate) []Duplicate {
	out := make([]Duplicate, 0, len(all))
	for _, d := range all {
		out = append(out, Duplicate{Percent: d.Percent, Ref: clean(d.Ref, refBytesMax)})
	}
	sorting.Stable(out,
		func(a, b Duplicate) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Ref, b.Ref)) })
	return out[:min(len(out), limits.DuplicatesMax)]
}

// refuse is VALIDATION_ERROR for one member of a request: which, what it must be and what it
// is.
func refuse(field, expected, got string) *fault.Fault {
	return fault.New(fault.ValidationError, "%s: expected %s, got %s", field, expected, got).
		With("field", field).With("expected", expected).With("got", got)
}

// atMost and sized format a length limit and an actual length.
func atMost(bytes int) string { return fmt.Sprintf("at most %d bytes", bytes) }
func sized(bytes int) string  { return fmt.Sprintf("%d bytes", bytes) }
