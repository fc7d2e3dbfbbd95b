// Package document declares the JSON documents that commands define themselves; all other
// documents are types of package engine. Package schema derives JSON Schemas from both.
// Member names are part of the interface for programs and must not change.
package document

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Automations is the document "automations": the automations that are due, or all, and the
// runs that were started from them.
type Automations struct {
	learning.AutomationList
	Started []AutomationStart `json:"started,omitzero"`
}

// AutomationStart is the result of starting one automation: session and run, or the error.
type AutomationStart struct {
	AutomationID string           `json:"automationId"`
	SessionID    id.Session       `json:"sessionId,omitzero"`
	RunID        id.Run           `json:"runId,omitzero"`
	Error        *AutomationFault `json:"error,omitzero"`
}

// AutomationFault is the reason why an automation could not be started.
type AutomationFault struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// Completion is the document "completion": the script for one shell.
type Completion struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

// Payload is the document "payload": what a person signs to consent to an operation. The message of the
// signature is its canonical form, whose digest is SHA256.
type Payload struct {
	Payload canon.Value  `json:"payload"`
	SHA256  canon.Digest `json:"sha256"`
}

// BundleVerification is the document "verification" of a bundle. Signer is who signed it, if the keys that may
// sign were named and the signature counts.
type BundleVerification struct {
	verify.Verification
	Signer *consent.By `json:"signer,omitzero"`
}

// Settings is the document "config": one key, or all keys.
type Settings struct {
	Settings []config.Setting `json:"settings"`
}

// Error is the member "error" of the document "error": a fault for programs. Retry states
// whether the same call may succeed later (docs/design.md#errors).
type Error struct {
	Code       fault.Code     `json:"code"`
	Message    string         `json:"message"`
	Retry      fault.Retry    `json:"retry"`
	Suggestion string         `json:"suggestion"`
	Details    map[string]any `json:"details,omitzero"`
}

// Trust is the document "trust". Commands are those that trust allows to run. Entry is the
// recorded entry; it is absent for a workflow without commands, for which nothing is recorded.
type Trust struct {
	Trusted      bool              `json:"trusted"`
	WorkflowID   string            `json:"workflowId"`
	WorkflowHash canon.Digest      `json:"workflowHash"`
	Entry        *trust.Entry      `json:"entry,omitzero"`
	Commands     []catalog.Command `json:"commands"`
}

// Trusted is the document "trusted": the trusted versions of workflows, oldest first.
type Trusted struct {
	Entries []TrustedRow `json:"trusted"`
}

// TrustedRow is one trusted version. Source is where a file of that version is found now: plugin:NAME
// for an attached folder, else its kind; "" if none is found.
type TrustedRow struct {
	trust.Entry
	Source string `json:"source,omitzero"`
}

// Build is the document "version".
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitzero"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Compiled is the document "compiled": the compiled workflow that a run is pinned to, and its
// hash.
type Compiled struct {
	WorkflowHash canon.Digest     `json:"workflowHash"`
	Workflow     compile.Document `json:"workflow"`
	// Against is present where a run was named.
	Against *Against `json:"against,omitzero"`
}

// Against is the version to which a run is pinned, and the unified difference from it to the workflow: no
// lines if they are equal.
type Against struct {
	RunID        id.Run       `json:"runId"`
	WorkflowHash canon.Digest `json:"workflowHash"`
	Diff         []string     `json:"diff"`
}

// WorkflowFile is the document "workflow_file": the file that was written. File has forward
// slashes on every system.
type WorkflowFile struct {
	WorkflowID string `json:"workflowId"`
	File       string `json:"file"`
	// Tests is the file of tests beside it, if one was written.
	Tests string `json:"tests,omitzero"`
	// Warnings are what of a recorded run the workflow and its test do not have.
	Warnings []string `json:"warnings,omitzero"`
}

// Validation is the document "validation". OK is false if a problem has severity error;
// warnings alone leave it true.
type Validation struct {
	OK           bool              `json:"ok"`
	WorkflowID   string            `json:"workflowId"`
	SourceKind   source.SourceKind `json:"sourceKind"`
	SourceRef    string            `json:"sourceRef"`
	Source       string            `json:"source,omitzero"`
	WorkflowHash canon.Digest      `json:"workflowHash,omitzero"`
	Problems     []source.Problem  `json:"problems"`
}

// ArtifactFile is the document "artifact_file": where the bytes of an artifact were written.
type ArtifactFile struct {
	SHA256 canon.Digest `json:"sha256"`
	File   string       `json:"file"`
	Bytes  int64        `json:"bytes"`
}
