package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/about"
	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/console"
	"github.com/waybill/waybill/cmd/waybill/guard"
	"github.com/waybill/waybill/cmd/waybill/learning"
	"github.com/waybill/waybill/cmd/waybill/mcp"
	"github.com/waybill/waybill/cmd/waybill/report"
	"github.com/waybill/waybill/cmd/waybill/runs"
	"github.com/waybill/waybill/cmd/waybill/schema"
	"github.com/waybill/waybill/cmd/waybill/serve"
	"github.com/waybill/waybill/cmd/waybill/travel"
	"github.com/waybill/waybill/cmd/waybill/upkeep"
	"github.com/waybill/waybill/cmd/waybill/work"
	"github.com/waybill/waybill/cmd/waybill/worker"
	"github.com/waybill/waybill/cmd/waybill/workflows"
)

// rootLong is what 'waybill --help' prints above the usage.
const rootLong = `Waybill runs workflows. A workflow is a list of steps; each step is performed by a
person, a command or an AI agent. Waybill shows one step at a time, checks the submitted
output and records every fact in plain files, so that a run can be stopped at any moment,
continued, inspected and verified later. It needs no server and no network.

All data about runs is stored in one directory, the store: --store or $WAYBILL_STORE, or by
default $WAYBILL_HOME/local, $XDG_DATA_HOME/waybill/local or ~/.local/share/waybill/local.
Many machines share a store in a PostgreSQL database: see 'waybill store --help'.`

// newRoot returns the root command of a call, with its help, groups, common flags and all
// first-level commands. Within a group, help lists the commands in the order of AddCommand.
// Called without a command, the program prints a short page on what to type; with --json that is
// a USAGE_ERROR, since a program that parses stdout needs a document.
func newRoot(a *cli.App) *cobra.Command {
	var version bool
	root := cli.WithOptions(&cobra.Command{
		Use:           "waybill",
		Short:         "Run workflows and record every fact about them",
		Long:          rootLong,
		Example:       "  waybill run wr.demo\n  waybill workflows list\n  waybill runs show @last",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case version:
				return about.PrintVersion(a)
			case a.Flags.JSON:
				return cli.MissingSubcommand(cmd)
			}
			return about.PrintOverview(a, cmd)
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return a.Begin(cmd, args) },
	}, cli.Opt(&version, "version", "print the version, as 'waybill version' does"))
	// Cobra defaults to the streams of the process; tests and --json need those of the App.
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	// Package about provides the commands help and completion, with errors as faults.
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(about.NewHelp(a))
	about.SetHelp(a, root)
	root.AddGroup(&cobra.Group{ID: cli.GroupRun, Title: "Run workflows:"},
		&cobra.Group{ID: cli.GroupInspect, Title: "Inspect runs:"},
		&cobra.Group{ID: cli.GroupMaintain, Title: "Export, maintain and clean up:"},
		&cobra.Group{ID: cli.GroupSetup, Title: "Set up:"})
	a.AddCommonFlags(root)
	a.Views = viewCommands
	root.AddCommand(work.NewRun(a), work.NewStart(a), work.NewContinue(a), work.NewCheckpoint(a),
		work.NewApprove(a), work.NewSendBack(a), work.NewDeny(a), work.NewDue(a), worker.New(a), work.NewInbox(a), console.New(a), learning.NewProposals(a), learning.NewAutomations(a), work.NewFork(a),
		learning.NewAnnotate(a), learning.NewAnnotations(a),
		mcp.New(a), workflows.NewTrust(a), workflows.New(a), runs.New(a, report.New(a)), work.NewResume(a),
		runs.NewReplay(a), runs.NewTrailer(a), runs.NewWho(a), upkeep.NewVerify(a), upkeep.NewRepair(a), upkeep.NewKeys(a), upkeep.NewDoctor(a), upkeep.NewStore(a),
		travel.NewExport(a), travel.NewImport(a), travel.NewBundle(a), travel.NewPush(a), travel.NewPull(a), upkeep.NewAudit(a), upkeep.NewSessions(a),
		upkeep.NewGC(a), upkeep.NewDU(a), upkeep.NewArtifacts(a),
		upkeep.NewConfig(a), serve.New(a), guard.New(a), learning.NewCapabilities(a), schema.New(a), about.NewCompletion(a),
		about.NewVersion(a))
	if a.IsCompletion() {
		setCompletions(a, root)
	}
	setCreating(root)
	return root
}

// setCreating annotates the commands that create the store if it does not exist, and doctor, which reports that it does
// not. All are in one list, so that a missing one is easy to notice.
func setCreating(root *cobra.Command) {
	for _, path := range []string{"run", "start", "fork", "import", "pull", "config set", "proposals create", "trust",
		"mcp", "serve", "serve keys add", "guard hook", "doctor", "workflows attach", "workflows detach"} {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			panic("no command " + path) // a bug in this list
		}
		if cmd.Annotations == nil {
			cmd.Annotations = map[string]string{}
		}
		cmd.Annotations[cli.MayCreate] = "yes"
	}
}

// viewCommands are the commands whose text is shown by a pager: they ask nothing and change nothing.
var viewCommands = []string{"runs list", "runs show", "runs events", "runs timeline", "runs graph", "runs diff", "runs search", "runs logs", "inbox", "resume",
	"replay", "who", "verify", "doctor", "du", "audit list", "audit show", "audit verify", "annotations list", "annotations summary",
	"artifacts list", "artifacts show", "bundle show", "bundle verify", "bundle diff", "capabilities", "config get", "keys list",
	"proposals list", "proposals get", "proposals installed", "proposals events", "sessions list", "serve keys list",
	"workflows list", "workflows inspect", "workflows validate", "workflows builtins", "workflows sources", "schema"}
