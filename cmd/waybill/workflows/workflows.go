// Package workflows holds the commands about workflow files: list, inspect,
// validate, compile and new, and trust, which records that the commands of one
// version may run. It runs none of them.
//
// A workflow is named by FILE or ID. Which of the two a name is follows from
// its spelling, and never from the files that exist.
package workflows

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// long is what 'waybill workflows --help' prints above the usage.
const long = `A workflow is a file of steps, in JSON or YAML. Waybill finds workflows

  bundled    in the binary; their ids begin with wr.
  installed  in the store, brought by proposals that were applied
  user       in $XDG_CONFIG_HOME/waybill/workflows (~/.config/waybill/workflows)
  project    in .waybill/workflows and .workrail/workflows, from the working directory
             up to the root of its repository

and in any file that you name. No place hides another: two files with one id are an
error that names both.`

// New makes the command "workflows" with its subcommands. Only new and compile
// write a file, and none of them touches the store but to read what is
// installed.
func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("workflows", cli.GroupLook, "List, check, write and look into workflows", long,
		newList(a), newInspect(a), newValidate(a),
		newCompile(a), newNew(a))
}
