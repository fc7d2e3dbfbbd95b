// Package workflows implements the commands about workflow files: list, inspect, validate,
// test, compile and new, and trust, which records that the commands of one version may run. It runs
// no workflow and no command.
//
// A workflow is named by FILE or ID. cli.IsFile distinguishes the two by their spelling and
// independent of the files that exist.
package workflows

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// long is what 'waybill workflows --help' prints above the usage.
const long = `A workflow is a file of steps, in JSON or YAML. Waybill finds workflows

  bundled    in the binary; their ids start with wr.
  installed  in the store, installed by applied proposals
  user       in $XDG_CONFIG_HOME/waybill/workflows (~/.config/waybill/workflows)
             and in ~/.workrail/workflows, which is only read
  project    in .waybill/workflows and .workrail/workflows, from the working directory
             up to the root of its repository
  plugin     in folders that were attached with 'workflows attach'

and in any file given by its path. No source overrides another: two files with the same
id are an error that names both. But a bundled workflow is used instead of an attached one
with its id, and a warning says so.`

// New returns the command "workflows" with its subcommands. Only new and compile write a file.
// The store is only read, for installed workflows.
func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("workflows", cli.GroupInspect, "List, inspect, test and create workflows", long,
		newList(a), newInspect(a), newValidate(a), newTest(a), newBuiltins(a),
		newCompile(a), newNew(a), newAttach(a), newDetach(a), newSources(a))
}
