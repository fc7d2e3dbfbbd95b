package cli

import (
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

// CheckCandidates returns RUN_NOT_FOUND or SESSION_NOT_FOUND if a query names a run or a
// session by its id and the list does not contain it. Without this check, a caller that uses
// the first candidate would continue a different run. next is the suggestion. If sessions
// were skipped as unreadable, the details contain their number as skippedSessions.
func CheckCandidates(q resume.Query, list engine.ResumeList, next string) error {
	hasRun, hasSession := q.Run == (id.Run{}), q.Session == (id.Session{})
	for _, found := range list.Candidates {
		hasRun = hasRun || found.RunID == q.Run
		hasSession = hasSession || found.SessionID == q.Session
	}
	var f *fault.Fault
	switch {
	case !hasRun:
		f = fault.New(fault.RunNotFound, "run %s is not among the runs that can be resumed", q.Run)
	case !hasSession:
		f = fault.New(fault.SessionNotFound, "session %s is not among the sessions that can be resumed", q.Session)
	default:
		return nil
	}
	f = f.Suggest("%s", next)
	if list.Skipped > 0 {
		f = f.With("skippedSessions", list.Skipped)
	}
	return f
}
