package event

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// OutputChannel is the closed set of channels of an output.
type OutputChannel string

// The output channels.
const (
	Recap    OutputChannel = "recap"
	Artifact OutputChannel = "artifact"
)

// PayloadKind is the closed set of contents of an output.
type PayloadKind string

// The output payload kinds.
const (
	Notes       PayloadKind = "notes"
	ArtifactRef PayloadKind = "artifact_ref"
)

// OutputPayload is notes, or a reference to artifact bytes by their digest. ArtifactKind repeats
// the member "kind" of the artifact, so that readers know which output replaces which without
// reading artifacts (docs/decisions/0004-artifact-kind-in-the-output-event.md).
type OutputPayload struct {
	ArtifactKind  string       `json:"artifactKind,omitzero"` // additive
	ByteLength    int64        `json:"byteLength,omitzero"`
	ContentType   string       `json:"contentType,omitzero"`
	NotesMarkdown string       `json:"notesMarkdown,omitzero"`
	PayloadKind   PayloadKind  `json:"payloadKind"`
	SHA256        canon.Digest `json:"sha256,omitzero"`
}

// FullNotesKind is the artifact kind of notes that exceed limits.NotesBytesMax: the recap holds their
// beginning, the artifact all of them. Only the engine writes it (docs/design.md#whole-notes).
const FullNotesKind = "wr.full_notes"

// FullNotesType is the content type of an artifact of FullNotesKind.
const FullNotesType = "text/markdown"

// DecisionKind is the artifact kind of a person's decision about a step (docs/design.md#decisions).
const DecisionKind = "wr.human_decision"

// ApprovalKind is the artifact kind of a person's approval, which is written beside the decision.
const ApprovalKind = "wr.human_approval"

// DecisionWord is the closed set of decisions about a step that waits for a person.
type DecisionWord string

// The decisions.
const (
	Approved DecisionWord = "approved"
	SentBack DecisionWord = "sent_back"
	Denied   DecisionWord = "denied"
)

// StepDecision is what a person decided about a step. The artifact of DecisionKind has it too, with
// what it is bound to; it is repeated in the event, so that a reader of the log alone knows it.
type StepDecision struct {
	// By is the principal of the person's account, else the name that the person gave, else "human".
	By       string       `json:"by"`
	Decision DecisionWord `json:"decision"`
	Reason   string       `json:"reason,omitzero"` // for an approval: the comment
	// ShownDigest is the digest of what was shown (docs/format/artifacts.md).
	ShownDigest canon.Digest `json:"shownDigest"`
}

// Check returns an error for a decision out of the closed set, and for a text over its limit.
func (d StepDecision) Check() error {
	switch d.Decision {
	case Approved:
	case SentBack, Denied:
		if d.Reason == "" {
			return fmt.Errorf("decision %q without a reason", d.Decision)
		}
	default:
		return fmt.Errorf("decision %q", d.Decision)
	}
	return cmp.Or(within("by of %d bytes", len(d.By), 1, limits.ActorRefMax),
		within("reason of %d bytes", len(d.Reason), 0, limits.DecisionReasonBytesMax),
		errorIf(d.ShownDigest.IsZero(), "a decision without shownDigest"))
}

// NodeOutputAppended records a result of a node. A correction is another event that supersedes it;
// nothing is edited.
type NodeOutputAppended struct {
	// Decision is what the artifact decides, if a person's decision wrote it: an artifact of
	// DecisionKind, or the approval beside it. Approvals of older versions have none.
	Decision           *StepDecision `json:"decision,omitzero"`
	OutputChannel      OutputChannel `json:"outputChannel"`
	OutputID           id.Output     `json:"outputId"`
	Payload            OutputPayload `json:"payload"`
	SupersedesOutputID *id.Output    `json:"supersedesOutputId,omitzero"` // same node, same channel
}

// Kind is "node_output_appended".
func (NodeOutputAppended) Kind() string { return "node_output_appended" }

// DedupeKey allows one event per output id.
func (o NodeOutputAppended) DedupeKey(owner string, _ Scope) string {
	return "node_output_appended:" + owner + ":" + o.OutputID.String()
}

// Check returns an error for a payload that does not belong to its channel, and for notes that
// exceed limits.NotesBytesMax: the caller truncates them before.
func (o NodeOutputAppended) Check(Scope) error {
	p := o.Payload
	var err error
	switch {
	case o.OutputChannel == Recap && p.PayloadKind == Notes:
		err = cmp.Or(within("notes of %d bytes", len(p.NotesMarkdown), 1, limits.NotesBytesMax),
			errorIf(p != OutputPayload{PayloadKind: Notes, NotesMarkdown: p.NotesMarkdown},
				"notes with members of an artifact"))
	case o.OutputChannel == Artifact && p.PayloadKind == ArtifactRef:
		err = cmp.Or(errorIf(p.SHA256.IsZero() || p.ContentType == "" || p.NotesMarkdown != "",
			"an artifact_ref wants sha256 and contentType, and no notes"),
			within("artifact of %d bytes", p.ByteLength, 1, limits.ArtifactBytesMax))
	default:
		err = fmt.Errorf("payload %q on channel %q", p.PayloadKind, o.OutputChannel)
	}
	if o.Decision != nil {
		err = cmp.Or(err, o.Decision.Check(),
			errorIf(p.ArtifactKind != DecisionKind && p.ArtifactKind != ApprovalKind,
				"a decision in an artifact of another kind"))
	}
	return cmp.Or(err, errorIf(o.SupersedesOutputID != nil && *o.SupersedesOutputID == o.OutputID,
		"an output supersedes itself"))
}

// Replaces reports whether p replaces an earlier output of the node: notes replace notes, an
// artifact one of the same kind or, where both have no kind, of the same content type
// (docs/design.md#requirements-on-the-caller). Decisions of people replace nothing.
func (p OutputPayload) Replaces(old OutputPayload) bool {
	if p.ArtifactKind == DecisionKind || old.ArtifactKind == DecisionKind {
		return false // decisions are facts about outputs, and none is one
	}
	if p.PayloadKind != old.PayloadKind || p.PayloadKind == Notes {
		return p.PayloadKind == old.PayloadKind
	}
	if p.ArtifactKind != "" || old.ArtifactKind != "" {
		return p.ArtifactKind == old.ArtifactKind
	}
	return p.ContentType == old.ContentType
}

// IsFullNotes reports whether p refers to the whole text of notes.
func (p OutputPayload) IsFullNotes() bool {
	return p.ArtifactKind == FullNotesKind && p.ContentType == FullNotesType
}

// Voids reports whether p ends the validity of an earlier output of the node without being of its
// sort: new notes void the whole text of the notes before (docs/design.md#whole-notes).
func (p OutputPayload) Voids(old OutputPayload) bool {
	return p.PayloadKind == Notes && old.IsFullNotes()
}
