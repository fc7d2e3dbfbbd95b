package mcp

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/mcpserver"
)

// ResumeSession implements mcpserver.UseCases. Candidates of the repository
// that the server runs in come first. A run or session that the agent names
// exactly must be among them.
func (c agentCalls) ResumeSession(ctx context.Context, in mcpserver.ResumeSession) (mcpserver.Document, error) {
	// Ids are checked before the store is opened.
	q, err := soughtBy(in)
	if err != nil {
		return c.fault(err)
	}
	_, root, err := c.a.Workspace()
	if err != nil {
		return c.fault(err)
	}
	o, err := c.a.Open(ctx)
	if err != nil {
		return c.fault(err)
	}
	defer o.Close()
	list, err := o.Resume(ctx, engine.Anchored(q, gitobserver.Observe(root)))
	if err != nil {
		return c.fault(err)
	}
	next := "Call resume_session without ids, with words of the run's notes or with nothing, and ask the user which " +
		"run is meant."
	if err := cli.CheckCandidates(q, list, next); err != nil {
		return c.fault(err)
	}
	for _, found := range list.Candidates {
		if found.Next != nil {
			found.Next.Command = c.a.WithStoreFlags(found.Next.Command)
		}
	}
	return mcpserver.Document{Kind: "candidates", Data: list}, nil
}

// soughtBy makes the query from an agent's words and ids. An id that is
// malformed is an error, and not searched for as a word: an agent would take
// the wrong run.
func soughtBy(in mcpserver.ResumeSession) (q resume.Query, err error) {
	q.Text = in.Query
	if len(q.Text) > limits.ResumeQueryBytesMax {
		return q, fault.New(fault.ValidationError, "query: %d bytes, at most %d are allowed", len(q.Text),
			limits.ResumeQueryBytesMax).
			Suggest("Send the few words that the run's notes are sure to hold.")
	}
	if in.SessionID != "" {
		if q.Session, err = id.ParseSession(in.SessionID); err != nil {
			return q, fault.New(fault.ValidationError, "sessionId: %v", err).
				Suggest("Send the whole id, sess_…; words belong into query.")
		}
	}
	if in.RunID != "" {
		if q.Run, err = id.ParseRun(in.RunID); err != nil {
			return q, fault.New(fault.ValidationError, "runId: %v", err).
				Suggest("Send the whole id, run_…; words belong into query.")
		}
	}
	return q, nil
}
