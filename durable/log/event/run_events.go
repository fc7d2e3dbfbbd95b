package event

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// SessionCreated marks the existence of a session; it is event 0 of its log.
type SessionCreated struct {
	ImportedFrom *ImportedFrom `json:"importedFrom,omitzero"` // additive
}

// ImportedFrom identifies the session from which an import under new ids was made. Head is the
// digest of its log's head.
type ImportedFrom struct {
	StoreID   id.Store     `json:"storeId"`
	SessionID id.Session   `json:"sessionId"`
	Head      canon.Digest `json:"head"`
}

// Kind is "session_created".
func (SessionCreated) Kind() string { return "session_created" }

// DedupeKey allows one event per session.
func (SessionCreated) DedupeKey(owner string, _ Scope) string { return "session_created:" + owner }

// Check returns nil: every decoded value is valid.
func (SessionCreated) Check(Scope) error { return nil }

// SourceKind is the closed set of sources of a workflow.
type SourceKind string

// The source kinds.
const (
	SourceBundled SourceKind = "bundled"
	SourceUser    SourceKind = "user"
	SourceProject SourceKind = "project"
	SourceRemote  SourceKind = "remote"
	SourcePlugin  SourceKind = "plugin"
)

// RunStarted pins a run to a compiled workflow. The members from ForkedFrom on are additive
// (docs/design.md#ends-and-branches).
type RunStarted struct {
	WorkflowID         string       `json:"workflowId"`
	WorkflowHash       canon.Digest `json:"workflowHash"`
	WorkflowSourceKind SourceKind   `json:"workflowSourceKind"`
	WorkflowSourceRef  string       `json:"workflowSourceRef"` // opaque; paths are relative
	ForkedFrom         *ForkedFrom  `json:"forkedFrom,omitzero"`
	Goal               string       `json:"goal,omitzero"` // what the run is for
	Options            *RunOptions  `json:"options,omitzero"`
	Parent             *id.Run      `json:"parent,omitzero"`
	// Signers states whose signatures decided about the run in the store where it was started, nil without
	// signers. Additive.
	Signers *SignersMark `json:"signers,omitzero"`
	Tags    []string     `json:"tags,omitzero"`
	Title   string       `json:"title,omitzero"`
	// Warnings are those of the decision that selected the first step.
	Warnings []DecisionWarning `json:"warnings,omitzero"`
}

// RunOptions is what a client of the protocol sends beside the context of a run
// (docs/design.md#openwop-events). Waybill stores it, shows it, and decides nothing by it but StepsMax.
type RunOptions struct {
	// Configurable and Metadata are objects, null without one.
	Configurable canon.Value `json:"configurable,omitzero"`
	Metadata     canon.Value `json:"metadata,omitzero"`
	// RequestDigest is that of the request under an idempotency key, by which a repeated one is
	// distinguished from another request with the same key.
	RequestDigest canon.Digest `json:"requestDigest,omitzero"`
}

// IsZero reports options without any member.
func (o RunOptions) IsZero() bool {
	return o.Configurable.IsNull() && o.Metadata.IsNull() && o.RequestDigest.IsZero()
}

// StepsMax is how many steps the run takes up at most, the member recursionLimit of Configurable
// (docs/design.md#limits-of-a-run); 0 for no limit.
func (o *RunOptions) StepsMax() int64 {
	if o == nil {
		return 0
	}
	v, _ := o.Configurable.Get("recursionLimit")
	n := v.Float() // at most what an integer of JSON can be exactly
	if whole := int64(min(max(n, 0), limits.EventIndexMax)); float64(whole) == n {
		return whole
	}
	return 0
}

// Equal reports the same options; nil has none.
func (o *RunOptions) Equal(other *RunOptions) bool {
	if o == nil || other == nil {
		return o == other
	}
	return o.Configurable.Equal(other.Configurable) && o.Metadata.Equal(other.Metadata) &&
		o.RequestDigest == other.RequestDigest
}

// check returns an error for options without members, for a member that is no object, and for more than
// limits.RunOptionsBytesMax.
func (o *RunOptions) check() error {
	if o == nil {
		return nil
	}
	err, size := errorIf(o.IsZero(), "options are empty"), 0
	for _, v := range []canon.Value{o.Configurable, o.Metadata} {
		if v.IsNull() {
			continue
		}
		b, wrong := v.AppendJCS(nil)
		size += len(b)
		err = cmp.Or(err, wrong, errorIf(v.Kind() != canon.Object, "an option is no object"),
			v.CheckStrict(limits.ContextDepthMax))
	}
	return cmp.Or(err, within("options of %d bytes", size, 0, limits.RunOptionsBytesMax))
}

// ForkedFrom identifies the node from which a forked run was started.
type ForkedFrom struct {
	SessionID id.Session   `json:"sessionId"`
	RunID     id.Run       `json:"runId"`
	NodeID    id.Node      `json:"nodeId"`
	Head      canon.Digest `json:"head"`
	// WorkflowHash is that of the source run, if the fork continues with another definition.
	WorkflowHash canon.Digest `json:"workflowHash,omitzero"`
	// Mode is how a client of the protocol asked for the run, "" for any other fork. Additive.
	Mode ForkMode `json:"mode,omitzero"`
	// Sequence is that of the first run event which is the run's own, or which a replay compares; with Mode only.
	Sequence int64 `json:"sequence,omitzero"`
}

// ForkMode is how a run follows from a point of another one, a closed set (docs/design.md#openwop-forks).
type ForkMode string

// The modes of forks.
const (
	// Branch: the run continues from the node, and is performed.
	Branch ForkMode = "branch"
	// Replay: the recorded inputs of the source are decided again, and nothing is performed.
	Replay ForkMode = "replay"
)

// ForkModes returns the closed set.
func ForkModes() []ForkMode { return []ForkMode{Replay, Branch} }

// IsReplay reports a run whose inputs are those of another run: it takes no step of its own.
func (f *ForkedFrom) IsReplay() bool { return f != nil && f.Mode == Replay }

// IsBranch reports a run that a client of the protocol forked from a run event.
func (f *ForkedFrom) IsBranch() bool { return f != nil && f.Mode == Branch }

// check returns an error for an unknown mode, and for a sequence without one.
func (f *ForkedFrom) check() error {
	if f == nil {
		return nil
	}
	return cmp.Or(oneOf("mode", f.Mode, "", Branch, Replay),
		errorIf(f.Sequence < 0 || f.Mode == "" && f.Sequence != 0, "sequence of a fork without a mode"))
}

// SignersMark states that a store had signers when a run was started (docs/design.md#signed-consent): if the
// log of the settings is replaced, the run still shows it.
type SignersMark struct {
	// Digest is that of the signers, as the settings have them.
	Digest  canon.Digest `json:"digest"`
	StoreID id.Store     `json:"storeId"`
}

// Name is the text that names the run: its title, else its goal, else "". A blank one names nothing.
func (r RunStarted) Name() string {
	for _, name := range []string{r.Title, r.Goal} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}

// Kind is "run_started".
func (RunStarted) Kind() string { return "run_started" }

// DedupeKey allows one event per run.
func (RunStarted) DedupeKey(owner string, s Scope) string {
	return "run_started:" + owner + ":" + s.RunID.String()
}

// Check returns an error for an empty workflow id, unknown source kinds and texts that exceed their
// limits.
func (r RunStarted) Check(Scope) error {
	err := cmp.Or(
		errorIf(r.WorkflowID == "", "workflowId is empty"),
		oneOf("workflowSourceKind", r.WorkflowSourceKind, SourceBundled, SourceUser, SourceProject, SourceRemote,
			SourcePlugin),
		within("workflowSourceRef of %d bytes", len(r.WorkflowSourceRef), 0, limits.PathMax),
		within("goal of %d bytes", len(r.Goal), 0, limits.GoalBytesMax),
		within("title of %d bytes", len(r.Title), 0, limits.TitleBytesMax),
		within("%d tags", len(r.Tags), 0, limits.TagsMax),
		r.Options.check(), checkWarnings(r.Warnings), r.ForkedFrom.check())
	for _, tag := range r.Tags {
		err = cmp.Or(err, within("tag of %d bytes", len(tag), 1, limits.TagBytesMax))
	}
	return err
}

// RunCancelRequested requests that the performer of the run stops and closes it
// (docs/design.md#ends-and-branches).
type RunCancelRequested struct {
	Outcome RunOutcome `json:"outcome,omitzero"` // additive: the outcome to close with; absent: cancelled
	Reason  string     `json:"reason"`
}

// EndOutcome returns the outcome with which the run is to be closed.
func (r RunCancelRequested) EndOutcome() RunOutcome { return cmp.Or(r.Outcome, OutcomeCancelled) }

// Kind is "run_cancel_requested".
func (RunCancelRequested) Kind() string { return "run_cancel_requested" }

// DedupeKey allows one event per run.
func (RunCancelRequested) DedupeKey(owner string, s Scope) string {
	return "run_cancel_requested:" + owner + ":" + s.RunID.String()
}

// Check returns an error for an invalid reason, and for outcome "cancelled", which is written by
// leaving the member out.
func (r RunCancelRequested) Check(Scope) error {
	if r.Outcome != "" && r.Outcome != OutcomeFailed {
		return fmt.Errorf("outcome %q: want %q or none", r.Outcome, OutcomeFailed)
	}
	return within("reason of %d bytes", len(r.Reason), 1, limits.SummaryBytesMax)
}

// RunOutcome is the closed set of ends other than completion (docs/design.md#ends-and-branches).
type RunOutcome string

// The run outcomes.
const (
	OutcomeCancelled RunOutcome = "cancelled"
	OutcomeFailed    RunOutcome = "failed"
)

// RunClosed ends a run, which accepts no further attempts (docs/design.md#ends-and-branches).
type RunClosed struct {
	// Limit is set for a run that reached a limit which it was started with: no request precedes its end. Additive.
	Limit   *LimitReached `json:"limit,omitzero"`
	Outcome RunOutcome    `json:"outcome"`
	Reason  string        `json:"reason"`
}

// LimitReached is a limit of a run, and the number that it does not allow (docs/design.md#limits-of-a-run).
type LimitReached struct {
	Kind     string `json:"kind"` // StepsLimit
	Limit    int64  `json:"limit"`
	Observed int64  `json:"observed"`
}

// StepsLimit is the kind of the limit of the steps that a run takes up.
const StepsLimit = "node-executions"

// Kind is "run_closed".
func (RunClosed) Kind() string { return "run_closed" }

// DedupeKey allows one event per run.
func (RunClosed) DedupeKey(owner string, s Scope) string {
	return "run_closed:" + owner + ":" + s.RunID.String()
}

// Check returns an error for unknown outcomes, a reason that is empty or too long, and a limit that is not reached.
func (r RunClosed) Check(Scope) error {
	err := oneOf("outcome", r.Outcome, OutcomeCancelled, OutcomeFailed)
	if l := r.Limit; l != nil {
		err = cmp.Or(err, errorIf(r.Outcome != OutcomeFailed, "a run that reached a limit is not failed"),
			errorIf(l.Kind != StepsLimit, "the kind of the limit is not known"),
			errorIf(l.Limit < 1 || l.Observed <= l.Limit, "the limit is not reached"))
	}
	return cmp.Or(err,
		within("reason of %d bytes", len(r.Reason), 1, limits.SummaryBytesMax))
}
