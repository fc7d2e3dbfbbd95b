// Package mcp implements the command that serves agents over the Model Context Protocol. It
// provides the use cases, agentCalls, and opens the store for each call; package mcpserver
// implements the protocol. Agents have no tools for approving, trusting or deleting.
package mcp

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/infra/mcpserver"
)

// long is what 'waybill mcp --help' prints above the usage.
const long = `Serve the Model Context Protocol on stdin and stdout, so that an AI agent can perform
workflows. The agent's host program starts this command; it is not for interactive use.
It ends at the end of its input, or with SIGTERM. The server has no state of its own: a
run that was started with one server can be continued with another one or with
'waybill continue'.

Tools: list_workflows, inspect_workflow, start_workflow, continue_workflow,
checkpoint_workflow and resume_session. Approving, trusting, applying, repairing and
deleting need a person and the command line. The autonomy that an agent may set for a
run is limited by the configuration: 'waybill config get agentMaxAutonomy'.

Each workflow is a prompt too, and runs and workflows are resources. The user of a client
that can ask is asked for declared inputs and plain confirmations, for nothing else.

continue_workflow runs the checks of a step in the project of the working directory, under
trust that a person recorded with 'waybill trust', and no other: without it the tool answers
WORKFLOW_UNTRUSTED, and nothing runs or is recorded. A check that fails, or whose pinned
files changed (check_changed), is a blocked answer that names it.

Workflows are found from the working directory of the server. stdout contains only the
protocol; diagnostics are printed on stderr.`

// New returns the command "mcp". It serves until its input ends or a signal is received, and
// then exits with status 0. stdout contains only the protocol.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mcp",
		GroupID: cli.GroupRun,
		Short:   "Serve AI agents over the Model Context Protocol",
		Long:    long,
		Example: "  waybill mcp\n  waybill mcp --tenant work --as reviewer",
		Args:    cli.None(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveAgents(cmd.Context(), a) },
		// The help names the command without a subcommand too.
		Annotations: map[string]string{cli.RunsAlone: "yes"},
	}
	cmd.AddCommand(newInstall(a), newUninstall(a))
	return cmd
}

// serveAgents serves one client. Calls run concurrently, so that writes to stderr are
// serialized. A disconnected client is the end of the input; SIGPIPE must not end the process
// before its calls have finished.
//
// If stdin is a terminal, it logs a warning that explains how to exit.
func serveAgents(ctx context.Context, a *cli.App) error {
	a.SyncStderr() // calls run concurrently
	log := a.Log()
	if a.IsTerminal(a.In) {
		log.Warn().Msg("this command expects JSON-RPC from an agent host program; press Ctrl-D to exit")
	}
	// A signal ends the server like the end of the input.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Writing to a disconnected client must return an error instead of ending the process.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	server := mcpserver.Server{Version: a.Version, Calls: agentCalls{a}, ActorRef: a.Flags.As,
		Measure: func(ctx context.Context) (context.Context, func(string)) { return a.Traced(ctx, a.Log()) },
		Log:     a.LogHandler(), Fault: a.SuggestForStore}
	return server.Serve(ctx, a.In, a.Out)
}
