package event

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Severity is the closed set of severities of a gap.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Resolution states whether a gap record opens a gap or resolves one.
type Resolution struct {
	Kind          ResolutionKind `json:"kind"`
	ResolvesGapID *id.Gap        `json:"resolvesGapId,omitzero"`
}

// ResolutionKind is the closed set of kinds of gap records.
type ResolutionKind string

// The resolution kinds.
const (
	Unresolved ResolutionKind = "unresolved"
	Resolves   ResolutionKind = "resolves"
)

// EvidenceRef refers to an event or an output that shows a gap. Exactly the id of its kind is set.
type EvidenceRef struct {
	EventID  *id.Event  `json:"eventId,omitzero"`
	Kind     string     `json:"kind"` // "event" or "output"
	OutputID *id.Output `json:"outputId,omitzero"`
}

// GapRecorded records that something is missing or wrong (docs/design.md#blocked-attempts). A
// record that resolves a gap repeats its reason and pointer, has severity info and is never open
// itself.
type GapRecorded struct {
	EvidenceRefs []EvidenceRef   `json:"evidenceRefs,omitzero"`
	GapID        id.Gap          `json:"gapId"`
	Loop         reason.LoopFact `json:"loop,omitzero"`    // additive
	Pointer      *reason.Pointer `json:"pointer,omitzero"` // additive
	Reason       reason.Code     `json:"reason"`
	Resolution   Resolution      `json:"resolution"`
	Severity     Severity        `json:"severity"`
	Summary      string          `json:"summary"`
}

// Kind is "gap_recorded".
func (GapRecorded) Kind() string { return "gap_recorded" }

// DedupeKey allows one event per gap id.
func (g GapRecorded) DedupeKey(owner string, _ Scope) string {
	return "gap_recorded:" + owner + ":" + g.GapID.String()
}

// Check returns an error for unknown reasons and severities, invalid pointers and evidence, and a
// resolution without the id of another gap.
func (g GapRecorded) Check(Scope) error {
	if !g.Reason.Known() {
		return fmt.Errorf("unknown reason %s", g.Reason)
	}
	err := oneOf("severity", g.Severity, Info, Warning, Critical)
	if err == nil && g.Pointer != nil {
		err = g.Pointer.Check()
	}
	err = cmp.Or(err, g.Loop.Check(), g.Resolution.check(g.GapID))
	for _, ref := range g.EvidenceRefs {
		err = cmp.Or(err, ref.check())
	}
	return cmp.Or(err, within("summary of %d bytes", len(g.Summary), 1, limits.SummaryBytesMax))
}

// check returns an error unless exactly a resolving record has the id of another gap than own.
func (r Resolution) check(own id.Gap) error {
	switch r.Kind {
	case Unresolved:
		return errorIf(r.ResolvesGapID != nil, "an unresolved gap names a gap it resolves")
	case Resolves:
		return errorIf(r.ResolvesGapID == nil || *r.ResolvesGapID == own, "a resolving record wants the id of another gap")
	}
	return fmt.Errorf("unknown resolution %q", r.Kind)
}

// check returns an error unless exactly the id of the kind is set.
func (r EvidenceRef) check() error {
	event := r.Kind == "event" && r.EventID != nil && r.OutputID == nil
	output := r.Kind == "output" && r.OutputID != nil && r.EventID == nil
	if !event && !output {
		return fmt.Errorf("evidence of kind %q wants the id of that kind alone", r.Kind)
	}
	return nil
}

// DivergenceRecorded records that an agent intentionally deviated from the workflow, or where a replay departs from
// its source.
type DivergenceRecorded struct {
	DivergenceID  id.Divergence    `json:"divergenceId"`
	Reason        DivergenceReason `json:"reason"`
	RelatedStepID string           `json:"relatedStepId,omitzero"`
	// Replay is where a replay departs; nil for what an agent reports. Additive.
	Replay  *ReplayPoint `json:"replay,omitzero"`
	Summary string       `json:"summary"`
}

// ReplayPoint is the place at which a replay departs from its source (docs/design.md#openwop-forks).
type ReplayPoint struct {
	// Kind is how the run event differs; "" where the source has no input for the step.
	Kind ReplayDifference `json:"kind,omitzero"`
	// OriginalEventID is the id of the source's run event at the sequence, "" if it has none.
	OriginalEventID string `json:"originalEventId,omitzero"`
	// Sequence is that of the run event which differs, or of the first one that cannot follow.
	Sequence int64 `json:"sequence"`
}

// ReplayDifference is how a run event of a replay differs from the source's at its sequence, a closed set.
type ReplayDifference string

// The differences.
const (
	DiffersInOutput ReplayDifference = "output"        // the same type, with another node or payload
	DiffersMissing  ReplayDifference = "missing"       // the replay has no event there
	DiffersExtra    ReplayDifference = "extra"         // the source has no event there
	DiffersInType   ReplayDifference = "type-mismatch" // an event of another type
)

// ReplayDifferences returns the closed set.
func ReplayDifferences() []ReplayDifference {
	return []ReplayDifference{DiffersInOutput, DiffersMissing, DiffersExtra, DiffersInType}
}

// check returns an error for a point that does not fit the reason it is recorded for.
func (p *ReplayPoint) check(why DivergenceReason) error {
	if p == nil {
		return oneOf("reason", why, DivergenceReasons()...)
	}
	return cmp.Or(oneOf("reason", why, ReplayDiverged, ReplaySourceMissing),
		errorIf((p.Kind == "") != (why == ReplaySourceMissing), "a replay point without a kind, or with one that is not asked for"),
		oneOf("kind", p.Kind, append(ReplayDifferences(), "")...),
		within("originalEventId of %d bytes", len(p.OriginalEventID), 0, limits.RunEventIDMax),
		errorIf(p.Sequence < 0, "a negative sequence"))
}

// DivergenceReason is the closed set of reasons for a deviation.
type DivergenceReason string

// The reasons. Those of what a replay records are none that an agent can report.
const (
	MissingUserContext    DivergenceReason = "missing_user_context"
	CapabilityUnavailable DivergenceReason = "capability_unavailable"
	EfficiencySkip        DivergenceReason = "efficiency_skip"
	SafetyStop            DivergenceReason = "safety_stop"
	PolicyConstraint      DivergenceReason = "policy_constraint"
	// ReplayDiverged: a run event of the replay is not the source's.
	ReplayDiverged DivergenceReason = "replay_diverged"
	// ReplaySourceMissing: the source has no input, or not any more, for what would follow.
	ReplaySourceMissing DivergenceReason = "replay_source_missing"
)

// DivergenceReasons lists the closed set that agents report.
func DivergenceReasons() []DivergenceReason {
	return []DivergenceReason{MissingUserContext, CapabilityUnavailable, EfficiencySkip, SafetyStop, PolicyConstraint}
}

// Kind is "divergence_recorded".
func (DivergenceRecorded) Kind() string { return "divergence_recorded" }

// DedupeKey allows one event per divergence id.
func (d DivergenceRecorded) DedupeKey(owner string, _ Scope) string {
	return "divergence_recorded:" + owner + ":" + d.DivergenceID.String()
}

// Check returns an error for unknown reasons, invalid step ids and a summary that is empty or too
// long.
func (d DivergenceRecorded) Check(Scope) error {
	err := d.Replay.check(d.Reason)
	if err == nil && d.RelatedStepID != "" && !reason.ValidStepID(d.RelatedStepID) {
		err = fmt.Errorf("relatedStepId %q: want only a-z 0-9 _ -", d.RelatedStepID)
	}
	return cmp.Or(err, within("summary of %d bytes", len(d.Summary), 1, limits.SummaryBytesMax))
}
