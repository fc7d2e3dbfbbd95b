// Package guard implements the commands that put hooks into the settings of an agent's client, and the command that
// the hooks run. What a hook answers is decided by package durable/guard; which runs are open is known by
// durable/engine/openruns.
package guard

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/guard"
)

// guardLong is what 'waybill guard --help' prints above the commands.
const guardLong = `Hooks keep an agent at the open step of a run. At the start of a session and after a
compaction its client shows it the step; when it ends its turn while it can perform a
step, the hook refuses that, at most twice in a row for the same step. The clients are
claude (Claude Code), codex (Codex CLI), gemini (Gemini CLI) and opencode (OpenCode).`

// New returns the command "guard".
func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("guard", cli.GroupSetup, "Keep agents at the open step with hooks of their client", guardLong,
		newInstall(a), newUninstall(a), newTest(a), newHook(a))
}

// installLong is what 'waybill guard install --help' prints above the usage.
const installLong = `Add hooks to your own settings of a client: claude, codex, gemini or opencode. What is
added and what it replaces is shown, and nothing else of the file, which may hold secrets.
The file is written after you confirmed that at a terminal. Everything else in the file
stays as it is, byte for byte. Installed again, nothing changes.

The files are ~/.claude/settings.json ($CLAUDE_CONFIG_DIR), ~/.codex/hooks.json
($CODEX_HOME) and ~/.gemini/settings.json. OpenCode loads a plugin that runs the hooks,
~/.config/opencode/plugins/waybill.js ($XDG_CONFIG_HOME); it is for OpenCode 1.18.29 and
newer, and for OpenCode 2. A file that is a link, is read-only, is no plain JSON or is
another plugin is not changed; the lines to add by hand are printed then. The hooks call
this program with the store of this call, also if the environment selects it.

--print shows the difference and changes nothing.`

// newInstall returns the command "guard install".
func newInstall(a *cli.App) *cobra.Command {
	var print bool
	return cli.WithOptions(&cobra.Command{
		Use:       "install CLIENT",
		Short:     "Add hooks to the settings of a client",
		Long:      installLong,
		Example:   "  waybill guard install claude --print\n  waybill guard install codex",
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
			return cli.ChangeClient(a, cli.ClientChange{Client: c, File: c.Settings, Print: print,
				Make:     func(settings []byte) (guard.Result, error) { return guard.Install(settings, c, p) },
				Question: "Write this change, so that " + c.Title + " runs the hooks?", Note: c.Note,
				Done: "The hooks are in", Same: "Nothing changes: the hooks are in"})
		},
	}, cli.Opt(&print, "print", "show the difference and change nothing"))
}

// newUninstall returns the command "guard uninstall".
func newUninstall(a *cli.App) *cobra.Command {
	var print bool
	return cli.WithOptions(&cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Remove the hooks from the settings of a client",
		Long: `Remove the hooks of this program from your own settings of a client: claude, codex, gemini
or opencode. What is removed is shown, and the file is written after you confirmed it at a
terminal. Other hooks and everything else in the file stay as they are; a list or an
object that is empty without the hooks is removed with them, also one that was empty
before they were added. A file with nothing else is removed, and so is the plugin of
OpenCode. --print shows the difference and changes nothing.`,
		Example:   "  waybill guard uninstall claude --print\n  waybill guard uninstall gemini",
		Args:      cli.Exactly("a client: " + guard.Names()),
		ValidArgs: guard.NameList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cli.ClientArg(cmd, args[0])
			if err != nil {
				return err
			}
			return cli.ChangeClient(a, cli.ClientChange{Client: c, File: c.Settings, Print: print,
				Make:     func(settings []byte) (guard.Result, error) { return guard.Uninstall(settings, c) },
				Question: "Write this change, so that " + c.Title + " runs the hooks no more?",
				Done:     "The hooks are removed from", Same: "Nothing changes: no hook is in", ByHand: byHand(c)})
		},
	}, cli.Opt(&print, "print", "show the difference and change nothing"))
}

// byHand says what a person removes where 'guard uninstall' does not change the settings.
func byHand(c guard.Client) string {
	if c.Settings.Plugin() {
		return "Remove the file by hand if you use it no more."
	}
	return "Remove by hand the hooks whose command ends with 'guard hook EVENT --client " + c.Name + "'."
}
