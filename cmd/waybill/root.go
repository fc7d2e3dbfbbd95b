package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/about"
	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/learning"
	"github.com/waybill/waybill/cmd/waybill/mcp"
	"github.com/waybill/waybill/cmd/waybill/runs"
	"github.com/waybill/waybill/cmd/waybill/schema"
	"github.com/waybill/waybill/cmd/waybill/travel"
	"github.com/waybill/waybill/cmd/waybill/upkeep"
	"github.com/waybill/waybill/cmd/waybill/work"
	"github.com/waybill/waybill/cmd/waybill/workflows"
)

// rootLong is what 'waybill --help' prints above the usage.
const rootLong = `Waybill carries work through its steps. A workflow is a list of steps; a person, a
command or an AI agent does each one. Waybill shows one step at a time, checks what
came back, and writes every fact to plain files, so that a run can be stopped at any
moment, continued, looked at and verified later. It needs no server and no network.

Everything about runs lies in one folder, the store: --store, else $WAYBILL_HOME/local,
$XDG_DATA_HOME/waybill/local or ~/.local/share/waybill/local.`

// newRoot puts all commands together: it makes the root command of a call with
// its help, groups and common flags, and adds each command of the first level.
// The order is that of the help within a group. Called without a command, the
// program prints its help; with --json that is an error, since a program reads
// the answer.
func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "waybill",
		Short:         "Carry work through its steps, and keep every fact of it",
		Long:          rootLong,
		Example:       "  waybill run wr.demo\n  waybill workflows list\n  waybill runs show @last",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Flags.JSON {
				return cli.MissingSubcommand(cmd)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.Begin() },
	}
	// Cobra must not write to the process's own streams: tests and --json rely on it.
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(about.NewHelp(a))
	root.SetUsageFunc(about.WriteUsage)
	root.SetHelpFunc(about.WriteHelp)
	root.AddGroup(&cobra.Group{ID: cli.GroupWork, Title: "Carry out work:"},
		&cobra.Group{ID: cli.GroupLook, Title: "See what happened:"},
		&cobra.Group{ID: cli.GroupStore, Title: "Take along, keep and clean up:"},
		&cobra.Group{ID: cli.GroupSetup, Title: "Set up:"})
	a.AddCommonFlags(root)
	root.AddCommand(work.NewRun(a), work.NewStart(a), work.NewContinue(a), work.NewCheckpoint(a),
		work.NewApprove(a), learning.NewProposals(a), learning.NewAutomations(a), work.NewFork(a),
		learning.NewAnnotate(a), learning.NewAnnotations(a),
		mcp.New(a), workflows.NewTrust(a), workflows.New(a), runs.New(a), work.NewResume(a),
		runs.NewReplay(a), upkeep.NewVerify(a), upkeep.NewRepair(a), upkeep.NewKeys(a), upkeep.NewDoctor(a),
		travel.NewExport(a), travel.NewImport(a), travel.NewBundle(a), upkeep.NewAudit(a), upkeep.NewSessions(a),
		upkeep.NewGC(a), upkeep.NewDU(a), upkeep.NewArtifacts(a),
		upkeep.NewConfig(a), learning.NewCapabilities(a), schema.New(a), about.NewCompletion(a),
		about.NewVersion(a))
	offerArguments(a, root)
	return root
}

// offerArguments sets what the tab key offers for the arguments of commands. It
// is one list, so that a command that takes a run, a workflow or a proposal is
// not forgotten.
func offerArguments(a *cli.App, root *cobra.Command) {
	for _, path := range [][]string{{"run"}, {"start"}, {"trust"}, {"workflows", "inspect"}, {"workflows", "validate"},
		{"workflows", "compile"}} {
		if cmd, _, err := root.Find(path); err == nil {
			cmd.ValidArgsFunction = a.OfferWorkflows
		}
	}
	for _, path := range [][]string{{"runs", "show"}, {"runs", "events"}, {"runs", "timeline"}, {"runs", "graph"},
		{"runs", "watch"}, {"runs", "cancel"},
		{"sessions", "keep"}, {"sessions", "delete"}, {"approve"}, {"fork"}, {"replay"}, {"verify"}, {"export"},
		{"repair"},
		{"annotate"}, {"annotations", "list"}, {"annotations", "summary"}, {"annotations", "retract"}} {
		if cmd, _, err := root.Find(path); err == nil {
			cmd.ValidArgsFunction = a.OfferRuns
		}
	}
	for _, name := range []string{"get", "revise", "approve", "apply", "reject", "archive", "rollback"} {
		if cmd, _, err := root.Find([]string{"proposals", name}); err == nil {
			cmd.ValidArgsFunction = a.OfferProposals
		}
	}
	for _, name := range []string{"run", "continue", "checkpoint"} {
		if cmd, _, err := root.Find([]string{name}); err == nil && cmd.Flag("run") != nil {
			_ = cmd.RegisterFlagCompletionFunc("run", a.OfferRunFlag)
		}
	}
}
