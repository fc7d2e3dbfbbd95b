package advance

import (
	"cmp"
	"errors"
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
	Session    id.Session
	Run        id.Run
	SourceKind event.SourceKind
	SourceRef  string // relative path of a local workflow file
	Title      string
	Goal       string // what the run is for
	Tags       []string
	Options    *event.RunOptions  // nil: none
	Signers    *event.SignersMark // nil: the store has no signers
	// ForkedFrom is the run whose inputs a replay decides again; nil for any other start.
	ForkedFrom   *event.ForkedFrom
	Context      canon.Value
	Preferences  []event.PreferenceChange
	Defaults     event.Preferences // of the store, for what Preferences leaves open; zero: the built-in ones
	Observations []event.ObservationRecorded
	Actor        event.Actor
	AtMs         int64 // clock reading in milliseconds since 1970
}

// Begin plans the first segment of a session: the pinned workflow, the run, its root node at
// the first step, preferences, context, trace and gaps (docs/design.md#engine). Errors are
// VALIDATION_ERROR and record nothing. Observations over their budget are dropped rather than
// refused (docs/design.md#observations); dropped counts them.
func Begin(w compile.Compiled, s Start) (plan manifest.Plan, dropped int, err error) {
	if err := cmp.Or(CheckContext(s.Context), contextFilledIn(s.Context), checkTitle(s.Title),
		checkGoal(s.Goal), CheckOptions(s.Tags, s.Options)); err != nil {
		return plan, 0, err
	}
	defaults := cmp.Or(s.Defaults, event.DefaultPreferences())
	prefs, err := applyPreferences(defaults, s.Preferences)
	if err != nil {
		return plan, 0, err
	}
	// Null members of the start's context are removed, as in every later delta.
	vars := event.MergeContext(canon.OfMembers(), s.Context)
	neverStops := prefs.Autonomy == event.FullAutoNeverStop
	walked := interpreter.Begin(w, interpreter.Input{Vars: vars, NeverStop: neverStops,
		Guided: prefs.Autonomy == event.Guided})
	// In other modes a run that cannot reach its first step is not created.
	if len(walked.Unmet) > 0 && !neverStops {
		return plan, 0, cannotBegin(walked.Unmet)
	}
	bytes, err := walked.State.Encode()
	if err != nil {
		return plan, 0, fault.Wrap(err, fault.Invariant, "the first state is impossible")
	}
	seg := newSegment(s.Session, 0, s.AtMs, s.Actor)
	node, origin := seg.open(w, s.Run, bytes, event.RunStarted{WorkflowID: w.WorkflowID, WorkflowHash: w.Hash(),
		WorkflowSourceKind: s.SourceKind, WorkflowSourceRef: s.SourceRef, Title: s.Title,
		Goal: s.Goal, Tags: s.Tags, Options: s.Options, Signers: s.Signers, ForkedFrom: s.ForkedFrom,
		Warnings: warningsOf(walked.Loose)})
	seg.beginPreferences(node, origin, defaults, s.Preferences, prefs)
	seg.startContext(node, origin, s.Context, s.Actor)
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
	report := reason.ReportOf(unmet) // sorted and bounded, as in a recorded attempt
	return fault.New(fault.ValidationError, "the run cannot begin: %s", report.Blockers[0].Message).
		Suggest("%s", report.Blockers[0].SuggestedFix).With("blockers", report.Blockers)
}

// CheckOptions refuses tags and options that cannot be recorded.
func CheckOptions(tags []string, options *event.RunOptions) error {
	err := event.RunStarted{WorkflowID: "w", WorkflowSourceKind: event.SourceUser, Tags: tags,
		Options: options}.Check(event.Scope{})
	for _, tag := range tags {
		if err == nil && !utf8.ValidString(tag) {
			err = errors.New("a tag is not UTF-8")
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.ValidationError, "the run cannot have these tags and options: %s", err)
	}
	return nil
}

// checkGoal refuses a goal that is too long or not UTF-8.
func checkGoal(goal string) error {
	if len(goal) > limits.GoalBytesMax || !utf8.ValidString(goal) {
		return fault.New(fault.ValidationError, "the goal has %d bytes; at most %d of valid UTF-8 are allowed",
			len(goal), limits.GoalBytesMax).
			Suggest("State the goal in a few sentences; details belong to the context.")
	}
	return nil
}

// checkTitle refuses a title that is too long or not UTF-8.
func checkTitle(title string) error {
	if len(title) > limits.TitleBytesMax || !utf8.ValidString(title) {
		return fault.New(fault.ValidationError, "the title has %d bytes; at most %d of valid UTF-8 are allowed",
			len(title), limits.TitleBytesMax)
	}
	return nil
}

// open begins the first segment of a session, that of a new run or of a fork: the workflow,
// the run, and its root node, whose scope and origin it returns. The order of these events is
// fixed: re-execution compares bytes (docs/design.md#event-order).
func (s *segment) open(w compile.Compiled, run id.Run, state []byte, started event.RunStarted) (event.Scope,
	id.Origin) {
	root := id.RootNode(run)
	node := event.Scope{RunID: run, NodeID: root}
	// Objects precede the events that refer to them.
	s.object(manifest.Workflow, w.Bytes())
	ref := s.object(manifest.Snapshot, state).Ref()
	s.caller(event.Scope{}, event.SessionCreated{})
	s.caller(event.Scope{RunID: run}, started)
	s.engine(node, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: ref, WorkflowHash: w.Hash()})
	return node, id.FromStart(root)
}

// startContext records the context at the root node, unless it is empty.
func (s *segment) startContext(at event.Scope, o id.Origin, vars canon.Value, by event.Actor) {
	if vars.Len() > 0 {
		s.add(event.Scope{RunID: at.RunID}, by, event.ContextSet{Context: vars, ContextID: o.Context(0),
			NodeID: &at.NodeID, Source: event.ContextInitial})
	}
}

// beginPreferences records all effective preferences, so that later changes of defaults do not affect
// existing runs. Of a store with defaults of its own these are recorded first, and then what the caller
// sent; the built-in ones are in the record of the caller.
func (s *segment) beginPreferences(at event.Scope, o id.Origin, defaults event.Preferences,
	sent []event.PreferenceChange, p event.Preferences) {
	change := event.PreferencesChanged{ChangeID: o.Change(0), Effective: p, Source: event.FromUser, Delta: changesOf(p)}
	if len(sent) == 0 || defaults != event.DefaultPreferences() {
		s.startPreferences(at, o, defaults)
		change.ChangeID, change.Delta = o.Change(1), sent
	}
	if len(sent) > 0 {
		s.caller(at, change)
	}
}

// startPreferences records preferences that no caller sent.
func (s *segment) startPreferences(at event.Scope, o id.Origin, p event.Preferences) {
	s.engine(at, event.PreferencesChanged{ChangeID: o.Change(0), Effective: p, Source: event.FromSystem,
		Delta: changesOf(p)})
}

// changesOf returns all preferences as changes.
func changesOf(p event.Preferences) []event.PreferenceChange {
	return []event.PreferenceChange{{Key: "autonomy", Value: string(p.Autonomy)},
		{Key: "riskPolicy", Value: string(p.RiskPolicy)}}
}
