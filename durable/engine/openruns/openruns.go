// Package openruns lists the open runs of a repository for the hooks of clients (docs/design.md#guard). The list is
// derived from the logs and saved; a run of it is read from its log again before a hook speaks of it. The package
// appends nothing to a log.
//
// Start reading at List.Steps, then List.Step.
package openruns

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// ImportedEvents returns which of a session's events came with bundles.
type ImportedEvents func(context.Context, id.Session) (imported.Span, error)

// List is the list of open runs of one store.
type List struct {
	answers  *engine.Answers
	imported ImportedEvents
	files    ports.GuardFiles
}

// New returns the list of the store that answers reads.
func New(answers *engine.Answers, imported ImportedEvents, files ports.GuardFiles) List {
	return List{answers, imported, files}
}

// Row is an open run as the list has it.
type Row struct {
	Run    id.Run
	Node   id.Node
	StepID string
	Waits  guard.Waits
	// Root is the digest of the repository's path.
	Root string
	AtMs int64

	session id.Session
}

// Clock tells a reading whether there is time for another session.
type Clock struct{ More func() bool }

// Steps returns the open steps of the repository whose path has a digest, the latest activity first, at most
// limits.GuardRunsMax. Runs that were imported and not continued here are left out. The errors are those of listing the
// sessions.
func (l List) Steps(ctx context.Context, root string, c Clock) ([]Row, error) {
	key := l.answers.HeadKey(ctx)
	have := l.loadLatest(ctx, key)
	changes, err := l.files.Changes(ctx, have.mark)
	if err != nil {
		return nil, err
	}
	if !changes.Known || !l.follow(ctx, &have, changes, c) || have.lacks(root) {
		if have, err = l.compare(ctx, key, changes.Mark, c); err != nil {
			return nil, err
		}
	}
	if have.changed {
		l.save(ctx, key, ports.LatestRuns, have.encode())
	}
	return have.roots[root].parse(root), nil
}

// follow brings the latest runs up to date with what changed. It reports whether there was time for that.
func (l List) follow(ctx context.Context, have *latest, changes ports.SessionChanges, c Clock) bool {
	for _, s := range changes.Changed {
		if !c.More() || ctx.Err() != nil {
			return false
		}
		have.replace(s.String(), l.read(ctx, s))
	}
	have.changed = have.changed || have.mark != changes.Mark
	have.mark = changes.Mark
	return true
}

// compare returns the latest runs from the list of all sessions, which is brought up to date and saved: those whose stamp
// is another one are read, those that changed last first, as many as there is time for. The others are read by the next
// hook, for which the result has no mark.
func (l List) compare(ctx context.Context, key *token.Key, mark string, c Clock) (latest, error) {
	stamps, err := l.files.Stamps(ctx)
	if err != nil {
		return latest{}, err
	}
	slices.SortFunc(stamps, func(a, b ports.SessionStamp) int {
		return cmp.Or(cmp.Compare(b.ChangedMs, a.ChangedMs), a.Session.Compare(b.Session))
	})
	before, after := l.loadAll(ctx, key), make([]saved, 0, len(stamps))
	changed := len(before) != len(stamps)
	for _, s := range stamps {
		name := s.Session.String()
		now, known := before[name]
		if !known || now.stamp != s.Stamp {
			changed = true
			if !c.More() || ctx.Err() != nil {
				mark = ""
				continue
			}
			now = saved{name, s.Stamp, l.read(ctx, s.Session)}
		}
		after = append(after, now)
	}
	if changed {
		l.save(ctx, key, ports.AllRuns, encodeAll(after))
	}
	out := newLatest(mark)
	for _, s := range after {
		out.add(s.session, s.rows)
	}
	out.order()
	out.changed = true
	return out, nil
}

// read returns the open runs of a session, as the list has them. A session that cannot be read, and one without a
// repository, has none.
func (l List) read(ctx context.Context, s id.Session) string {
	var out []string
	h := l.answers.NewHistory(s)
	v, err := h.ReadSaved(ctx)
	if err != nil || v.Health != manifest.Healthy {
		return ""
	}
	root := h.Fold.Observations["repo_root_hash"].Value
	if root == "" {
		return ""
	}
	foreign, err := l.imported(ctx, s)
	if err != nil {
		return ""
	}
	for _, runID := range slices.Clone(h.Fold.Order) {
		run := h.Fold.Runs[runID]
		if run.Tip.IsZero() || run.Closed != nil || run.CancelRequested != nil || foreign.Has(run.LastIndex) {
			continue
		}
		p, err := h.Open(ctx, engine.Position{Session: s, Run: runID, Node: run.Tip})
		if err != nil {
			continue
		}
		if a, waits, ok := l.at(ctx, p); ok {
			out = append(out, Row{Run: runID, Node: p.Node.ID, StepID: a.Pending.StepID, Waits: waits, Root: root,
				AtMs: p.Run.LastAtMs}.text())
		}
	}
	return strings.Join(out, "\t")
}

// at returns the answer at a position and what its step waits for; ok is false if no step is open there. The answer has
// no valid tokens.
func (l List) at(ctx context.Context, p session.Resolved) (a engine.Answer, waits guard.Waits, ok bool) {
	a, err := l.answers.AnswerAt(ctx, token.Keys{}, p)
	if err != nil || a.Pending == nil {
		return a, "", false
	}
	forPerson := func(g runs.Gap) bool { return g.Reason.Category == reason.UserOnlyDependency }
	switch {
	case a.Status != runs.InProgress && a.Status != runs.Blocked:
		return a, "", false
	case a.NextIntent == engine.AwaitConfirmation:
		return a, guard.ForPerson, true
	case a.Pending.Host != nil:
		return a, guard.ForHost, true
	case a.NextIntent == engine.RehydrateOnly:
		return a, guard.ForMoment, a.Pending.Wait != nil
	case a.IsCommand():
		return a, guard.ForCommand, true
	case a.Status == runs.Blocked && slices.ContainsFunc(p.Node.OpenGaps, forPerson):
		return a, guard.ForPerson, true
	}
	return a, guard.ForAgent, true
}

// Step is an open step as it was read from the log of its run.
type Step struct {
	guard.Step
	At engine.Position
	// Activity is the index of the run's last activity, on which Waits depends.
	Activity int64
}

// Step reads the run of a row from its log. ok is false if the run cannot be read or no step of it is open any more.
func (l List) Step(ctx context.Context, r Row) (s Step, ok bool) {
	h := l.answers.NewHistory(r.session)
	p, err := h.OpenRun(ctx, engine.Position{Session: r.session, Run: r.Run})
	if err == nil {
		p, err = session.Resolve(h.Fold, engine.Position{Session: r.session, Run: r.Run, Node: p.Run.Tip})
	}
	if err != nil {
		return s, false
	}
	a, waits, ok := l.at(ctx, p)
	if !ok {
		return s, false
	}
	h.Keep()
	s.Step = guard.Step{Run: r.Run.String(), StepID: a.Pending.StepID, Title: a.Pending.Title,
		RunTitle: cmp.Or(p.Run.Started.Name(), a.Workflow.Name, a.Workflow.WorkflowID), Text: a.Pending.Prompt,
		Waits: waits}
	s.At, s.Activity = p.At, p.Run.LastIndex
	if w, _, err := l.answers.Load(ctx, p); err == nil {
		if step, _ := w.Step(s.StepID); len(step.Checks) > 0 {
			s.Checks = w.Hash().String()
		}
	}
	return s, true
}
