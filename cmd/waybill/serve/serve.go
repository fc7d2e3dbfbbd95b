// Package serve provides the command 'waybill serve' and the commands for the keys of programs that call it. It connects the
// server of infra/httpserver with the use cases of an open store, and has the runs performed that programs create.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// serveLong is what 'waybill serve --help' prints above the usage.
const serveLong = `Serve runs of this store to other programs on this machine, over HTTP in the OpenWOP
protocol, until Ctrl-C or SIGTERM. A line of JSON on stdout has the address. Programs
send a key that a person made with 'waybill serve keys add'.

The server performs the runs that programs create, as 'waybill run' does without a
terminal: commands run in the current directory, and only of workflows that a person has
trusted there. A run that needs a person waits for one: 'waybill approve',
'waybill continue' and, for a command that is to be confirmed, 'waybill run' work as ever.
Stopped or killed, the server continues with its runs at the next start; it has no state
of its own. It listens on loopback addresses only.

Requests are logged on stderr with --log-level info.`

// New returns the command "serve" with its subcommands.
func New(a *cli.App) *cobra.Command {
	in := input{addr: "127.0.0.1:0"}
	cmd := cli.WithOptions(&cobra.Command{
		Use:     "serve",
		GroupID: cli.GroupSetup,
		Short:   "Serve runs to programs over HTTP on this machine",
		Long:    serveLong,
		Example: "  waybill serve --addr 127.0.0.1:8080\n  waybill serve --tenant work --tenant home --log-level info",
		Args:    cli.None(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), a, in) },
		// The help names the command without a subcommand too.
		Annotations: map[string]string{cli.RunsAlone: "yes"},
	},
		cli.Opt(&in.addr, "addr HOST:PORT", "listen on HOST:PORT, a loopback address; port 0 is any free one"),
		cli.Opt(&in.tenants, "tenant NAME", "serve the store named NAME; may be repeated"),
		cli.Opt(&in.fixtures, "fixtures", "add the workflows of the conformance scenarios"),
		cli.Opt(&in.seams, "test-seams", "serve what conformance tests need: every key may force a version of the engine"))
	cmd.AddCommand(newKeys(a))
	return cmd
}
