package main

import (
	"slices"
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

// newRoot returns the root command of a call, with its help, groups, common flags and the
// first-level command that it names, or all of them. Within a group, help lists them in the order of commands.
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
	only := called(a.Args)
	for _, c := range commands {
		if only == "" || c.name == only {
			root.AddCommand(c.build(a))
		}
	}
	if a.IsCompletion() {
		setCompletions(a, root)
	}
	setCreating(root, only)
	return root
}

// called returns the name of the first-level command that a call names first, "" for one that may concern others as well. No
// other is built for it: all of them are a tenth of what a short command takes.
func called(args []string) string {
	if len(args) > 0 && args[0] != "completion" && slices.ContainsFunc(commands, func(c firstLevel) bool { return c.name == args[0] }) {
		return args[0]
	}
	return ""
}

// firstLevel is a first-level command.
type firstLevel struct {
	name  string
	build func(*cli.App) *cobra.Command
}

// commands are the first-level commands.
var commands = []firstLevel{
	{"run", work.NewRun},
	{"start", work.NewStart},
	{"continue", work.NewContinue},
	{"checkpoint", work.NewCheckpoint},
	{"approve", work.NewApprove},
	{"send-back", work.NewSendBack},
	{"deny", work.NewDeny},
	{"due", work.NewDue},
	{"work", worker.New},
	{"inbox", work.NewInbox},
	{"console", console.New},
	{"proposals", learning.NewProposals},
	{"automations", learning.NewAutomations},
	{"fork", work.NewFork},
	{"annotate", learning.NewAnnotate},
	{"annotations", learning.NewAnnotations},
	{"mcp", mcp.New},
	{"trust", workflows.NewTrust},
	{"workflows", workflows.New},
	{"runs", func(a *cli.App) *cobra.Command { return runs.New(a, report.New(a)) }},
	{"resume", work.NewResume},
	{"replay", runs.NewReplay},
	{"trailer", runs.NewTrailer},
	{"who", runs.NewWho},
	{"verify", upkeep.NewVerify},
	{"repair", upkeep.NewRepair},
	{"keys", upkeep.NewKeys},
	{"doctor", upkeep.NewDoctor},
	{"store", upkeep.NewStore},
	{"export", travel.NewExport},
	{"import", travel.NewImport},
	{"bundle", travel.NewBundle},
	{"push", travel.NewPush},
	{"pull", travel.NewPull},
	{"audit", upkeep.NewAudit},
	{"sessions", upkeep.NewSessions},
	{"gc", upkeep.NewGC},
	{"du", upkeep.NewDU},
	{"artifacts", upkeep.NewArtifacts},
	{"config", upkeep.NewConfig},
	{"serve", serve.New},
	{"guard", guard.New},
	{"capabilities", learning.NewCapabilities},
	{"schema", schema.New},
	{"completion", about.NewCompletion},
	{"version", about.NewVersion},
}

// setCreating annotates the commands that create the store if it does not exist, and doctor, which reports that it does
// not. All are in one list, so that a missing one is easy to notice. only is the one first-level command of root, "" for all.
func setCreating(root *cobra.Command, only string) {
	for _, path := range []string{"run", "start", "fork", "import", "pull", "config set", "proposals create", "trust",
		"mcp", "serve", "serve keys add", "guard hook", "doctor", "workflows attach", "workflows detach"} {
		words := strings.Fields(path)
		if only != "" && words[0] != only {
			continue
		}
		cmd, rest, err := root.Find(words)
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
