package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// exitStatus is the error of a command whose answer is printed already and whose exit
// status is not 0: a blocked step, a file that does not validate.
type exitStatus struct{ status int }

// ExitWith ends a command whose answer is printed already with an exit status.
func ExitWith(status int) error { return exitStatus{status} }

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// Execute runs the command line with the commands of root and returns the exit status.
func (a *App) Execute(root *cobra.Command) (status int) {
	// Whoever calls us reads one document or one message, also where we fail.
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

// Begin checks the common flags of a command line that was parsed. From here on, errors
// are those of the command itself.
func (a *App) Begin() error {
	err := a.checkCommon()
	a.running = err == nil
	return err
}
