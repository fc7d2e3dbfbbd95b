// Package candidates offers the runs that a caller most likely wants to continue, with the call that
// continues each of them (docs/design.md#resume-ranking). It appends nothing; package durable/run/resume
// ranks. Start reading at Offers.Resume.
package candidates

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Store is what the offers require of a store.
type Store interface {
	ports.Keyring
	ports.Availability
}

// Offers ranks the runs of one store. It is safe for concurrent use.
type Offers struct {
	answers *engine.Answers
	store   Store
	// Index has what is compared of sessions that did not change; nil: every session is read.
	Index index.Catalogue
}

// New returns the offers of what answers reads, which is s.
func New(answers *engine.Answers, s Store) Offers { return Offers{answers: answers, store: s} }

// List is the document "candidates": the runs that a query most likely
// refers to, the best one first (docs/design.md#resume-ranking).
type List struct {
	Candidates []Candidate `json:"candidates"`
	Considered int64       `json:"considered"` // runs that were ranked
	// Skipped counts sessions that cannot be read.
	Skipped int64 `json:"skipped"`
	// BeginningOnly counts the runs with long notes of which only the beginning was searched, because all long
	// notes together are over limits.ResumeWholeNotesBytesMax.
	BeginningOnly int64 `json:"beginningOnly,omitzero"`
}

// Where is a part of a run in which words of a query were found.
type Where struct {
	In resume.Part `json:"in"`
	// NodeID and StepID are those of the notes, absent for title and goal. StepID is absent where the node has no
	// pending step.
	NodeID id.Node `json:"nodeId,omitzero"`
	StepID string  `json:"stepId,omitzero"`
}

// Candidate is a run at its preferred tip. Finished runs are included;
// Status distinguishes them.
type Candidate struct {
	RunID        id.Run          `json:"runId"`
	SessionID    id.Session      `json:"sessionId"`
	WorkflowID   string          `json:"workflowId"`
	WorkflowName string          `json:"workflowName"`
	Source       string          `json:"source,omitzero"` // of the workflow
	Title        string          `json:"title"`
	Goal         string          `json:"goal,omitzero"` // what the run is for
	Status       runs.Status     `json:"status"`
	WhyMatched   []resume.Reason `json:"whyMatched"`
	// Where is the part of the run with most words of the query, absent where the words were not found.
	Where *Where `json:"where,omitzero"`
	// Snippet is of the notes that Where names, else of the current ones.
	Snippet string `json:"snippet"`
	// Checkpoint is the latest at the pending step, with the beginning of its notes.
	Checkpoint *runs.Checkpoint `json:"checkpoint,omitzero"`
	NodeID     id.Node          `json:"nodeId"`
	// StepID is that of the pending step, absent without one.
	StepID    string `json:"stepId,omitzero"`
	StepTitle string `json:"stepTitle,omitzero"`
	// NeedsApproval reports that the outputs of the pending step were sent and wait for a person's approval.
	NeedsApproval bool `json:"-"`
	// StateToken is absent for a run that can only be read.
	StateToken             string `json:"stateToken,omitzero"`
	LastActivityEventIndex int64  `json:"lastActivityEventIndex"`
	LastAtMs               int64  `json:"lastAtMs"`
	// ReadOnly marks a run with facts of another program or a newer version: nothing
	// can be added to it (docs/design.md#foreign-stores). Show is the command line
	// that reads such a run.
	ReadOnly bool     `json:"readOnly,omitzero"`
	Show     []string `json:"show,omitzero"`
	// Next is the call that shows the pending step, null for a run that can only
	// be read.
	Next *engine.Next `json:"next"`
}

// WithWorkspace adds the observed git head and branch of the caller's workspace to a
// query. Values that the query has already are kept.
func WithWorkspace(q resume.Query, observed []event.ObservationRecorded) resume.Query {
	for _, x := range observed {
		switch x.Key {
		case "git_head_sha":
			q.GitHead = cmp.Or(q.GitHead, x.Value.Value)
		case "git_branch":
			q.GitBranch = cmp.Or(q.GitBranch, x.Value.Value)
		}
	}
	return q
}

// Resume ranks the runs of the store by a query and returns the best ones.
// Every session is read, unless the index has what decides about it; damaged ones
// are counted in Skipped and never returned, and those with facts of another
// program are returned for reading, without tokens. It appends nothing. The result is a function of the store's logs
// and the query. STORE_IO if the process had no file descriptor left for a part.
func (o Offers) Resume(ctx context.Context, q resume.Query) (List, error) {
	return session.Whole(o.store, func() (List, error) { return rankRuns(ctx, o, q) })
}

// rankRuns is Resume, with skipped sessions where no file descriptor was left.
func rankRuns(ctx context.Context, o Offers, q resume.Query) (out List, err error) {
	if o.Index != nil && !o.Index.IsBounded() {
		for most, whole := few, false; !whole && err == nil; most *= 64 {
			found := newSearch(o, q)
			if whole, err = found.compareEach(ctx, most); err == nil {
				out, err = ranked(ctx, o, found)
			}
			whole = whole || len(out.Candidates) == limits.ResumeCandidatesMax
		}
		return out, err
	}
	found := newSearch(o, q)
	all, err := found.candidates(ctx)
	if err == nil {
		err = found.compare(ctx, all)
	}
	if err != nil {
		return List{Candidates: []Candidate{}}, err
	}
	return ranked(ctx, o, found)
}

// ranked returns the best runs of a search that compared all.
func ranked(ctx context.Context, o Offers, found *search) (List, error) {
	out := List{Candidates: []Candidate{}}
	best, err := found.best(ctx)
	if err != nil {
		return out, err
	}
	var keys *token.Keys
	unreadable := map[id.Session]bool{}
	for i := 0; len(out.Candidates) < limits.ResumeCandidatesMax; i++ {
		if i == len(best) {
			r, ok, err := found.next(ctx)
			if err != nil {
				return out, err
			}
			if !ok {
				break
			}
			best = append(best, r)
		}
		r := best[i]
		// Keys are created only if a candidate needs a token: another program's store
		// is never written.
		if !found.foreign[r.Session] && keys == nil {
			created, err := o.store.Keys(ctx, ports.MayCreate)
			if err != nil {
				return out, err
			}
			keys = &created
		}
		var c Candidate
		if found.foreign[r.Session] {
			c, err = o.readOnlyCandidate(ctx, r)
		} else {
			c, err = o.candidate(ctx, *keys, r)
		}
		if err == nil {
			err = found.show(ctx, r, &c)
		}
		switch {
		case err == nil:
			out.Candidates = append(out.Candidates, c)
		case isUnreadable(err):
			unreadable[r.Session] = true // the next candidate takes its place
		default:
			return out, err
		}
	}
	out.Considered, out.BeginningOnly = int64(found.considered), found.beginningOnly
	out.Skipped = found.skipped + int64(len(unreadable))
	return out, nil
}

// isUnreadable reports an error that concerns one run: its objects cannot be
// read, or its session is not healthy any more. Such a run must not hide the
// others.
func isUnreadable(err error) bool {
	return session.IsForeignForm(err) || fault.Is(err, fault.StoreCorrupt) || fault.Is(err, fault.Invariant) ||
		fault.Is(err, fault.RunNotFound) || fault.Is(err, fault.TokenUnknownNode)
}

// candidate builds the row of a ranked run. Its session is read again, because
// keeping the folds of all ranked sessions would take memory in proportion to
// the store. The log is made durable before a token for it is returned
// (docs/design.md#reading).
func (o Offers) candidate(ctx context.Context, keys token.Keys, r resume.Ranked) (c Candidate, err error) {
	h := o.answers.NewHistory(r.Session)
	at := engine.Position{Session: r.Session, Run: r.Run}
	p, err := h.OpenRun(ctx, at)
	if err != nil {
		return c, err
	}
	at.Node = p.Run.Tip
	if p, err = session.Resolve(h.Fold, at); err != nil {
		return c, err
	}
	a, err := o.answers.AnswerAt(ctx, keys, p)
	if err != nil {
		return c, err
	}
	c = Candidate{RunID: r.Run, SessionID: r.Session, WorkflowID: r.WorkflowID, WorkflowName: r.WorkflowName,
		Source: a.Workflow.Source, Goal: r.Goal,
		Title: cmp.Or(p.Run.Started.Name(), r.WorkflowName, r.WorkflowID), Status: a.Status, WhyMatched: r.Why,
		Snippet: snippetOf(p.Run),
		NodeID:  a.NodeID, StateToken: a.StateToken, LastActivityEventIndex: p.Run.LastIndex, LastAtMs: p.Run.LastAtMs,
		Next: &engine.Next{Command: []string{"waybill", "continue", "--state", a.StateToken}, Tool: "continue_workflow",
			Params: map[string]any{"stateToken": a.StateToken}}}
	if points := p.Run.CheckpointsAt(p.Node); a.Pending != nil && len(points) > 0 {
		last := points[len(points)-1]
		last.Notes = resume.Snippet(last.Notes)
		c.Checkpoint = &last
	}
	if a.Pending != nil {
		c.StepID, c.StepTitle = a.Pending.StepID, a.Pending.Title
		c.NeedsApproval = slices.ContainsFunc(p.Node.OpenGaps, func(g runs.Gap) bool {
			return g.Matches(reason.NeedsApproval, reason.WorkflowStep(c.StepID))
		})
	}
	return c, h.Confirm(ctx)
}

// snippetOf is the beginning of the latest notes on the path to the preferred tip of a run, "" without any.
func snippetOf(run *runs.Run) string {
	recap, _ := run.RecapOnPath(run.Tip)
	return resume.Snippet(recap.Payload.NotesMarkdown)
}
