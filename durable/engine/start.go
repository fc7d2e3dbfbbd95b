package engine

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Start is a request to begin a run.
type Start struct {
	Workflow     compile.Compiled
	SourceKind   event.SourceKind
	SourceRef    string // relative
	Title        string
	Key          string // with it, the same start again finds the first (R3)
	Context      canon.Value
	Preferences  []event.PreferenceChange
	Observations []event.ObservationRecorded
}

// startKeyMax bounds a start key: it is hashed, but people have to see it whole.
const startKeyMax = 256

// Start begins a session with one run and answers with its first step. With a
// key that is recorded already, it answers what is recorded.
func (g *Engine) Start(ctx context.Context, by Caller, seed id.Seed, s Start) (Answer, error) {
	defer g.writePendingAudit(ctx)
	if len(s.Key) > startKeyMax {
		return Answer{}, fault.New(fault.ValidationError, "the start key has %d bytes; at most %d are allowed",
			len(s.Key), startKeyMax)
	}
	begin := advance.Start{Session: id.NewSession(seed), Run: id.NewRun(seed), SourceKind: s.SourceKind,
		SourceRef: s.SourceRef,
		Title:     s.Title, Context: s.Context, Preferences: s.Preferences, Observations: s.Observations,
		Actor: by.Actor,
		AtMs:  by.AtMs}
	// What is wrong with the request is found before anything is made.
	if _, _, err := advance.Begin(s.Workflow, begin); err != nil {
		return Answer{}, err
	}
	store, err := g.Identity.StoreID(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	if s.Key != "" {
		begin.Session, begin.Run = id.KeyedSession(store, s.Key), id.KeyedRun(store, s.Key)
	}
	plan, dropped, err := advance.Begin(s.Workflow, begin)
	if err != nil {
		return Answer{}, err
	}
	g.cacheWorkflow(s.Workflow)
	fold, recorded := projections.NewFold(), false
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, plan.Log, manifest.Head{}, fold,
		func(w ports.Witness, v manifest.Verdict) error {
			if recorded = !v.Unborn(); recorded {
				return nil
			}
			return g.append(ctx, w, fold, plan)
		})
	if err != nil {
		return Answer{}, adviseOnRestart(err, s.Key)
	}
	g.cacheStates(plan)
	at := Position{begin.Session, begin.Run, id.RootNode(begin.Run)}
	if recorded {
		a, err := g.replayStart(ctx, keys, at, plan)
		a.warnDropped(dropped)
		return a, err
	}
	p, err := resolvePosition(fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answer(ctx, keys, p)
	if err != nil {
		return Answer{}, adviseOnRestart(answerUnread(err), s.Key)
	}
	g.putFold(at.Session, fold)
	a.warnDropped(dropped)
	return a, nil
}

// knowStates keeps the states that a plan brings: an answer about what was
// committed should not depend on the disk once more.
func (g *Engine) cacheStates(plan manifest.Plan) {
	for _, o := range plan.Objects {
		if s, err := snapshot.Decode(o.Bytes); o.Kind == manifest.Snapshot && err == nil {
			g.cacheState(o.Ref(), s)
		}
	}
}

// unread says that something was recorded, and only the answer about it failed.
func answerUnread(err error) error {
	return fault.Wrap(err, fault.StoreAnswerUnread, "the call is recorded, but its answer could not be read: %s",
		fault.Of(err).Message)
}

// startedPerhaps: without a key the same start again is another run, so whoever
// does not know whether it began has to look.
func adviseOnRestart(err error, key string) error {
	f := fault.Of(err)
	if key != "" || f.Code != fault.StoreOutcomeUnknown && f.Code != fault.StoreAnswerUnread {
		return err
	}
	out := *f
	return out.Suggest("See with 'waybill runs list' whether the run is there before you start it again; with --key " +
		"a start can be repeated safely.")
}

// noteDropped says that an observation did not fit (R27).
func (a *Answer) warnDropped(n int) {
	if n > 0 {
		a.Warnings = append(a.Warnings,
			Warning{ObservationsDropped, "Something about the workspace was too long to be recorded."})
	}
}

// append commits a plan and folds it, so that the fold stands where the log does.
func (g *Engine) append(ctx context.Context, w ports.Witness, f *projections.Fold, plan manifest.Plan) error {
	head, err := g.Logs.Append(ctx, w, f.Head, plan)
	if err != nil {
		return err
	}
	g.noteDurable(plan.Log, head, true)
	g.notePendingAudit(plan)
	return f.Visit(manifest.Segment{Events: plan.Events}, head)
}

// replayStart answers a keyed start that is recorded: over the first segment,
// however far the run has gone since (R15).
func (g *Engine) replayStart(ctx context.Context, keys token.Keys, at Position, sent manifest.Plan) (Answer, error) {
	prefix, err := g.foldPrefix(ctx, at.Session, func(seg manifest.Segment) bool { return seg.First == 0 })
	if err != nil {
		return Answer{}, err
	}
	p, err := resolvePosition(prefix, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answer(ctx, keys, p)
	if err != nil {
		return a, err
	}
	if !sameStart(p, sent) {
		a.Warnings = append(a.Warnings, Warning{ReplayDiffers,
			"A start with this key is recorded with other content; the recorded answer is returned and nothing was " +
				"stored."})
	}
	return a, g.confirm(ctx, at.Session, prefix)
}

// sameStart compares what a caller chooses: workflow, title, context and
// preferences. Observations are the surroundings', not the caller's.
func sameStart(p resolvedPosition, sent manifest.Plan) bool {
	other := projections.NewSession()
	for _, e := range sent.Events {
		other.Apply(e)
	}
	run := other.Runs[p.run.ID]
	node := run.Node(p.node.ID)
	return run.Started.WorkflowHash == p.run.Started.WorkflowHash && run.Started.Title == p.run.Started.Title &&
		node.Context.Equal(p.node.Context) && node.Preferences == p.node.Preferences
}
