package about

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// complete writes the completion script for a shell to b. An unsupported shell is a
// USAGE_ERROR.
func complete(cmd *cobra.Command, shell string, b *bytes.Buffer) error {
	// The script completes the whole program, so it is generated from the root command.
	switch root := cmd.Root(); shell {
	case "bash":
		return root.GenBashCompletionV2(b, true)
	case "zsh":
		return root.GenZshCompletion(b)
	case "fish":
		return root.GenFishCompletion(b, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(b)
	}
	return cli.UsageFault(cmd, "no completion script for the shell %q", shell).
		Suggest("Use bash, zsh, fish or powershell.")
}

// NewCompletion returns the command "completion". It prints a script and opens no store. The
// script calls the program for each completion.
func NewCompletion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: cli.GroupSetup,
		Short:   "Print the completion script for a shell",
		Long: `Print the script that completes commands, flags and arguments of waybill in a shell. Load
it in the current shell, or store it where your shell finds completion scripts. In bash
it needs the package bash-completion.`,
		Example: `  source <(waybill completion bash)
  waybill completion zsh > "${fpath[1]}/_waybill"
  waybill completion fish > ~/.config/fish/completions/waybill.fish`,
		Args:      cli.Exactly("a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			// Built in memory first, so that an error leaves no partial script.
			var b bytes.Buffer
			if err := complete(cmd, args[0], &b); err != nil {
				return err
			}
			return a.Answer("completion", document.Completion{Shell: args[0], Script: b.String()},
				func(p *page.Page) { p.Write(b.Bytes()) })
		},
	}
}
