package mcp

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/guard"
)

// installLong is what 'waybill mcp install --help' prints above the usage.
const installLong = `Add this server to your own settings of a client: claude (Claude Code), codex (Codex
CLI), gemini (Gemini CLI) or opencode (OpenCode). What is added and what it replaces is
shown, and nothing else of the file, which may hold secrets. The file is written after you
confirmed that at a terminal. Everything else in the file stays as it is. Installed again,
nothing changes. A server of this program at another place or with another store gets the
command line of this call; another server with the name waybill is not replaced.

The files are ~/.claude.json ($CLAUDE_CONFIG_DIR), ~/.codex/config.toml ($CODEX_HOME),
~/.gemini/settings.json and ~/.config/opencode/opencode.json ($XDG_CONFIG_HOME). A file
that is a link, is read-only or cannot be read for certain is not changed, and none is
made beside opencode.jsonc; the lines to add by hand are printed then. The server uses the
store of this call, also if the environment selects it.

--print shows the difference and changes nothing.`

// newInstall returns the command "mcp install".
func newInstall(a *cli.App) *cobra.Command {
	var print bool
	return cli.WithOptions(&cobra.Command{
		Use:       "install CLIENT",
		Short:     "Add the server to the settings of a client",
		Long:      installLong,
		Example:   "  waybill mcp install claude --print\n  waybill mcp install opencode",
		Args:      cli.Exactly("a client: " + guard.Names()),
		ValidArgs: guard.NameList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cli.ClientArg(cmd, args[0])
			if err != nil {
				return err
			}
			p, err := cli.GuardProgram(a)
			if err != nil {
				return err
			}
			return cli.ChangeClient(a, cli.ClientChange{Client: c, File: c.Servers, Print: print,
				Make:     func(settings []byte) (guard.Result, error) { return guard.InstallServer(settings, c, p) },
				Question: "Write this change, so that " + c.Title + " starts the server?",
				Done:     "The server is in", Same: "Nothing changes: the server is in"})
		},
	}, cli.Opt(&print, "print", "show the difference and change nothing"))
}

// newUninstall returns the command "mcp uninstall".
func newUninstall(a *cli.App) *cobra.Command {
	var print bool
	return cli.WithOptions(&cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Remove the server from the settings of a client",
		Long: `Remove the server that 'waybill mcp install' added to your own settings of a client: claude,
codex, gemini or opencode. What is removed is shown, and the file is written after you
confirmed it at a terminal. Everything else in the file stays as it is; the list of
servers is removed with the last one, and a file with nothing else too. --print shows the
difference and changes nothing.`,
		Example:   "  waybill mcp uninstall claude --print\n  waybill mcp uninstall codex",
		Args:      cli.Exactly("a client: " + guard.Names()),
		ValidArgs: guard.NameList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cli.ClientArg(cmd, args[0])
			if err != nil {
				return err
			}
			return cli.ChangeClient(a, cli.ClientChange{Client: c, File: c.Servers, Print: print,
				Make:     func(settings []byte) (guard.Result, error) { return guard.UninstallServer(settings, c) },
				Question: "Write this change, so that " + c.Title + " starts the server no more?",
				Done:     "The server is removed from", Same: "Nothing changes: the server is not in",
				ByHand: "Remove the server with the name waybill by hand, if it is that of this program."})
		},
	}, cli.Opt(&print, "print", "show the difference and change nothing"))
}
