// Package openruns lists the open runs of a repository for the hooks of clients, and keeps the record of what the hooks
// refused (docs/design.md#guard). The list is derived from the logs and saved; a run of it is read from its log again
// before a hook speaks of it. The package appends nothing to a log.
//
// Start reading at List.Steps, then List.Refuse.
package openruns

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// ImportedEvents returns how many of a session's events, its first ones, came with a bundle.
type ImportedEvents func(context.Context, id.Session) (int64, error)

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

// listSeal is the context of the seal of the saved list.
const listSeal = "waybill 2026 v1 guard open runs"

// racyMs: a log that changed so shortly before it was read may change again without another stamp.
const racyMs = 2000

// Row is an open run as the list has it.
type Row struct {
	Run    id.Run      `json:"runId"`
	Node   id.Node     `json:"nodeId"`
	StepID string      `json:"stepId"`
	Waits  guard.Waits `json:"waits,omitzero"`
	// Root is the digest of the repository's path.
	Root string `json:"root"`
	AtMs int64  `json:"atMs"`

	session id.Session
}

// Clock tells a reading the time and whether there is time for another session.
type Clock struct {
	NowMs int64
	More  func() bool
}

// Steps returns the open steps of the repository whose path has a digest, the latest activity first. Runs that were
// imported and not continued here are left out. The errors are those of listing the sessions.
func (l List) Steps(ctx context.Context, root string, c Clock) ([]Row, error) {
	all, err := l.rows(ctx, c)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(all, func(r Row) bool { return r.Root != root })
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.AtMs, a.AtMs), cmp.Compare(a.Run.String(), b.Run.String()))
	})
	return out, nil
}

// saved is what the saved list says of a session: the stamp at which it was read, and its rows as JSON.
type saved struct{ stamp, rows string }

// rows brings the saved list up to date and returns its rows. The sessions that changed last are read first, as many
// as there is time for: the others are read by the next hook.
func (l List) rows(ctx context.Context, c Clock) ([]Row, error) {
	stamps, err := l.files.Stamps(ctx)
	if err != nil || len(stamps) == 0 {
		return nil, err
	}
	key := l.answers.HeadKey(ctx)
	list := l.load(ctx, key)
	var changed []ports.SessionStamp
	for _, s := range stamps {
		if have, known := list[s.Session.String()]; !known || have.stamp != s.Stamp {
			changed = append(changed, s)
		}
	}
	gone := len(list)+len(changed) != len(stamps) // or one that is known changed, which is written too
	slices.SortFunc(changed, func(a, b ports.SessionStamp) int {
		return cmp.Or(cmp.Compare(b.ChangedMs, a.ChangedMs), strings.Compare(a.Session.String(), b.Session.String()))
	})
	for _, s := range changed {
		delete(list, s.Session.String())
		if !c.More() || ctx.Err() != nil {
			continue
		}
		now := saved{stamp: s.Stamp}
		if s.ChangedMs+racyMs > c.NowMs {
			now.stamp = "-"
		}
		if rows := l.read(ctx, s.Session); len(rows) > 0 {
			text, err := json.Marshal(rows)
			if err != nil {
				return nil, err
			}
			now.rows = string(text)
		}
		list[s.Session.String()] = now
	}
	if len(changed) > 0 || gone {
		l.save(ctx, key, stamps, list)
	}
	return rowsOf(stamps, list), nil
}

// rowsOf returns the rows of the sessions that exist.
func rowsOf(stamps []ports.SessionStamp, list map[string]saved) (out []Row) {
	for _, s := range stamps {
		var rows []Row
		if text := list[s.Session.String()].rows; text == "" || json.Unmarshal([]byte(text), &rows) != nil {
			continue
		}
		for _, r := range rows {
			r.session = s.Session
			out = append(out, r)
		}
	}
	return out
}

// save writes the list. Errors are ignored: it is computed again.
func (l List) save(ctx context.Context, key *token.Key, stamps []ports.SessionStamp, list map[string]saved) {
	if key == nil {
		return
	}
	var b bytes.Buffer
	for _, s := range stamps {
		have, ok := list[s.Session.String()]
		if !ok {
			continue
		}
		b.WriteString(s.Session.String() + " " + have.stamp)
		if have.rows != "" {
			b.WriteString(" " + have.rows)
		}
		b.WriteByte('\n')
	}
	if b.Len() < limits.GuardCacheBytesMax/2 {
		_ = l.files.SaveOpenRuns(ctx, sealed.Append(nil, listSeal, key, b.Bytes()))
	}
}

// load returns the saved list by session; empty for one with any defect.
func (l List) load(ctx context.Context, key *token.Key) map[string]saved {
	out := map[string]saved{}
	if key == nil {
		return out
	}
	data, err := l.files.OpenRuns(ctx, limits.GuardCacheBytesMax)
	if err != nil {
		return out
	}
	doc, ok := sealed.Open(data, listSeal, key)
	if !ok {
		return out
	}
	out = make(map[string]saved, bytes.Count(doc, []byte("\n")))
	for line := range strings.Lines(string(doc)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		stamp, rows, _ := strings.Cut(rest, " ")
		out[name] = saved{stamp, rows}
	}
	return out
}

// read returns the open runs of a session. A session that cannot be read, and one without a repository, has none.
func (l List) read(ctx context.Context, s id.Session) (out []Row) {
	h := l.answers.NewHistory(s)
	v, err := h.ReadSaved(ctx)
	if err != nil || v.Health != manifest.Healthy {
		return nil
	}
	root := h.Fold.Observations["repo_root_hash"].Value
	if root == "" {
		return nil
	}
	foreign, err := l.imported(ctx, s)
	if err != nil {
		return nil
	}
	for _, runID := range slices.Clone(h.Fold.Order) {
		run := h.Fold.Runs[runID]
		if run.Tip.IsZero() || run.Closed != nil || run.CancelRequested != nil || run.LastIndex < foreign {
			continue
		}
		p, err := h.Open(ctx, engine.Position{Session: s, Run: runID, Node: run.Tip})
		if err != nil {
			continue
		}
		if a, waits, ok := l.at(ctx, p); ok {
			out = append(out, Row{Run: runID, Node: p.Node.ID, StepID: a.Pending.StepID, Waits: waits, Root: root,
				AtMs: p.Run.LastAtMs})
		}
	}
	return out
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
	case a.NextIntent == engine.RehydrateOnly:
		return a, guard.ForMoment, a.Pending.Wait != nil
	case a.IsCommand():
		return a, guard.ForCommand, true
	case a.Status == runs.Blocked && slices.ContainsFunc(p.Node.OpenGaps, forPerson):
		return a, guard.ForPerson, true
	}
	return a, guard.ForAgent, true
}

// Step reads the run of a row from its log. ok is false if the run cannot be read or no step of it is open any more.
func (l List) Step(ctx context.Context, r Row) (s guard.Step, ok bool) {
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
	return guard.Step{Run: r.Run.String(), Node: p.Node.ID.String(), StepID: a.Pending.StepID, Title: a.Pending.Title,
		RunTitle: cmp.Or(p.Run.Started.Name(), a.Workflow.Name, a.Workflow.WorkflowID), Text: a.Pending.Prompt,
		Waits: waits}, true
}
