package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// exitStatus is the error of a command that has printed its answer and ends with an exit
// status other than 0, such as for a blocked step or an invalid workflow file.
type exitStatus struct{ status int }

// ExitWith returns the error that ends a command with an exit status after its answer was
// printed. Execute prints nothing for it.
func ExitWith(status int) error { return exitStatus{status} }

// Error implements error.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// Execute runs the command line with the commands of root and returns the exit status. It
// prints every error, as JSON or as text for people. A panic is printed as INTERNAL.
func (a *App) Execute(root *cobra.Command) (status int) {
	defer a.Notifications.End() // the answer is printed
	called := root
	defer func() {
		if a.measured != nil {
			a.measured(called.CommandPath())
		}
	}()
	// The caller gets exactly one document or message, even if the program has a bug.
	defer func() {
		if r := recover(); r != nil {
			f := fault.New(fault.Internal, "internal error (a bug in waybill): %v", r)
			f.Err = fmt.Errorf("%s", debug.Stack())
			status = a.fail(f)
		}
	}()
	root.SetArgs(numbersLast(root, a.Args))
	if a.IsCompletion() {
		root.SetArgs(a.Args)
		a.Err = io.Discard
		root.SetErr(a.Err)
	}
	command, err := root.ExecuteContextC(context.Background())
	a.endPaging()
	if command != nil {
		called = command
	}
	var done exitStatus
	switch {
	case err == nil:
		return fault.ExitDone
	case errors.As(err, &done):
		return done.status
	}
	if called.Annotations[LetsGo] != "" {
		log := a.Log()
		log.Debug().Err(err).Msg("no answer")
		return fault.ExitDone
	}
	return a.fail(a.asFault(command, err))
}

// LetsGo is the annotation of a command whose errors are no answer and exit status 0: the program that calls it takes
// an exit status for an answer (docs/design.md#guard).
const LetsGo = "waybill: lets go"

// MayCreate is the annotation of a command that creates the store if it does not exist. For other commands a store that
// a flag names has to exist.
const MayCreate = "waybill: may create"

// OnlyReads makes this call of a command that may create the store one that does not.
func OnlyReads(a *App) { a.creates = false }

// Begin checks the common flags, the values of all flags and arguments, and the flags of the command that exclude each
// other, after the command line was parsed. If it succeeds, later errors are those of the command itself; see asFault.
func (a *App) Begin(cmd *cobra.Command, args []string) error {
	err := a.checkCommon()
	if err == nil {
		err = checkBlank(cmd, args)
	}
	if err == nil {
		err = beginLines(a, cmd)
	}
	if err == nil {
		err = cmd.ValidateFlagGroups() // cobra does it too, when asFault takes errors for those of the command
	}
	a.running, a.creates = err == nil, cmd.Annotations[MayCreate] != "" || cmd.DisableFlagParsing
	if a.running {
		beginPaging(a, cmd)
		var ctx context.Context
		ctx, a.measured = a.Traced(cmd.Context(), a.Log())
		cmd.SetContext(ctx)
	}
	return err
}
