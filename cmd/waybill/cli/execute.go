package cli

import (
	"context"
	"errors"
	"fmt"
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
	// The caller gets exactly one document or message, even if the program has a bug.
	defer func() {
		if r := recover(); r != nil {
			f := fault.New(fault.Internal, "internal error (a bug in waybill): %v", r)
			f.Err = fmt.Errorf("%s", debug.Stack())
			status = a.fail(f)
		}
	}()
	root.SetArgs(a.Args)
	called, err := root.ExecuteContextC(context.Background())
	var done exitStatus
	switch {
	case err == nil:
		return fault.ExitDone
	case errors.As(err, &done):
		return done.status
	}
	return a.fail(a.asFault(called, err))
}

// Begin checks the common flags after the command line was parsed. If it succeeds, later
// errors are those of the command itself; see asFault.
func (a *App) Begin() error {
	err := a.checkCommon()
	a.running = err == nil
	return err
}
