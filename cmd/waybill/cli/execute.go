package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// exitStatus is the error of a command whose answer is printed already and
// whose exit status is not 0, such as a blocked step or a file that does not
// validate.
type exitStatus struct{ status int }

// ExitWith ends a command with an exit status after its answer was printed.
// Nothing more is printed.
func ExitWith(status int) error { return exitStatus{status} }

// Error implements error.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// Execute runs the command line with the commands of root and returns the exit
// status. It prints every error, in the form that the caller asked for; a panic
// is printed as one as well.
func (a *App) Execute(root *cobra.Command) (status int) {
	// The caller gets one document or one message, also where the program fails.
	defer func() {
		if r := recover(); r != nil {
			f := fault.New(fault.Internal, "waybill met a bug of its own: %v", r)
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

// Begin checks the common flags of a command line that was parsed. From then
// on, errors are those of the command itself.
func (a *App) Begin() error {
	err := a.checkCommon()
	a.running = err == nil
	return err
}
