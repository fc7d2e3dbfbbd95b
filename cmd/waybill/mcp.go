package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/mcpserver"
)

const mcpLong = `Serve the Model Context Protocol on stdin and stdout, so that an AI agent can carry out
workflows. The agent's program starts this command; it is not for typing. It ends with
its input, or with SIGTERM, and keeps nothing of its own: a run that was begun with one
server goes on with the next, or with 'waybill continue'.

The tools: list_workflows, inspect_workflow, start_workflow, continue_workflow,
checkpoint_workflow and resume_session. Approving, trusting, applying, repairing and
deleting stay a person's, with commands. How much autonomy an agent may give a run is
configured: 'waybill config get agentMaxAutonomy'.

Workflows are found from the folder that it is started in. On stdout is only the
protocol; diagnostics are on stderr.`

func newMCPCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		GroupID: groupWork,
		Short:   "Serve AI agents over the Model Context Protocol",
		Long:    mcpLong,
		Example: "  waybill mcp\n  waybill mcp --tenant work --as reviewer",
		Args:    none(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serveAgents(cmd.Context()) },
	}
}

func (a *app) serveAgents(ctx context.Context) error {
	a.errOut = zerolog.SyncWriter(a.errOut) // calls are made side by side
	log := a.log()
	if a.isTerminal(a.in) {
		log.Warn().Msg("this speaks JSON-RPC for an agent's program, which starts it by itself; Ctrl-D ends it")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// An agent that is gone is the end of the input, not a reason to die of.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	return a.mcpServer(log).Serve(ctx, a.in, a.out)
}

func (a *app) mcpServer(log zerolog.Logger) mcpserver.Server {
	var logs slog.Handler = zerolog.NewSlogHandler(log)
	return mcpserver.Server{Version: a.version, Calls: agentCalls{a}, Results: agentResults, As: a.common.as, Log: logs}
}

// agentResults are the types of the documents that agents are given.
var agentResults = mcpserver.Results{
	"workflows": workflowList{}, "workflow": inspection{}, "step": engine.Answer{}, "blocked": engine.Answer{},
	"candidates": engine.ResumeList{},
}
