package advance

import (
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Start is the input that begins a session with one run.
type Start struct {
	Session      id.Session
	Run          id.Run
	SourceKind   event.SourceKind
	SourceRef    string // relative path of a local workflow file
	Title        string
	Context      canon.Value
	Preferences  []event.PreferenceChange
	Observations []event.ObservationRecorded
	Actor        event.Actor
	AtMs         int64 // clock reading in milliseconds since 1970
}

// Begin plans the first segment of a session: the pinned workflow, the run, its root node at
// the first step, preferences, context, trace and gaps (docs/design.md#engine). Errors are
// VALIDATION_ERROR and record nothing. Observations over their budget are dropped rather than
// refused (docs/design.md#observations); dropped counts them.
func Begin(w compile.Compiled, s Start) (plan manifest.Plan, dropped int, err error) {
	if err := CheckContext(s.Context); err != nil {
		return plan, 0, err
	}
	if err := contextFilledIn(s.Context); err != nil {
		return plan, 0, err
	}
	if len(s.Title) > limits.TitleBytesMax || !utf8.ValidString(s.Title) {
		return plan, 0, fault.New(fault.ValidationError,
			"the title has %d bytes; at most %d of valid UTF-8 are allowed", len(s.Title), limits.TitleBytesMax)
	}
	prefs, err := applyPreferences(event.DefaultPreferences(), s.Preferences)
	if err != nil {
		return plan, 0, err
	}
	// Null members of the start's context are removed, as in every later delta.
	vars := event.MergeContext(canon.OfMembers(), s.Context)
	neverStops := prefs.Autonomy == event.FullAutoNeverStop
	walked := interpreter.Begin(w, interpreter.Input{Vars: vars, NeverStop: neverStops})
	// In other modes a run that cannot reach its first step is not created.
	if len(walked.Unmet) > 0 && !neverStops {
		return plan, 0, cannotBegin(walked.Unmet)
	}
	bytes, err := walked.State.Encode()
	if err != nil {
		return plan, 0, fault.Wrap(err, fault.Invariant, "the first state is impossible")
	}
	root := id.RootNode(s.Run)
	origin := id.FromStart(root)
	run, node := event.Scope{RunID: s.Run}, event.Scope{RunID: s.Run, NodeID: root}
	seg := newSegment(s.Session, 0, s.AtMs, s.Actor)
	// Objects precede the events that refer to them.
	seg.object(manifest.Workflow, w.Bytes())
	ref := seg.object(manifest.Snapshot, bytes).Ref()

	// The order of these events is fixed: re-execution compares bytes
	// (docs/design.md#event-order).
	seg.caller(event.Scope{}, event.SessionCreated{})
	seg.caller(run, event.RunStarted{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(),
		WorkflowSourceKind: s.SourceKind, WorkflowSourceRef: s.SourceRef, Title: s.Title})
	seg.engine(node, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: ref, WorkflowHash: w.Hash()})
	seg.startPreferences(node, origin, prefs, len(s.Preferences) > 0)
	if s.Context.Len() > 0 {
		seg.caller(run, event.ContextSet{Context: s.Context, ContextID: origin.Context(0), NodeID: &root,
			Source: event.ContextInitial})
	}
	seg.traces(node, origin, walked.Trace)
	for i, u := range walked.Unmet {
		seg.gap(node, origin.Gap(i), event.Critical, u, nil)
	}
	// A warning artifact of the engine, not an output of the first step.
	if a, ok := exceeds(w, prefs); ok {
		for _, p := range seg.artifacts([]Artifact{a}) {
			seg.engine(node, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(0),
				Payload: p})
		}
	}
	return seg.plan, seg.observe(s.Observations), nil
}

// cannotBegin is the fault for a run that cannot reach its first step. It is returned before
// anything is written (docs/design.md#engine).
func cannotBegin(unmet []reason.Unmet) error {
	var blockers []reason.Blocker
	for _, u := range unmet {
		blockers = append(blockers, u.Blocker())
	}
	// The report sorts and bounds the blockers, as in a recorded attempt.
	report := reason.NewReport(blockers)
	return fault.New(fault.ValidationError, "the run cannot begin: %s", report.Blockers[0].Message).
		Suggest("%s", report.Blockers[0].SuggestedFix).With("blockers", report.Blockers)
}

// startPreferences records all effective preferences, so that later changes of defaults do
// not affect existing runs. The caller is the actor if it sent any.
func (s *segment) startPreferences(at event.Scope, o id.Origin, p event.Preferences, fromUser bool) {
	change := event.PreferencesChanged{ChangeID: o.Change(0), Effective: p, Source: event.FromSystem,
		Delta: []event.PreferenceChange{{Key: "autonomy", Value: string(p.Autonomy)},
			{Key: "riskPolicy", Value: string(p.RiskPolicy)}}}
	if fromUser {
		change.Source = event.FromUser
		s.caller(at, change)
		return
	}
	s.engine(at, change)
}

// observe appends the observations that pass their checks. Repeated ones are dropped too,
// since events of equal dedupeKey would collide.
func (s *segment) observe(all []event.ObservationRecorded) (dropped int) {
	seen := map[string]bool{}
	for _, o := range all {
		key := o.DedupeKey(s.owner, event.Scope{})
		if o.Check(event.Scope{}) != nil || seen[key] {
			dropped++
			continue
		}
		seen[key] = true
		s.engine(event.Scope{}, o)
	}
	return dropped
}
