// Package mcp holds the command that serves agents over the Model Context
// Protocol. It opens the store for each call and hands the use cases to package
// mcpserver, which knows the protocol. No call of an agent approves, trusts or
// deletes anything: there is no tool for it.
package mcp

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/mcpserver"
)

// long is what 'waybill mcp --help' prints above the usage.
const long = `Serve the Model Context Protocol on stdin and stdout, so that an AI agent can carry out
workflows. The agent's program starts this command; it is not for typing. It ends with
its input, or with SIGTERM, and keeps nothing of its own: a run that was begun with one
server goes on with the next, or with 'waybill continue'.

The tools: list_workflows, inspect_workflow, start_workflow, continue_workflow,
checkpoint_workflow and resume_session. Approving, trusting, applying, repairing and
deleting stay a person's, with commands. How much autonomy an agent may give a run is
configured: 'waybill config get agentMaxAutonomy'.

Workflows are found from the folder that it is started in. On stdout is only the
protocol; diagnostics are on stderr.`

// New makes the command "mcp". It serves until its input ends or SIGTERM comes,
// and exits with 0 then; stdout has the protocol alone.
func New(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		GroupID: cli.GroupWork,
		Short:   "Serve AI agents over the Model Context Protocol",
		Long:    long,
		Example: "  waybill mcp\n  waybill mcp --tenant work --as reviewer",
		Args:    cli.None(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveAgents(cmd.Context(), a) },
	}
}

// serveAgents serves one client. Calls run side by side, so writes to stderr
// are serialized. A client that is gone is the end of the input; SIGPIPE must
// not end the process before its calls are done.
//
// A person who starts it at a terminal by mistake gets a warning with the way
// out.
func serveAgents(ctx context.Context, a *cli.App) error {
	a.ShareErr() // calls are made side by side
	log := a.Log()
	if a.IsTerminal(a.In) {
		log.Warn().Msg("this speaks JSON-RPC for an agent's program, which starts it by itself; Ctrl-D ends it")
	}
	// A signal ends the server as the end of the input does.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// An agent that is gone is the end of the input, not a reason to die of.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	server := mcpserver.Server{Version: a.Version, Calls: agentCalls{a}, Results: agentResults, As: a.Flags.As,
		Log: a.LogHandler()}
	return server.Serve(ctx, a.In, a.Out)
}

// agentResults are the types of the documents that agents are given.
var agentResults = mcpserver.Results{
	"workflows": document.Workflows{}, "workflow": document.Inspection{}, "step": engine.Answer{},
	"blocked":    engine.Answer{},
	"candidates": engine.ResumeList{},
}
