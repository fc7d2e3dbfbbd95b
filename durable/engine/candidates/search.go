package candidates

import (
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// search compares the runs of a store with a query, session by session. Of the texts it keeps which words of the query
// they have, so that the memory for a run does not depend on its notes.
type search struct {
	o     Offers
	m     resume.Matcher
	names workflowNames
	// ranked are the runs of the session that is being read.
	ranked []resume.Ranked
	// queue has the runs that are not returned yet, the best one at its root.
	queue      queue
	considered int
	// foreign are the sessions that can only be read, read those whose runs are compared with their notes.
	foreign map[id.Session]bool
	read    map[id.Session][]resume.Ranked
	skipped int64
	// places are the notes in which the words of the query were found.
	places map[id.Run]note
	// wholeBytes is what is left of the budget for whole notes.
	wholeBytes    int64
	beginningOnly int64
}

// note is what the search keeps of the notes of a node.
type note = runs.Note[resume.Words]

// newSearch prepares a query.
func newSearch(o Offers, q resume.Query) *search {
	return &search{o: o, m: resume.NewMatcher(q), names: workflowNames{}, places: map[id.Run]note{},
		foreign: map[id.Session]bool{}, read: map[id.Session][]resume.Ranked{},
		wholeBytes: limits.ResumeWholeNotesBytesMax}
}

// fold reads a session: all of its notes if the query has words, else only what a list of the latest runs needs.
func (f *search) fold(ctx context.Context, s id.Session) (*runs.Fold, *runs.NotesFold[resume.Words], manifest.Verdict,
	error) {
	notes := runs.NewNotesFold(f.m.Words)
	if !f.m.HasWords() {
		h := f.o.answers.NewHistory(s)
		v, err := h.ReadSaved(ctx)
		return h.Fold, notes, v, err
	}
	fold, v, err := session.ReadEach(ctx, f.o.answers.Reader, s, func() func(event.Event) {
		notes = runs.NewNotesFold(f.m.Words)
		return notes.Visit
	})
	return fold, notes, v, err
}

// session compares the runs of a session and returns its health: unknown_version if its runs can only be read. Damaged
// sessions have no candidates. The only error is the end of the context.
func (f *search) session(ctx context.Context, s id.Session) (health manifest.Health, err error) {
	fold, notes, v, err := f.fold(ctx, s)
	if ctx.Err() != nil {
		return v.Health, ctx.Err()
	}
	if health = v.Health; err != nil || health != manifest.Healthy && health != manifest.UnknownVersion {
		return manifest.CorruptHead, nil
	}
	heads, branches := fold.Observed("git_head_sha"), fold.Observed("git_branch")
	for _, runID := range fold.Order {
		run := fold.Runs[runID]
		// A run without a node cannot be continued.
		if run.Tip.IsZero() {
			continue
		}
		name, err := f.o.workflowName(ctx, run, f.names)
		if err != nil {
			return health, err
		}
		switch name.health {
		case manifest.Healthy:
		case manifest.UnknownVersion:
			health = name.health
		default:
			return name.health, nil
		}
		f.add(ctx, resume.Candidate{Session: s, Run: runID, WorkflowID: run.Started.WorkflowID, WorkflowName: name.name,
			Title: run.Started.Title, Goal: run.Started.Goal, Heads: heads, Branches: branches,
			LastAtMs: run.LastAtMs, LastIndex: run.LastIndex}, notes.Of(runID))
	}
	return health, nil
}

// add compares a run with the query.
func (f *search) add(ctx context.Context, c resume.Candidate, notes []note) {
	c.Notes = make([]resume.Note, len(notes))
	for i, n := range notes {
		c.Notes[i] = resume.Note{Words: n.Value, Checkpoint: n.Checkpoint}
	}
	cut := false
	for i, n := range notes {
		if n.Whole.IsZero() || !f.m.LacksWords(c) {
			continue
		}
		text, ok := f.whole(ctx, n)
		cut = cut || !ok
		c.Notes[i].Words = c.Notes[i].Words.Or(f.m.Words(text))
	}
	if cut {
		f.beginningOnly++
	}
	r := f.m.Match(c)
	if p := r.Place; p != nil && (p.Part == resume.InNotes || p.Part == resume.InCheckpoint) {
		f.places[r.Run] = notes[p.Note]
	}
	f.ranked = append(f.ranked, r)
}

// whole reads the whole text of long notes. ok is false if the budget of the search does not hold another one; a text
// that was erased, or cannot be read, counts as its beginning.
func (f *search) whole(ctx context.Context, n note) (text string, ok bool) {
	if f.wholeBytes < limits.WholeNotesBytesMax {
		return "", false
	}
	data, err := f.o.answers.Object(ctx, manifest.Artifact, n.Whole)
	if err != nil {
		return "", true
	}
	f.wholeBytes -= int64(len(data))
	return string(data), true
}

// show adds to a candidate where the words of the query were found. The session is read again for the text.
func (f *search) show(ctx context.Context, r resume.Ranked, c *Candidate) error {
	if r.Place == nil {
		return nil
	}
	c.Where = &Where{In: r.Place.Part}
	n, ok := f.places[r.Run]
	if !ok {
		return nil
	}
	c.Where.NodeID = n.Node
	text, err := f.text(ctx, r.Session, n)
	if err != nil {
		return err
	}
	c.Snippet = f.m.SnippetAt(text)
	state, err := f.o.foreignState(ctx, &runs.Node{SnapshotRef: n.SnapshotRef})
	if err != nil {
		return err
	}
	if p := state.PendingStep(); p != nil {
		c.Where.StepID = p.StepID
	}
	return nil
}

// text reads notes again, whole.
func (f *search) text(ctx context.Context, s id.Session, n note) (text string, err error) {
	_, _, err = session.ReadEach(ctx, f.o.answers.Reader, s, func() func(event.Event) {
		last := ""
		notes := runs.NewNotesFold(func(text string) struct{} { last = text; return struct{}{} })
		return func(e event.Event) {
			if notes.Visit(e); e.Index == n.Index {
				text = last
			}
		}
	})
	if err != nil || n.Whole.IsZero() {
		return text, err
	}
	if whole, err := f.o.answers.Object(ctx, manifest.Artifact, n.Whole); err == nil {
		return string(whole), nil
	}
	return text, nil // erased
}

// workflowNames caches the names of pinned workflows by hash while sessions are
// read.
type workflowNames map[string]workflowName

// workflowName is the name of a pinned workflow. The health is unknown_version
// if the workflow is in a form that this version does not run, corrupt_head if it
// cannot be read.
type workflowName struct {
	name   string
	health manifest.Health
}

// workflowName is the name of a run's workflow.
func (o Offers) workflowName(ctx context.Context, run *runs.Run, known workflowNames) (workflowName, error) {
	hash := run.Started.WorkflowHash.String()
	if name, ok := known[hash]; ok {
		return name, nil
	}
	out := workflowName{health: manifest.Healthy}
	w, err := o.answers.Workflow(ctx, run.Started.WorkflowHash)
	out.name = w.Name
	if session.IsForeignForm(err) {
		var v compile.View
		out.health = manifest.UnknownVersion
		v, err = o.foreignWorkflow(ctx, run)
		out.name = v.Name()
	}
	if err != nil && !isUnreadable(err) {
		return out, err
	}
	if err != nil {
		out.health = manifest.CorruptHead
	}
	known[hash] = out
	return out, nil
}
