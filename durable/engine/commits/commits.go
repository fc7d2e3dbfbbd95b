// Package commits relates the commits of a repository to runs (docs/design.md#commits): the trailer that a commit gets while
// a run of its working directory is open, and the runs, steps and decisions that the trailers of a commit name. It appends
// nothing, signs no token and runs no git.
//
// Start reading at Commits.Current, then Commits.Who.
package commits

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/trailer"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Commits answers for the runs of one store. It is safe for concurrent use.
type Commits struct {
	r        *session.Reader
	store    session.Source
	views    *views.Views
	imported views.ImportedEvents
	times    ports.SessionTimes
}

// New returns the commits of what r reads, which is s.
func New(r *session.Reader, s session.Source, v *views.Views, imported views.ImportedEvents, times ports.SessionTimes) Commits {
	return Commits{r, s, v, imported, times}
}

// Current is the run that a commit made now belongs to, and its trailer. Without one it has only the reason.
type Current struct {
	Trailer   string       `json:"trailer,omitzero"` // the line, without its line feed
	RunID     id.Run       `json:"runId,omitzero"`
	SessionID id.Session   `json:"sessionId,omitzero"`
	Head      canon.Digest `json:"head,omitzero"` // of the session's log, as 'waybill verify' shows it
	// Title names the run: its title, else its goal, else the workflow's name.
	Title string `json:"title,omitzero"`
	// StepID is the pending step, absent without one.
	StepID string `json:"stepId,omitzero"`
	// Reason says why there is no trailer.
	Reason string `json:"reason,omitzero"`

	lastAtMs  int64
	lastIndex int64
}

// Search selects the run of Current.
type Search struct {
	// Root is the digest of the path of the repository, as runs record it; "" outside of one.
	Root string
	// More reports whether there is time to read another session.
	More func() bool
}

// Current returns the open run of a repository with the latest activity by stored time, as '@last' does for a store. Runs
// that were imported and not continued here are left out, and so are those of sessions that are damaged or not known. It
// takes no lock, and its head is not synced: a commit does not wait for the disk.
//
// Sessions are read in the order in which their logs changed, and as many as there is time for. A session that is locked
// ends the search without a trailer: the run may be in it, and a commit must not name another one.
func (c Commits) Current(ctx context.Context, q Search) (Current, error) {
	if q.Root == "" {
		return Current{Reason: "the working directory is in no git repository"}, nil
	}
	all, err := c.times.LatestFirst(ctx)
	if err != nil {
		return Current{}, err
	}
	var best Current
	for i, s := range all {
		// Nothing that was recorded in a log is later than its file.
		if best.Trailer != "" && best.lastAtMs > s.ChangedMs+fileTimeMs {
			break
		}
		if i > 0 && !q.More() {
			if best.Trailer == "" {
				best.Reason = "no open run of this repository was found in the time for a commit"
			}
			break
		}
		found, err := c.openRun(ctx, s.Session, q.Root)
		switch {
		case ctx.Err() != nil:
			return Current{}, ctx.Err()
		case fault.ExitOf(err) == fault.ExitBusy:
			return Current{Reason: "session " + s.Session.String() + " is locked, and the run may be in it"}, nil
		case err == nil && found.Trailer != "" && (best.Trailer == "" || found.isLater(best)):
			best = found
		}
	}
	if best.Trailer == "" && best.Reason == "" {
		best.Reason = "no run of this repository is open"
	}
	return best, nil
}

// fileTimeMs is the coarsest resolution of the times of files, that of FAT.
const fileTimeMs = 2000

// isLater orders runs as '@last' does.
func (c Current) isLater(than Current) bool {
	return cmp.Or(cmp.Compare(c.lastAtMs, than.lastAtMs), cmp.Compare(c.lastIndex, than.lastIndex),
		than.RunID.Compare(c.RunID)) > 0
}

// openRun returns the latest open run of a session that was started in a repository, the zero Current without one.
func (c Commits) openRun(ctx context.Context, s id.Session, root string) (best Current, err error) {
	h := c.r.NewHistory(s)
	if err := h.Healthy(h.ReadSaved(ctx)); err != nil {
		return best, err
	}
	if h.Fold.Observations["repo_root_hash"].Value != root {
		return best, nil
	}
	foreign, err := c.imported(ctx, manifest.SessionEvents(s))
	if err != nil {
		return best, err
	}
	for _, runID := range h.Fold.Order {
		run := h.Fold.Runs[runID]
		if run.Tip.IsZero() || run.Closed != nil || run.CancelRequested != nil || foreign.Has(run.LastIndex) {
			continue
		}
		found, err := c.current(ctx, h, run)
		if err == nil && found.StepID != "" && (best.Trailer == "" || found.isLater(best)) {
			best = found
		}
	}
	return best, nil
}

// current describes a run of a history that was read.
func (c Commits) current(ctx context.Context, h *session.History, run *runs.Run) (Current, error) {
	out := Current{RunID: run.ID, SessionID: h.Session, Head: h.Fold.Head.Digest, Title: run.Started.Name(),
		lastAtMs: run.LastAtMs, lastIndex: run.LastIndex}
	state, err := c.r.State(ctx, run.Node(run.Tip))
	if err != nil {
		return out, err
	}
	if p := state.PendingStep(); p != nil {
		out.StepID = p.StepID
	}
	if out.Title == "" {
		w, err := c.r.Workflow(ctx, run.Started.WorkflowHash)
		if err != nil && !session.IsForeignForm(err) {
			return out, err
		}
		out.Title = cmp.Or(w.Name, run.Started.WorkflowID)
	}
	out.Trailer = trailer.Trailer{Run: out.RunID, Head: out.Head}.String()
	return out, nil
}

// Of is Current for a run that is named, open or not, of any repository. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS,
// SESSION_UNHEALTHY.
func (c Commits) Of(ctx context.Context, ref string) (Current, error) {
	at, err := c.r.Locate(ctx, ref)
	if err != nil {
		return Current{}, err
	}
	h := c.r.NewHistory(at.Session)
	p, err := h.OpenRun(ctx, session.Position{Session: at.Session, Run: at.Run})
	if err != nil {
		return Current{}, err
	}
	return c.current(ctx, h, p.Run)
}

// moments reads a session and returns its runs at some heads of its log.
func (c Commits) moments(ctx context.Context, s id.Session, heads []canon.Digest) (*runs.Moments, error) {
	var out *runs.Moments
	_, err := c.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s)},
		ports.Into(&out, func() *runs.Moments { return runs.NewMoments(heads) }))
	return out, err
}
