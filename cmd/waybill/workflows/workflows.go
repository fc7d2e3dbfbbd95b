// Package workflows holds the commands about workflow files: list, inspect, validate,
// compile, create, and trust their commands. It runs none of them.
package workflows

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

const long = `A workflow is a file of steps, in JSON or YAML. Waybill finds workflows

  bundled    in the binary; their ids begin with wr.
  installed  in the store, brought by proposals that were applied
  user       in $XDG_CONFIG_HOME/waybill/workflows (~/.config/waybill/workflows)
  project    in .waybill/workflows and .workrail/workflows, from the working directory
             up to the root of its repository

and in any file that you name. No place hides another: two files with one id are an
error that names both.`

func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("workflows", cli.GroupLook, "List, check, write and look into workflows", long,
		newList(a), newInspect(a), newValidate(a),
		newCompile(a), newNew(a))
}
