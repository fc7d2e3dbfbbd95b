package event

import (
	"errors"
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

// NodeOutputAppended records a result of a node. A correction is another event that supersedes it;
// nothing is edited.
type NodeOutputAppended struct {
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
	switch {
	case o.OutputChannel == Recap && p.PayloadKind == Notes:
		if p.NotesMarkdown == "" || len(p.NotesMarkdown) > limits.NotesBytesMax {
			return fmt.Errorf("notes of %d bytes: want 1 to %d", len(p.NotesMarkdown), limits.NotesBytesMax)
		}
		if p != (OutputPayload{PayloadKind: Notes, NotesMarkdown: p.NotesMarkdown}) {
			return errors.New("notes with members of an artifact")
		}
	case o.OutputChannel == Artifact && p.PayloadKind == ArtifactRef:
		if p.SHA256.IsZero() || p.ContentType == "" || p.NotesMarkdown != "" {
			return errors.New("an artifact_ref wants sha256 and contentType, and no notes")
		}
		if p.ByteLength < 1 || p.ByteLength > limits.ArtifactBytesMax {
			return fmt.Errorf("artifact of %d bytes: want 1 to %d", p.ByteLength, limits.ArtifactBytesMax)
		}
	default:
		return fmt.Errorf("payload %q on channel %q", p.PayloadKind, o.OutputChannel)
	}
	if o.SupersedesOutputID != nil && *o.SupersedesOutputID == o.OutputID {
		return errors.New("an output supersedes itself")
	}
	return nil
}

// Replaces reports whether p replaces an earlier output of the node: notes replace notes, an
// artifact one of the same kind or, where both have no kind, of the same content type
// (docs/design.md#requirements-on-the-caller).
func (p OutputPayload) Replaces(old OutputPayload) bool {
	if p.PayloadKind != old.PayloadKind || p.PayloadKind == Notes {
		return p.PayloadKind == old.PayloadKind
	}
	if p.ArtifactKind != "" || old.ArtifactKind != "" {
		return p.ArtifactKind == old.ArtifactKind
	}
	return p.ContentType == old.ContentType
}
