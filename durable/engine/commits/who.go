package commits

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/trailer"
	"github.com/waybill/waybill/projections/runs"
)

// Message is a commit as a repository has it.
type Message struct {
	Commit string // its object id
	Text   string
	// Cut reports that Text is the beginning of a longer message.
	Cut bool
}

// Who is the document "who": what the trailers of commits name, the commits and their trailers in the order in which they
// are in the repository. A trailer is a claim of the commit's author.
type Who struct {
	Commits []NamingCommit `json:"commits"`
	Runs    []NamedRun     `json:"runs"`
	// Omitted is the number of trailers that were not looked up, because an answer has at most so many.
	Omitted int `json:"omitted,omitzero"`
	// Unreadable is the number of sessions that could not be read, one of which may have a run that is not found.
	Unreadable int `json:"unreadable,omitzero"`
}

// NamingCommit is a commit that was read, with the number of its trailers.
type NamingCommit struct {
	Commit   string `json:"commit"`
	Subject  string `json:"subject"` // the first line of its message
	Trailers int    `json:"trailers"`
	// Omitted are trailers before the last ones, which are not looked up; Malformed are lines with the key of a trailer that
	// are none.
	Omitted   int `json:"omitted,omitzero"`
	Malformed int `json:"malformed,omitzero"`
	// Cut reports that the message is longer than what is read of one.
	Cut bool `json:"cut,omitzero"`
}

// NamedRun is a run that a trailer of a commit names.
type NamedRun struct {
	Commit string       `json:"commit"`
	RunID  id.Run       `json:"runId"`
	Head   canon.Digest `json:"head"` // that of the trailer
	// InStore reports that the store has the run. Without it the members below are absent.
	InStore bool `json:"inStore"`
	// HeadKnown reports that the session's log contains the head: what was recorded up to the commit is what is on record now.
	HeadKnown  bool       `json:"headKnown"`
	SessionID  id.Session `json:"sessionId,omitzero"`
	WorkflowID string     `json:"workflowId,omitzero"`
	Title      string     `json:"title,omitzero"`
	// StepID is the step that was pending at the head, absent if none was or the head is not known.
	StepID          string `json:"stepId,omitzero"`
	StepInstanceKey string `json:"stepInstanceKey,omitzero"`
	// Status is the run's now.
	Status runs.Status `json:"status,omitzero"`
	// Decisions are all that people have made about the run until now, as the document "run" lists them.
	Decisions []views.DecisionRow `json:"decisions"`
	// Imported marks a run that came with a bundle, which any program can write, and was not continued here.
	Imported bool `json:"imported,omitzero"`
	// Unreadable says what could not be read of the run, "" if all could.
	Unreadable string `json:"unreadable,omitzero"`
}

// Who returns the runs that the trailers of commits name. What cannot be read is reported in its row and hides no other. The
// errors are those of listing the sessions; STORE_IO if the process had no file descriptor left for a part.
func (c Commits) Who(ctx context.Context, all []Message) (Who, error) {
	return session.Whole(c.store, func() (Who, error) { return c.who(ctx, all) })
}

// who is Who, with unreadable runs where no file descriptor was left.
func (c Commits) who(ctx context.Context, all []Message) (Who, error) {
	out := Who{Commits: []NamingCommit{}, Runs: []NamedRun{}}
	heads := map[id.Run][]canon.Digest{}
	for _, m := range all {
		found := trailer.Find(m.Text)
		subject, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
		out.Commits = append(out.Commits, NamingCommit{Commit: m.Commit, Subject: strings.ToValidUTF8(subject, "\ufffd"),
			Trailers: len(found.Trailers) + found.Omitted, Omitted: found.Omitted, Malformed: found.Malformed, Cut: m.Cut})
		for _, t := range found.Trailers {
			if len(out.Runs) == limits.CommitRunsMax {
				out.Omitted++
				continue
			}
			out.Runs = append(out.Runs, NamedRun{Commit: m.Commit, RunID: t.Run, Head: t.Head, Decisions: []views.DecisionRow{}})
			heads[t.Run] = append(heads[t.Run], t.Head)
		}
	}
	sessions, err := c.sessionsOf(ctx, heads, &out)
	if err != nil {
		return out, err
	}
	known := map[id.Run]knownRun{}
	for i := range out.Runs {
		row := &out.Runs[i]
		s, found := sessions[row.RunID]
		if !found {
			continue
		}
		of, read := known[row.RunID]
		if !read {
			of = c.read(ctx, s, row.RunID, heads[row.RunID])
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			known[row.RunID] = of
		}
		c.describe(ctx, row, s, of)
	}
	return out, nil
}

// sessionsOf returns the sessions of the runs that the store has, in one pass over them.
func (c Commits) sessionsOf(ctx context.Context, wanted map[id.Run][]canon.Digest, out *Who) (map[id.Run]id.Session, error) {
	found := map[id.Run]id.Session{}
	if len(wanted) == 0 {
		return found, nil
	}
	all, err := c.r.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	key := c.r.HeadKey(ctx)
	for _, s := range all {
		if len(found) == len(wanted) {
			break // run ids are unique in a store
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		briefs, ok := c.r.SessionRuns(ctx, s, key)
		if !ok {
			out.Unreadable++
		}
		for _, b := range briefs {
			if _, is := wanted[b.RunID]; is {
				found[b.RunID] = s
			}
		}
	}
	return found, nil
}

// knownRun is what is read once of a run that several trailers name.
type knownRun struct {
	details  views.RunDetails
	moments  *runs.Moments
	imported bool
	err      error
}

// read reads a run as it is now, and at some heads of its log.
func (c Commits) read(ctx context.Context, s id.Session, run id.Run, heads []canon.Digest) (out knownRun) {
	if out.details, out.err = c.views.Run(ctx, run.String()); out.err != nil {
		return out
	}
	foreign, err := c.imported(ctx, manifest.SessionEvents(s))
	if err != nil {
		out.err = err
		return out
	}
	out.imported = foreign.Has(out.details.LastActivityEventIndex)
	out.moments, out.err = c.moments(ctx, s, heads)
	return out
}

// describe fills in the row of a run that the store has.
func (c Commits) describe(ctx context.Context, row *NamedRun, s id.Session, of knownRun) {
	row.InStore, row.SessionID, row.Imported = true, s, of.imported
	row.WorkflowID, row.Title, row.Status = of.details.WorkflowID, of.details.Title, of.details.Status
	row.Decisions = append(row.Decisions, of.details.Decisions...)
	if of.err != nil {
		row.Unreadable = fault.Of(of.err).Message
		return
	}
	at, known, ok := of.moments.At(row.Head, row.RunID)
	if row.HeadKnown = known; !ok || at.Closed {
		return
	}
	state, err := c.r.State(ctx, &runs.Node{SnapshotRef: at.SnapshotRef})
	if err != nil {
		row.Unreadable = "the step at the head cannot be read: " + fault.Of(err).Message
		return
	}
	if p := state.PendingStep(); p != nil {
		row.StepID, row.StepInstanceKey = p.StepID, p.Key()
	}
}
