package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// shown is the error of a command whose answer is printed already and whose exit
// status is not 0: a blocked step, a file that does not validate.
type shown struct{ status int }

// exitWith ends a command whose answer is printed already with an exit status.
func exitWith(status int) error { return shown{status} }

func (s shown) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// execute runs the command line with the commands of root and returns the exit status.
func (a *app) execute(root *cobra.Command) (status int) {
	// Whoever calls us reads one document or one message, also where we fail.
	defer func() {
		if r := recover(); r != nil {
			f := fault.New(fault.Internal, "waybill met a bug of its own: %v", r)
			f.Err = fmt.Errorf("%s", debug.Stack())
			status = a.fail(f)
		}
	}()
	root.SetArgs(a.args)
	called, err := root.ExecuteContextC(context.Background())
	var done shown
	switch {
	case err == nil:
		return fault.ExitDone
	case errors.As(err, &done):
		return done.status
	}
	return a.fail(a.asFault(called, err))
}

// begin checks the common flags of a command line that was parsed. From here on, errors
// are those of the command itself.
func (a *app) begin() error {
	err := a.checkCommon()
	a.running = err == nil
	return err
}

// The groups that help shows commands in.
const (
	groupWork  = "work"
	groupLook  = "look"
	groupStore = "store"
	groupSetup = "setup"
)

const rootLong = `Waybill carries work through its steps. A workflow is a list of steps; a person, a
command or an AI agent does each one. Waybill shows one step at a time, checks what
came back, and writes every fact to plain files, so that a run can be stopped at any
moment, continued, looked at and verified later. It needs no server and no network.

Everything about runs lies in one folder, the store: --store, else $WAYBILL_HOME/local,
$XDG_DATA_HOME/waybill/local or ~/.local/share/waybill/local.`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "waybill",
		Short:         "Carry work through its steps, and keep every fact of it",
		Long:          rootLong,
		Example:       "  waybill run wr.demo\n  waybill workflows list\n  waybill runs show @last",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.common.json {
				return missingSubcommand(cmd)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.begin() },
	}
	// Cobra must not write to the process's own streams: tests and --json rely on it.
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand(a))
	root.SetUsageFunc(writeUsage)
	root.SetHelpFunc(writeHelp)
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Carry out work:"},
		&cobra.Group{ID: groupLook, Title: "See what happened:"},
		&cobra.Group{ID: groupStore, Title: "Take along, keep and clean up:"},
		&cobra.Group{ID: groupSetup, Title: "Set up:"})
	a.addCommonFlags(root)
	root.AddCommand(newRunCommand(a), newStartCommand(a), newContinueCommand(a), newCheckpointCommand(a),
		newApproveCommand(a), newProposalsCommand(a), newAutomationsCommand(a), newForkCommand(a),
		newAnnotateCommand(a), newAnnotationsCommand(a),
		newMCPCommand(a), newTrustCommand(a), newWorkflowsCommand(a), newRunsCommand(a), newResumeCommand(a),
		newReplayCommand(a), newVerifyCommand(a), newRepairCommand(a), newKeysCommand(a), newDoctorCommand(a),
		newExportCommand(a), newImportCommand(a), newBundleCommand(a), newAuditCommand(a), newSessionsCommand(a),
		newGCCommand(a), newDUCommand(a), newArtifactsCommand(a),
		newConfigCommand(a), newCapabilitiesCommand(a), newSchemaCommand(a), newCompletionCommand(a),
		newVersionCommand(a))
	a.offerEverything(root)
	return root
}

// newGroup is a command that only has subcommands.
func newGroup(use, group, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, GroupID: group, Short: short, Long: long, Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return missingSubcommand(cmd) }}
	cmd.AddCommand(subs...)
	return cmd
}
