package mcp

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/agents"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/infra/mcpserver"
)

// ResumeSession implements mcpserver.UseCases. Candidates of the repository that the server
// runs in come first. A run or session that the agent names by id must be among them;
// otherwise the error is RUN_NOT_FOUND or SESSION_NOT_FOUND.
func (c agentCalls) ResumeSession(ctx context.Context, _ mcpserver.Caller,
	in mcpserver.ResumeSession) (mcpserver.Document, error) {
	// Ids are checked before the store is opened.
	q, err := queryOf(in)
	if err != nil {
		return mcpserver.Document{}, err
	}
	next := fault.Suggest("Call resume_session without ids, with words from the notes of the run or without " +
		"arguments, and ask the user which run to continue.")
	list, err := cli.Ask(ctx, c.a, func(ctx context.Context, o *cli.Store) (candidates.List, error) {
		return c.a.Candidates(ctx, o, q, next)
	})
	for i := range list.Candidates {
		list.Candidates[i].Next = agents.Next(list.Candidates[i].Next)
	}
	return documentOf("candidates", list, err)
}

// queryOf returns the query for the words and ids of an agent. A malformed id is a
// VALIDATION_ERROR and is not searched for as a word, which could match a different run. So is
// a query of more than limits.ResumeQueryBytesMax bytes.
func queryOf(in mcpserver.ResumeSession) (q resume.Query, err error) {
	q.Text = in.Query
	if len(q.Text) > limits.ResumeQueryBytesMax {
		return q, fault.New(fault.ValidationError, "query: %d bytes, at most %d are allowed", len(q.Text),
			limits.ResumeQueryBytesMax).
			Suggest("Send a few words that the notes of the run contain.")
	}
	if in.SessionID != "" {
		if q.Session, err = id.ParseSession(in.SessionID); err != nil {
			return q, fault.New(fault.ValidationError, "sessionId: %v", err).
				Suggest("Send the complete id, sess_…; send words in query.")
		}
	}
	if in.RunID != "" {
		if q.Run, err = id.ParseRun(in.RunID); err != nil {
			return q, fault.New(fault.ValidationError, "runId: %v", err).
				Suggest("Send the complete id, run_…; send words in query.")
		}
	}
	return q, nil
}
