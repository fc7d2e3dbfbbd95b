// Package capabilities builds the document that describes what a store provides, in the shape
// of OpenWOP's capabilities document (docs/design.md#annotations, docs/design.md#proposals), and the one that a
// host of the protocol serves (docs/design.md#openwop).
//
// Both list only what the configuration enables: a feature that is turned off leaves no trace
// in the document. The package reads no store and answers no request.
package capabilities

import (
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/config"
)

// RequestBodyBytesMax is the size of a request that the HTTP host accepts.
const RequestBodyBytesMax = 1 << 20

// Document is the capabilities document. Waybill has no envelopes and no clarification
// rounds, but the protocol requires those members, so they are written empty or zero.
type Document struct {
	ProtocolVersion       string           `json:"protocolVersion"`
	Implementation        Implementation   `json:"implementation"`
	EventLogSchemaVersion int              `json:"eventLogSchemaVersion"`
	SupportedEnvelopes    []string         `json:"supportedEnvelopes"`
	SchemaVersions        map[string]int64 `json:"schemaVersions"`
	Limits                Limits           `json:"limits"`
	Feedback              Feedback         `json:"feedback"`
	Host                  Host             `json:"host"`
	Agents                *Agents          `json:"agents,omitzero"`
}

// Implementation names the program and its version.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Host repeats families under the names that earlier versions of the protocol gave them.
type Host struct {
	Feedback Feedback `json:"feedback"`
}

// Limits are the limits that a caller can reach. The counts of rounds and envelopes are
// always 0; MaxRequestBodyBytes is RequestBodyBytesMax.
type Limits struct {
	ClarificationRounds int64 `json:"clarificationRounds"`
	SchemaRounds        int64 `json:"schemaRounds"`
	EnvelopesPerTurn    int64 `json:"envelopesPerTurn"`
	MaxRequestBodyBytes int64 `json:"maxRequestBodyBytes"`
}

// Feedback lists the target kinds and signal kinds that annotations may have; the lists are
// absent where Supported is false.
type Feedback struct {
	Supported bool                  `json:"supported"`
	Targets   []feedback.TargetKind `json:"targets,omitzero"`
	Signals   []feedback.SignalKind `json:"signals,omitzero"`
}

// Agents groups what agents may use; the member is absent where proposals are disabled.
type Agents struct {
	Proposals Proposals `json:"proposals"`
}

// Proposals lists the artifact kinds that may be proposed and the activation mode: "off",
// "direct-rbac" or "approval-gated".
type Proposals struct {
	ArtifactKinds        []proposal.Kind `json:"artifactKinds"`
	DuplicationDetection bool            `json:"duplicationDetection"`
	Activation           string          `json:"activation"`
}

// DocumentOf returns the document of a store with this configuration; version is that of the running
// program.
func DocumentOf(c config.Config, version string) Document {
	d := Document{ProtocolVersion: openwop.ProtocolVersion, Implementation: Implementation{"waybill", version},
		// The version of the mapping to run events, not that of the program.
		EventLogSchemaVersion: openwop.EventLogSchemaVersion,
		SupportedEnvelopes:    []string{}, SchemaVersions: map[string]int64{},
		Limits: Limits{MaxRequestBodyBytes: RequestBodyBytesMax}}
	if c.Feedback() {
		d.Feedback = Feedback{Supported: true, Targets: feedback.Targets(), Signals: feedback.Signals()}
		d.Host.Feedback = d.Feedback
	}
	if c.Proposals() {
		d.Agents = &Agents{Proposals{ArtifactKinds: proposal.Kinds(), DuplicationDetection: true,
			Activation: c.ProposalsActivation()}}
	}
	return d
}
