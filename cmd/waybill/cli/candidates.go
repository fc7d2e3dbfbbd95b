package cli

import (
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/resume"
)

// CheckCandidates: an exact id that nothing has is told, with what to do next. Others in its
// place would be gone on with by whoever takes the first candidate.
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
