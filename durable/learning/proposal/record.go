package proposal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Only the functions here make records, so that no text gets past the redaction (R30).

// At is what every record needs: its proposal, the index that its event will have, and
// why, as a person said it.
type At struct {
	Proposal id.Proposal
	Ordinal  int64
	Reason   string
}

// CheckReason refuses, with VALIDATION_ERROR, a reason that cannot be recorded as it is.
func CheckReason(given string) error {
	if len(given) > limits.SummaryBytesMax {
		return refuse("reason", atMost(limits.SummaryBytesMax), sized(len(given))).Suggest("Say it shorter.")
	}
	if !utf8.ValidString(given) {
		return refuse("reason", "UTF-8", "other bytes")
	}
	return nil
}

// said is the reason as it is recorded. What is already decided is decided: one over
// budget is cut.
func (a At) said() string {
	return cmp.Or(clean(strings.TrimSpace(a.Reason), limits.AuditTextBytesMax), NoReason)
}

// Create is the record of a new proposal.
func Create(at At, d Draft, o Owner, likenesses []Duplicate) Created {
	from := Provenance{SourceRunIDs: slices.Clone(d.SourceRunIDs),
		SynthesizerModel: clean(d.SynthesizerModel, limits.ActorRefMax)}
	if from.SourceRunIDs == nil {
		from.SourceRunIDs = []id.Run{}
	}
	return Created{Artifact: d.Artifact, Duplicates: rank(likenesses), Of: d.Kind, Ordinal: at.Ordinal, Owner: o,
		ProposalID: at.Proposal,
		Provenance: from, Rationale: clean(d.Rationale, limits.RationaleBytesMax), Reason: at.said(), Slot: d.Slot,
		Title: clean(d.Title, limits.ProposalTitleBytesMax), Version: d.Version}
}

// Revise is the record of a further revision; number counts from 2.
func Revise(at At, number int64, d Draft, likenesses []Duplicate) Revised {
	return Revised{Artifact: d.Artifact, Duplicates: rank(likenesses), Ordinal: at.Ordinal, ProposalID: at.Proposal,
		Rationale: clean(d.Rationale, limits.RationaleBytesMax), Reason: at.said(), Revision: number, Slot: d.Slot,
		Title: clean(d.Title, limits.ProposalTitleBytesMax), Version: d.Version}
}

// Approve is the record of a person's consent to the bytes that they have seen, in the
// log of a store.
func Approve(store id.Store, at At, by event.Actor, seen canon.Digest, role string) Approved {
	r := Approved{ArtifactSHA256: seen, Ordinal: at.Ordinal, Principal: NameOf(by), ProposalID: at.Proposal,
		Reason: at.said(), Role: role}
	r.ApprovalID = id.EventOf(store.String(), r.DedupeKey(store.String(), event.Scope{}))
	return r
}

// Activation is how something came to be applied.
type Activation struct {
	Mode      Mode
	Approvals []id.Event // those that counted; none in direct-rbac
	Override  bool
	By        event.Actor
	// What is installed: the last revision's.
	SHA256  canon.Digest
	Slot    Slot
	Version string
}

// Apply is the record of an activation.
func Apply(at At, a Activation) Applied {
	ids := slices.Clone(a.Approvals)
	if ids == nil {
		ids = []id.Event{}
	}
	return Applied{ApprovalIDs: ids, ArtifactSHA256: a.SHA256, InstalledRef: InstalledRef(a.Slot, a.Version, a.SHA256),
		Mode:    a.Mode,
		Ordinal: at.Ordinal, Override: a.Override, Principal: NameOf(a.By), ProposalID: at.Proposal, Reason: at.said(),
		Slot: a.Slot}
}

// Reject is the record of a refusal.
func Reject(at At) Rejected {
	return Rejected{Ordinal: at.Ordinal, ProposalID: at.Proposal, Reason: at.said()}
}

// Archive is the record of a proposal that was put away.
func Archive(at At) Archived {
	return Archived{Ordinal: at.Ordinal, ProposalID: at.Proposal, Reason: at.said()}
}

// RollBack is the record of an installation that was taken out of its slot again, and of
// what came back in its place; zero where nothing did.
func RollBack(at At, s Slot, restored canon.Digest) RolledBack {
	return RolledBack{Ordinal: at.Ordinal, ProposalID: at.Proposal, Reason: at.said(), RestoredSHA256: restored,
		Slot: s}
}

// rank puts likenesses in order, the nearest first and no more than are told. Equal ones
// stand by their refs, so that a record does not depend on how they were found.
func rank(all []Duplicate) []Duplicate {
	out := make([]Duplicate, 0, len(all))
	for _, d := range all {
		out = append(out, Duplicate{Percent: d.Percent, Ref: clean(d.Ref, refBytesMax)})
	}
	slices.SortStableFunc(out,
		func(a, b Duplicate) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Ref, b.Ref)) })
	return out[:min(len(out), limits.DuplicatesMax)]
}

func cut(s string, bytesMax int) string { return reason.Truncate(s, bytesMax) }

// refuse names what was wrong with one thing that was sent: the field, what it had to be
// and what it was.
func refuse(field, expected, got string) *fault.Fault {
	return fault.New(fault.ValidationError, "%s: expected %s, got %s", field, expected, got).
		With("field", field).With("expected", expected).With("got", got)
}

// atMost and sized are an expectation about a length, and what it met.
func atMost(bytes int) string { return fmt.Sprintf("at most %d bytes", bytes) }
func sized(bytes int) string  { return fmt.Sprintf("%d bytes", bytes) }
