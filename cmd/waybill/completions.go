package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/complete"
	"github.com/waybill/waybill/ports"
)

// setCompletions sets the shell completion of arguments that name what a store or the configuration holds,
// and of all flags. All commands are in one list, so that a missing one is easy to notice. Flags with a
// closed set of values have their completion from package cli.
func setCompletions(a *cli.App, root *cobra.Command) {
	// Only what takes a file completes files.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	for _, of := range []struct {
		with     cobra.CompletionFunc
		commands []string
	}{
		{complete.Workflows(a), []string{"run", "start", "trust", "workflows inspect", "workflows validate",
			"workflows test", "workflows compile"}},
		{complete.RunArg(a), []string{"runs show", "runs report", "runs events", "runs timeline", "runs graph", "runs watch",
			"runs logs", "runs take-back", "artifacts list", "sessions keep", "sessions delete", "approve", "send-back",
			"deny", "fork", "replay", "verify", "export", "push", "repair", "annotate", "annotations list", "annotations summary",
			"annotations retract"}},
		{twoRuns(a), []string{"runs diff"}},
		{otherRun(a), []string{"pull"}},
		{complete.OpenRun(a), []string{"runs cancel", "runs pause"}},
		{complete.PausedRun(a), []string{"runs resume"}},
		{complete.Proposals(a), []string{"proposals get", "proposals revise", "proposals approve", "proposals apply",
			"proposals reject", "proposals archive", "proposals rollback"}},
		{complete.Settings, []string{"config get", "config set"}},
		{complete.Files, []string{"import", "bundle show", "bundle verify", "bundle diff", "proposals create"}},
		{complete.Dirs, []string{"workflows attach"}},
	} {
		for _, path := range of.commands {
			if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
				cmd.ValidArgsFunction = of.with
			}
		}
	}
	cli.CompleteFlags(root, flagCompletions(a))
}

// twoRuns returns the completion of two arguments that are runs.
func twoRuns(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete.RunArg(a)(cmd, args[min(len(args), 1):], word)
	}
}

// otherRun returns the completion of an argument that is a run of the store that --from names.
func otherRun(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		from := cmd.Flag("from").Value.String()
		if from == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete.RunArg(cli.OtherStore(a, from, ports.ReadOnly))(cmd, args, word)
	}
}

// flagCompletions returns the completion of flags by the name of their value in the help, and by the name of
// the flag where one name has several meanings.
func flagCompletions(a *cli.App) map[string]cobra.CompletionFunc {
	nodes := complete.Nodes(a)
	workflows := func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete.Workflows(a)(cmd, nil, word)
	}
	ids := func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		out, _ := workflows(cmd, nil, word)
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return map[string]cobra.CompletionFunc{
		"FILE": complete.Files, "ALLOWED_SIGNERS": complete.Files, "DIR": complete.Dirs, "STORE": complete.Dirs,
		"FILE|ID": workflows, "--workflow FILE": workflows, "--workflow ID": ids,
		"RUN": complete.RunFlag(a), "--run ID": complete.RunIDs(a), "--session ID": complete.SessionIDs(a),
		"NODE": nodes, "--step ID": nodes,
		"--rating N": cobra.FixedCompletions([]cobra.Completion{"1", "2", "3", "4", "5"},
			cobra.ShellCompDirectiveNoFileComp),
	}
}
