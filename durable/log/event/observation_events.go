package event

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// ObservationValue is a scalar with its type.
type ObservationValue struct {
	Type  string `json:"type"` // short_string, git_sha1, sha256, path
	Value string `json:"value"`
}

// ObservationRecorded relates a session to its workspace, for resume and search
// (docs/design.md#observations). Waybill stores the repository root as a hash only; a repo_root in
// plain text is accepted from other programs.
type ObservationRecorded struct {
	Confidence string           `json:"confidence"` // low, med, high
	Key        string           `json:"key"`        // git_branch, git_head_sha, repo_root_hash, repo_root
	Value      ObservationValue `json:"value"`
}

// Kind is "observation_recorded".
func (ObservationRecorded) Kind() string { return "observation_recorded" }

// DedupeKey contains the digest of the value: an observation is recorded once per session.
func (o ObservationRecorded) DedupeKey(owner string, _ Scope) string {
	return "observation_recorded:" + owner + ":" + o.Key + ":" + canon.Sum([]byte(o.Value.Value)).String()
}

var gitSHA1 = pattern.New(`^[0-9a-f]{40}$`)

// Check returns an error for unknown keys, confidences and types, and for values that do not have
// the form or length of their type.
func (o ObservationRecorded) Check(Scope) error {
	return cmp.Or(oneOf("observation key", o.Key, "git_branch", "git_head_sha", "repo_root_hash", "repo_root"),
		oneOf("confidence", o.Confidence, "low", "med", "high"), o.Value.check())
}

// check returns an error for a value that does not have the form or length of its type.
func (v ObservationValue) check() error {
	switch v.Type {
	case "short_string":
		return within("short_string of %d bytes", len(v.Value), 1, limits.ShortStringMax)
	case "git_sha1":
		return errorIf(!gitSHA1.MatchString(v.Value), "git_sha1: want 40 hexadecimal digits")
	case "sha256":
		_, err := canon.ParseDigest(v.Value)
		return err
	case "path":
		return within("path of %d bytes", len(v.Value), 1, limits.PathMax)
	}
	return fmt.Errorf("unknown value type %q", v.Type)
}

// Provenance states how the status of a capability was determined; the members of detail depend
// on kind (docs/design.md#capabilities).
type Provenance struct {
	Detail           ProvenanceDetail `json:"detail"`
	EnforcementGrade string           `json:"enforcementGrade"` // strong, weak: follows from kind
	Kind             string           `json:"kind"`             // probe_step, attempted_use, manual_claim
}

// ProvenanceDetail has the members of all three kinds; CapabilityObserved.Check accepts those of
// the kind only.
type ProvenanceDetail struct {
	AttemptContext  string `json:"attemptContext,omitzero"`
	Claim           string `json:"claim,omitzero"`
	ClaimedBy       string `json:"claimedBy,omitzero"`
	FailureCode     string `json:"failureCode,omitzero"`
	ProbeStepID     string `json:"probeStepId,omitzero"`
	ProbeTemplateID string `json:"probeTemplateId,omitzero"`
	Result          string `json:"result,omitzero"`
}

// CapabilityObserved records the status of a capability and how it was determined.
type CapabilityObserved struct {
	CapObsID   id.CapObs  `json:"capObsId"`
	Capability string     `json:"capability"` // delegation, web_browsing
	Provenance Provenance `json:"provenance"`
	Status     string     `json:"status"` // unknown, available, unavailable
}

// Kind is "capability_observed".
func (CapabilityObserved) Kind() string { return "capability_observed" }

// DedupeKey allows one event per observation id.
func (c CapabilityObserved) DedupeKey(owner string, _ Scope) string {
	return "capability_observed:" + owner + ":" + c.CapObsID.String()
}

// Check returns an error for members outside of the closed sets, and for a grade that does not
// follow from the kind of provenance.
func (c CapabilityObserved) Check(Scope) error {
	return cmp.Or(oneOf("capability", c.Capability, "delegation", "web_browsing"),
		oneOf("status", c.Status, "unknown", "available", "unavailable"), c.Provenance.check())
}

// check compares the detail with a copy that has only the members of the kind: any other member
// makes the two differ.
func (p Provenance) check() error {
	d, grade := p.Detail, "strong"
	result := slices.Contains([]string{"success", "failure"}, d.Result)
	var own ProvenanceDetail
	var err error
	switch p.Kind {
	case "probe_step":
		own = ProvenanceDetail{ProbeTemplateID: d.ProbeTemplateID, ProbeStepID: d.ProbeStepID, Result: d.Result}
		err = errorIf(!result || d.ProbeTemplateID == "" || d.ProbeStepID == "",
			"probe_step wants probeTemplateId, probeStepId and result")
	case "attempted_use":
		own = ProvenanceDetail{AttemptContext: d.AttemptContext, Result: d.Result, FailureCode: d.FailureCode}
		codes := []string{""}
		if d.Result == "failure" {
			codes = []string{"tool_missing", "tool_error", "policy_blocked", "unknown"}
		}
		err = cmp.Or(
			errorIf(!result || !slices.Contains([]string{"workflow_step", "system_probe"}, d.AttemptContext),
				"attempted_use wants attemptContext and result"),
			errorIf(!slices.Contains(codes, d.FailureCode), "attempted_use wants failureCode exactly with result=failure"))
	case "manual_claim":
		grade = "weak"
		own = ProvenanceDetail{ClaimedBy: d.ClaimedBy, Claim: d.Claim}
		err = errorIf(!slices.Contains([]string{"agent", "user"}, d.ClaimedBy) ||
			!slices.Contains([]string{"available", "unavailable"}, d.Claim), "manual_claim wants claimedBy and claim")
	default:
		return fmt.Errorf("unknown provenance %q", p.Kind)
	}
	switch {
	case err != nil:
		return err
	case d != own:
		return fmt.Errorf("provenance %s with members of another kind", p.Kind)
	case p.EnforcementGrade != grade:
		return fmt.Errorf("provenance %s is %s, not %q", p.Kind, grade, p.EnforcementGrade)
	}
	return nil
}
