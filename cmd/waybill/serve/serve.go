// Package serve provides the command 'waybill serve' and the commands for the keys of programs that call it.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// serveLong is what 'waybill serve --help' prints above the usage.
const serveLong = `The keys with which programs on this machine call the server of a store.`

// New returns the command "serve" with its subcommands.
func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("serve", cli.GroupSetup, "Add, list or remove keys of programs", serveLong, newKeys(a))
}
