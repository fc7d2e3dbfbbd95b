package event

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// IntentAckPending is the only intent: acknowledge the pending step.
const IntentAckPending = "ack_pending"

// OutcomeKind is the closed set of results of an attempt.
type OutcomeKind string

// The outcome kinds.
const (
	Advanced OutcomeKind = "advanced"
	Blocked  OutcomeKind = "blocked"
)

// AdvanceOutcome is the result of an attempt: toNodeId when advanced, blockers when blocked.
type AdvanceOutcome struct {
	Blockers *reason.Report `json:"blockers,omitzero"`
	Kind     OutcomeKind    `json:"kind"`
	ToNodeID *id.Node       `json:"toNodeId,omitzero"`
}

// AdvancedTo returns the outcome of an accepted attempt.
func AdvancedTo(n id.Node) AdvanceOutcome { return AdvanceOutcome{Kind: Advanced, ToNodeID: &n} }

// BlockedBy returns the outcome of a refused attempt.
func BlockedBy(r reason.Report) AdvanceOutcome { return AdvanceOutcome{Kind: Blocked, Blockers: &r} }

// AdvanceRecorded is the durable result of one attempt at a node (docs/design.md#answers).
// RequestDigest is the digest of the caller's request, by which a retry is distinguished from
// another request with the same token.
type AdvanceRecorded struct {
	// Account is the account that made the attempt, where the step may not be approved by the one who
	// performed it (docs/design.md#decisions).
	Account       string         `json:"account,omitzero"` // additive
	AttemptID     id.Attempt     `json:"attemptId"`
	Elicited      *Elicited      `json:"elicited,omitzero"` // additive
	Response      *Response      `json:"response,omitzero"` // additive
	Intent        string         `json:"intent"`
	Outcome       AdvanceOutcome `json:"outcome"`
	RequestDigest canon.Digest   `json:"requestDigest,omitzero"` // additive
	// Traceparent is the trace context that the caller sent (W3C Trace Context), for finding the attempt in traces.
	Traceparent string            `json:"traceparent,omitzero"` // additive
	Warnings    []DecisionWarning `json:"warnings,omitzero"`    // additive
}

// Kind is "advance_recorded".
func (AdvanceRecorded) Kind() string { return "advance_recorded" }

// DedupeKey allows one outcome per node and attempt, so that a retry records nothing.
func (a AdvanceRecorded) DedupeKey(owner string, s Scope) string {
	return "advance_recorded:" + owner + ":" + s.NodeID.String() + ":" + a.AttemptID.String()
}

// Check returns an error for an outcome whose members do not belong to its kind.
func (a AdvanceRecorded) Check(Scope) error {
	o := a.Outcome
	err := cmp.Or(oneOf("intent", a.Intent, IntentAckPending), oneOf("outcome", o.Kind, Advanced, Blocked),
		checkWarnings(a.Warnings), within("account of %d bytes", len(a.Account), 0, limits.ActorRefMax),
		a.Elicited.Check(), a.Response.Check(), errorIf(a.Traceparent != "" && !ValidTraceparent(a.Traceparent), "a traceparent of another form"))
	switch {
	case err != nil:
		return err
	case o.Kind == Advanced:
		return errorIf(o.ToNodeID == nil || o.Blockers != nil, "an advanced outcome wants toNodeId alone")
	case o.Blockers == nil || o.ToNodeID != nil:
		return errors.New("a blocked outcome wants blockers alone")
	}
	return o.Blockers.Check()
}

// ContextSource is the closed set of origins of context (docs/design.md#context).
type ContextSource string

// The context sources.
const (
	ContextInitial    ContextSource = "initial"
	ContextAgentDelta ContextSource = "agent_delta"
	ContextMerge      ContextSource = "merge"
)

// ContextSet stores a context delta; null members delete (docs/design.md#context). NodeID is the
// node at which the delta was submitted, so that it does not apply to other branches
// (docs/decisions/0002-context-deltas-name-the-new-node.md).
type ContextSet struct {
	Context   canon.Value   `json:"context"` // an object
	ContextID id.Context    `json:"contextId"`
	NodeID    *id.Node      `json:"nodeId,omitzero"` // additive
	Source    ContextSource `json:"source"`
}

// Kind is "context_set".
func (ContextSet) Kind() string { return "context_set" }

// DedupeKey allows one event per context id.
func (c ContextSet) DedupeKey(owner string, _ Scope) string {
	return "context_set:" + owner + ":" + c.ContextID.String()
}

// Check returns an error for an unknown source and for invalid context.
func (c ContextSet) Check(Scope) error {
	return cmp.Or(oneOf("source", c.Source, ContextInitial, ContextAgentDelta, ContextMerge), CheckContext(c.Context))
}

// GivenKeys returns the keys that have a value after a delta, in order of bytes: those of given, with
// the keys of the delta, whose nulls take a key back. given is not modified.
func GivenKeys(given []string, delta canon.Value) []string {
	given = append(make([]string, 0, len(given)+delta.Len()), given...)
	for i := range delta.Len() {
		at, has := slices.BinarySearch(given, delta.Key(i))
		switch null := delta.Item(i).IsNull(); {
		case has && null:
			given = slices.Delete(given, at, at+1)
		case !has && !null:
			given = slices.Insert(given, at, delta.Key(i))
		}
	}
	return given
}

// PreferencesChanged attaches changed preferences to a node (docs/design.md#preferences). Effective
// has all preferences after the change, so that readers do not have to apply deltas.
type PreferencesChanged struct {
	ChangeID  id.Change          `json:"changeId"`
	Delta     []PreferenceChange `json:"delta"`
	Effective Preferences        `json:"effective"`
	Source    PreferenceSource   `json:"source"`
}

// PreferenceSource is the closed set of origins of a preference change.
type PreferenceSource string

// The preference sources.
const (
	FromUser           PreferenceSource = "user"
	FromRecommendation PreferenceSource = "workflow_recommendation"
	FromSystem         PreferenceSource = "system"
)

// Kind is "preferences_changed".
func (PreferencesChanged) Kind() string { return "preferences_changed" }

// DedupeKey allows one event per change id.
func (p PreferencesChanged) DedupeKey(owner string, _ Scope) string {
	return "preferences_changed:" + owner + ":" + p.ChangeID.String()
}

// Check returns an error for an empty delta, a repeated key, and effective preferences that do not
// include the delta.
func (p PreferencesChanged) Check(Scope) error {
	if err := cmp.Or(oneOf("source", p.Source, FromUser, FromRecommendation, FromSystem),
		errorIf(len(p.Delta) == 0, "delta is empty")); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range p.Delta {
		if seen[c.Key] {
			return fmt.Errorf("delta names %q twice", c.Key)
		}
		seen[c.Key] = true
		if after, err := p.Effective.Apply(c); err != nil || after != p.Effective {
			return fmt.Errorf("delta %s=%s does not show in effective", c.Key, c.Value)
		}
	}
	return p.Effective.Check()
}
