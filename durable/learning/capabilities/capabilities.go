// Package capabilities is what a store tells others that it provides, in the shape of
// OpenWOP's capabilities document: exactly what is there, and nothing that a family
// which is turned off would have (RFC 0056 A, RFC 0096 A).
package capabilities

import (
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/store/config"
)

// protocolVersion is the version of OpenWOP whose shapes are meant.
const protocolVersion = "1.0"

// Document is the capabilities document. Waybill knows no envelopes and asks no rounds of
// anybody; the protocol wants those members to be there all the same.
type Document struct {
	ProtocolVersion       string           `json:"protocolVersion"`
	Implementation        Implementation   `json:"implementation"`
	EventLogSchemaVersion int              `json:"eventLogSchemaVersion"`
	SupportedEnvelopes    []string         `json:"supportedEnvelopes"`
	SchemaVersions        map[string]int64 `json:"schemaVersions"`
	Limits                Limits           `json:"limits"`
	Feedback              Feedback         `json:"feedback"`
	Agents                *Agents          `json:"agents,omitzero"`
}

// Implementation says which program answers.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Limits are those that a caller can run into.
type Limits struct {
	ClarificationRounds int64 `json:"clarificationRounds"`
	SchemaRounds        int64 `json:"schemaRounds"`
	EnvelopesPerTurn    int64 `json:"envelopesPerTurn"`
	MaxRequestBodyBytes int64 `json:"maxRequestBodyBytes"`
}

// Feedback says what annotations may be about, and what they may say.
type Feedback struct {
	Supported bool                  `json:"supported"`
	Targets   []feedback.TargetKind `json:"targets,omitzero"`
	Signals   []feedback.SignalKind `json:"signals,omitzero"`
}

// Agents is what there is for agents.
type Agents struct {
	Proposals Proposals `json:"proposals"`
}

// Proposals says what may be proposed, and how it is activated.
type Proposals struct {
	ArtifactKinds        []proposal.Kind `json:"artifactKinds"`
	DuplicationDetection bool            `json:"duplicationDetection"`
	Activation           string          `json:"activation"`
}

// Of is the document of a store that is configured so, answered by this version.
func Of(c config.Config, version string) Document {
	d := Document{ProtocolVersion: protocolVersion, Implementation: Implementation{"waybill", version},
		EventLogSchemaVersion: 1,
		SupportedEnvelopes:    []string{}, SchemaVersions: map[string]int64{},
		Limits: Limits{MaxRequestBodyBytes: limits.MCPMessageBytesMax}}
	if c.Feedback() {
		d.Feedback = Feedback{Supported: true, Targets: feedback.Targets(), Signals: feedback.Signals()}
	}
	if c.Proposals() {
		d.Agents = &Agents{Proposals{ArtifactKinds: proposal.Kinds(), DuplicationDetection: true,
			Activation: c.ProposalsActivation()}}
	}
	return d
}
