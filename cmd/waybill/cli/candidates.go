package cli

import (
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

// CheckCandidates is the error where a query names a run or a session exactly
// and the list does not have it. Without it, a caller that takes the first
// candidate would continue another run. next is the suggestion.
func CheckCandidates(q resume.Query, list engine.ResumeList, next string) error {
	hasRun, hasSession := q.Run == (id.Run{}), q.Session == (id.Session{})
	for _, found := range list.Candidates {
		hasRun = hasRun || found.RunID == q.Run
		hasSession = hasSession || found.SessionID == q.Session
	}
	var f *fault.Fault
	switch {
	case !hasRun:
		f = fault.New(fault.RunNotFound, "there is no run %s here that could be gone on with", q.Run)
	case !hasSession:
		f = fault.New(fault.SessionNotFound, "there is no session %s here that could be gone on with", q.Session)
	default:
		return nil
	}
	f = f.Suggest("%s", next)
	if list.Skipped > 0 {
		f = f.With("skippedSessions", list.Skipped)
	}
	return f
}
