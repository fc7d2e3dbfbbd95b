package about

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// complete writes the completion script for a shell to b. A shell that cobra
// has no script for is a usage error.
func complete(cmd *cobra.Command, shell string, b *bytes.Buffer) error {
	// The script completes the whole program, so it is made from the root.
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
	return cli.UsageFault(cmd, "there is no completion for the shell %q", shell).
		Suggest("Use bash, zsh, fish or powershell.")
}

// NewCompletion makes the command "completion". It prints a script and opens no
// store; the script calls the program again for each completion.
func NewCompletion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: cli.GroupSetup,
		Short:   "Print a script that completes commands in your shell",
		Long: `Print the script that makes your shell complete waybill's commands and flags with
the tab key. Load it once to try it, or put it where your shell looks for such scripts.
In bash it needs the package bash-completion.`,
		Example: `  source <(waybill completion bash)
  waybill completion zsh > "${fpath[1]}/_waybill"
  waybill completion fish > ~/.config/fish/completions/waybill.fish`,
		Args:      cli.Exactly("a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var b bytes.Buffer
			if err := complete(cmd, args[0], &b); err != nil {
				return err
			}
			return a.Answer("completion", document.Completion{Shell: args[0], Script: b.String()},
				func(p *page.Page) { p.Write(b.Bytes()) })
		},
	}
}
