package main

import (
	"bytes"

	"github.com/spf13/cobra"
)

// completions writes the script of each shell.
var completions = map[string]func(*cobra.Command, *bytes.Buffer) error{
	"bash":       func(root *cobra.Command, b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
	"zsh":        func(root *cobra.Command, b *bytes.Buffer) error { return root.GenZshCompletion(b) },
	"fish":       func(root *cobra.Command, b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
	"powershell": func(root *cobra.Command, b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
}

// completionScript is the document "completion".
type completionScript struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: groupSetup,
		Short:   "Print a script that completes commands in your shell",
		Long: `Print the script that makes your shell complete waybill's commands and flags with
the tab key. Load it once to try it, or put it where your shell looks for such scripts.`,
		Example: `  source <(waybill completion bash)
  waybill completion zsh > "${fpath[1]}/_waybill"
  waybill completion fish > ~/.config/fish/completions/waybill.fish`,
		Args:      exactly("a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := completions[args[0]]
			if !ok {
				return usageFault(cmd, "there is no completion for the shell %q", args[0]).Suggest("Use bash, zsh, fish or powershell.")
			}
			var b bytes.Buffer
			if err := write(cmd.Root(), &b); err != nil {
				return err
			}
			return a.answer("completion", completionScript{args[0], b.String()}, func(p *page) { p.Write(b.Bytes()) })
		},
	}
}
