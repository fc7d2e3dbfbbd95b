package event

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// OutputChannel is the closed set of where an output goes (locks section 1).
type OutputChannel string

// The output channels.
const (
	Recap    OutputChannel = "recap"
	Artifact OutputChannel = "artifact"
)

// PayloadKind is the closed set of what an output holds.
type PayloadKind string

// The output payload kinds.
const (
	Notes       PayloadKind = "notes"
	ArtifactRef PayloadKind = "artifact_ref"
)

// OutputPayload is notes, or a reference to artifact bytes by their digest.
// ArtifactKind repeats the artifact's own "kind" member, so that what supersedes
// what (R20) can be told without reading artifacts.
type OutputPayload struct {
	ArtifactKind  string       `json:"artifactKind,omitzero"` // additive
	ByteLength    int64        `json:"byteLength,omitzero"`
	ContentType   string       `json:"contentType,omitzero"`
	NotesMarkdown string       `json:"notesMarkdown,omitzero"`
	PayloadKind   PayloadKind  `json:"payloadKind"`
	SHA256        canon.Digest `json:"sha256,omitzero"`
}

// NodeOutputAppended is the one durable write path for a node's results (locks
// section 1). Corrections supersede; nothing is edited.
type NodeOutputAppended struct {
	OutputChannel      OutputChannel `json:"outputChannel"`
	OutputID           id.Output     `json:"outputId"`
	Payload            OutputPayload `json:"payload"`
	SupersedesOutputID *id.Output    `json:"supersedesOutputId,omitzero"` // same node, same channel
}

// Kind is "node_output_appended".
func (NodeOutputAppended) Kind() string { return "node_output_appended" }

// DedupeKey allows one per output id.
func (o NodeOutputAppended) DedupeKey(owner string, _ Scope) string {
	return "node_output_appended:" + owner + ":" + o.OutputID.String()
}

// Check refuses a payload that does not fit its channel, and notes over budget:
// whoever composes the event truncates them before.
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

// SameSort reports that p takes the place of an earlier output: notes that of
// notes, an artifact that of the same kind, or, where both have none, of the same
// content type (R16, R20).
func (p OutputPayload) SameSort(old OutputPayload) bool {
	if p.PayloadKind != old.PayloadKind || p.PayloadKind == Notes {
		return p.PayloadKind == old.PayloadKind
	}
	if p.ArtifactKind != "" || old.ArtifactKind != "" {
		return p.ArtifactKind == old.ArtifactKind
	}
	return p.ContentType == old.ContentType
}
