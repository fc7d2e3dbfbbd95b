package cli

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/gitobserver"
)

// Candidates returns the runs that a query finds; those of the checked-out commit and branch come
// first. Their next commands select this store, since they are copied. A session or run that the
// query names by its id and the result does not contain is SESSION_NOT_FOUND or RUN_NOT_FOUND, with
// the suggestion next.
func (a *App) Candidates(ctx context.Context, o *Store, q resume.Query,
	next fault.Suggestion) (candidates.List, error) {
	_, root, err := a.Workspace()
	if err != nil {
		return candidates.List{}, err
	}
	defer LimitHeap()()
	list, err := o.Resume(ctx, candidates.WithWorkspace(q, gitobserver.Observe(root)))
	if err != nil {
		return list, err
	}
	for i, found := range list.Candidates {
		a.SelectStore(found.Next)
		if found.ReadOnly {
			list.Candidates[i].Show = a.WithStoreFlags(found.Show)
		}
	}
	return list, checkCandidates(q, list, next)
}

// checkCandidates returns RUN_NOT_FOUND or SESSION_NOT_FOUND if a query names a run or a
// session by its id and the list does not contain it. Without this check, a caller that uses
// the first candidate would continue a different run. next is the suggestion. If sessions
// were skipped as unreadable, the details contain their number as skippedSessions.
func checkCandidates(q resume.Query, list candidates.List, next fault.Suggestion) error {
	isRun := func(found candidates.Candidate) bool { return found.RunID == q.Run }
	ofSession := func(found candidates.Candidate) bool { return found.SessionID == q.Session }
	var f *fault.Fault
	switch {
	case q.Run != (id.Run{}) && !slices.ContainsFunc(list.Candidates, isRun):
		f = fault.New(fault.RunNotFound, "run %s is not among the runs that can be resumed", q.Run)
	case q.Session != (id.Session{}) && !slices.ContainsFunc(list.Candidates, ofSession):
		f = fault.New(fault.SessionNotFound, "session %s is not among the sessions that can be resumed", q.Session)
	default:
		return nil
	}
	f.Suggestion = next
	if list.Skipped > 0 {
		f = f.With("skippedSessions", list.Skipped)
	}
	return f
}
