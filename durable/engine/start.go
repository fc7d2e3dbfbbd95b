package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Start is a request to begin a run. Context and Preferences are those of its
// first node; Observations describe the workspace and are dropped where they
// exceed their limits.
type Start struct {
	Workflow   compile.Compiled
	SourceKind event.SourceKind
	// SourceRef is opaque; a file path is relative.
	SourceRef string
	Title     string
	// Goal is what the run is for; it names a run without a title.
	Goal string
	// Tags and Options are those of a client of the protocol (docs/design.md#openwop-events).
	Tags    []string
	Options *event.RunOptions
	// Key is an idempotency key: a repeated start finds the first
	// (docs/design.md#ids).
	Key string
	// Automation reports that an automation starts the run, so that Key may be one of its keys; Requested the same of a
	// request over HTTP.
	Automation  bool
	Requested   bool
	Context     canon.Value
	Preferences []event.PreferenceChange
	// ByAgent reports a start through MCP: preferences of the store that are not
	// sent are at most those that an agent may set.
	ByAgent      bool
	Observations []event.ObservationRecorded
}

// StartKeyBytesMax bounds a start key, in bytes. The key is hashed, but messages
// show it in full.
const StartKeyBytesMax = 256

// Start creates a session with one run and returns the answer for its first
// step. With a key that is recorded already it returns the recorded answer, and
// warns if the version of the workflow, title, goal, tags, options, context or preferences differ.
//
// Errors: VALIDATION_ERROR for a request that does not fit the workflow, and
// USAGE_ERROR for a new run under a key of automations; no store is created for
// them. START_KEY_TAKEN as startkey.Starts.Find; nothing is written.
// STORE_OUTCOME_UNKNOWN and STORE_ANSWER_UNREAD mean
// that the run may exist; their suggestion depends on whether a key was given.
func (e *Engine) Start(ctx context.Context, by Caller, seed id.Seed, s Start) (Answer, error) {
	defer e.ledger.WritePending(ctx)
	if len(s.Key) > StartKeyBytesMax {
		return Answer{}, fault.New(fault.ValidationError, "the start key has %d bytes; at most %d are allowed",
			len(s.Key), StartKeyBytesMax)
	}
	err := e.checkReserved(ctx, s)
	if err != nil {
		return Answer{}, err
	}
	// Ids from the seed: used as they are without a key.
	begin := advance.Start{Session: id.NewSession(seed), Run: id.NewRun(seed), SourceKind: s.SourceKind,
		SourceRef: s.SourceRef,
		Title:     s.Title, Goal: s.Goal, Tags: s.Tags, Options: s.Options, Context: s.Context,
		Preferences: s.Preferences, Observations: s.Observations,
		Actor: by.Actor,
		AtMs:  by.AtMs}
	if begin.Defaults, err = s.defaults(ctx, e.settings); err != nil {
		return Answer{}, err
	}
	if begin.Signers, err = e.settings.Mark(ctx); err != nil {
		return Answer{}, err
	}
	// Validated before the store, its id and its keys are created: an invalid
	// request leaves nothing.
	if _, _, err := advance.Begin(s.Workflow, begin); err != nil {
		return Answer{}, err
	}
	store, err := e.store.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	if s.Key != "" {
		// The same key in the same store results in the same ids.
		begin.Session, begin.Run = id.KeyedSession(store, s.Key), id.KeyedRun(store, s.Key)
		// Before the lock: an imported session may be one that nothing can be
		// written to.
		if _, _, err := e.starts.Find(ctx, s.Key, s.Workflow.WorkflowID); err != nil {
			return Answer{}, err
		}
	}
	// Planned again, with the ids of the key and the texts as they are stored: the budgets are those of the
	// texts as they were sent.
	begin, redactions := begin.Redacted()
	plan, dropped, err := advance.Begin(s.Workflow, begin)
	if err != nil {
		return Answer{}, err
	}
	e.CacheWorkflow(s.Workflow)
	a, err := e.begin(ctx, Position{Session: begin.Session, Run: begin.Run, Node: id.RootNode(begin.Run)}, plan, s.Key,
		s.Workflow.WorkflowID)
	a.Warnings = append(a.Warnings, warning.Dropped(dropped)...)
	a.Redactions = redactions
	return a, err
}

// defaults returns the preferences of the store for what a start leaves open.
// Which autonomy the store has does not matter to a start that sends one.
func (s Start) defaults(ctx context.Context, of settings.Settings) (event.Preferences, error) {
	p, err := of.Preferences(ctx, s.ByAgent)
	isAutonomy := func(c event.PreferenceChange) bool { return c.Key == "autonomy" }
	if fault.Is(err, fault.PolicyUnconfirmed) && slices.ContainsFunc(s.Preferences, isAutonomy) {
		p.Autonomy, err = event.DefaultPreferences().Autonomy, nil
	}
	return p, err
}

// checkReserved returns USAGE_ERROR if a caller would start a run under a key of
// automations. A run that is recorded under such a key is answered.
func (e *Engine) checkReserved(ctx context.Context, s Start) error {
	reserved := startkey.CheckReserved(s.Key)
	if reserved == nil || s.Automation || s.Requested {
		return nil
	}
	if _, ok, err := e.starts.Find(ctx, s.Key, s.Workflow.WorkflowID); ok || err != nil {
		return err
	}
	return reserved
}

// begin commits the first segment of a session and returns the answer for its
// first step, or answers from a log that an earlier call with the same key or
// seed wrote.
func (e *Engine) begin(ctx context.Context, at Position, plan manifest.Plan, key, workflowID string) (Answer, error) {
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	h := e.NewHistory(at.Session)
	e.cacheStates(plan)
	appended, err := e.commit(ctx, h, func(v manifest.Verdict) (manifest.Plan, error) {
		if !v.Unborn() {
			return manifest.Plan{}, nil
		}
		return plan, nil
	})
	if err != nil {
		return Answer{}, adviseOnRestart(err, key)
	}
	e.NoteHome(at.Run, at.Session)
	if !appended {
		return e.replayStart(ctx, keys, at, plan, key, workflowID)
	}
	a, err := e.answerCommitted(ctx, keys, at, h)
	if err != nil {
		return Answer{}, adviseOnRestart(err, key)
	}
	a.warnStarted(h.Fold.Runs[at.Run].Started.Warnings)
	if err := e.warnSecrets(ctx, &a, h.Fold, warning.Call{Origin: id.FromStart(at.Node)}); err != nil {
		return Answer{}, adviseOnRestart(answerUnread(err), key)
	}
	return a, nil
}

// cacheStates keeps the snapshots that a plan contains: its brief and an answer about
// committed events do not need to read them back.
func (n *Answers) cacheStates(plan manifest.Plan) {
	for _, o := range plan.Objects {
		if s, err := snapshot.Decode(o.Bytes); o.Kind == manifest.Snapshot && err == nil {
			n.CacheState(o.Ref(), s)
		}
	}
}

// answerUnread wraps an error of reading the answer to a call whose events are
// committed, as STORE_ANSWER_UNREAD. Callers may repeat the call; it is
// idempotent.
func answerUnread(err error) error {
	return fault.Wrap(err, fault.StoreAnswerUnread, "the call is recorded, but its answer could not be read: %s",
		fault.Of(err).Message)
}

// adviseOnRestart adds a suggestion to errors after which a run may or may not
// exist. Without a key, a repeated start creates a second run, so the user must
// check the list of runs first.
func adviseOnRestart(err error, key string) error {
	f := fault.Of(err)
	if key != "" || f.Code != fault.StoreOutcomeUnknown && f.Code != fault.StoreAnswerUnread {
		return err
	}
	out := *f
	return out.Suggest("Check with %s whether the run exists before you start it again; with --key "+
		"a start can be repeated safely.", fault.Command{"runs", "list"})
}

// warnStarted adds the warnings of a start: those of the compiler, and those that are recorded with it.
func (a *Answer) warnStarted(recorded []event.DecisionWarning) {
	a.Warnings = append(a.Warnings, warning.Compiled(a.compiled)...)
	a.warnRecorded(recorded)
}

// replayStart answers a keyed start that is recorded. The answer is rendered
// over the first segment, however many steps the run has taken since
// (docs/design.md#answers).
func (e *Engine) replayStart(ctx context.Context, keys token.Keys, at Position, sent manifest.Plan,
	key, workflowID string) (Answer, error) {
	prefix, err := e.NewHistory(at.Session).Prefix(ctx, func(seg manifest.Segment) bool { return seg.First == 0 })
	if err != nil {
		return Answer{}, err
	}
	// Asked again: another process may have recorded the session meanwhile.
	if key != "" {
		if err := e.starts.Check(ctx, at.Session, prefix.Fold.Runs[at.Run], key, workflowID); err != nil {
			return Answer{}, err
		}
	}
	p, err := session.Resolve(prefix.Fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.AnswerAt(ctx, keys, p)
	if err != nil {
		return a, err
	}
	a.warnStarted(p.Run.Started.Warnings)
	if err := e.warnSecrets(ctx, &a, prefix.Fold, warning.Call{Origin: id.FromStart(at.Node)}); err != nil {
		return a, err
	}
	a.Replayed = true
	if !startkey.Same(p.Run, p.Node, sent) {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.ReplayDiffers,
			Message: "A start with this key is recorded with other content; the recorded answer is returned and nothing was " +
				"stored."})
	}
	return a, prefix.Confirm(ctx)
}
