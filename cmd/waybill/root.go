package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
)

// lockWaitDefault is how long a writer waits for another one (R6).
const lockWaitDefault = 2 * time.Second

// shown is the error of a command whose answer is printed already and whose exit
// status is not 0: a blocked step, a file that does not validate.
type shown struct{ status int }

func (s shown) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// execute runs one command line and returns the exit status.
func (a *app) execute() (status int) {
	defer func() {
		if r := recover(); r != nil {
			status = a.fail(fault.New(fault.Internal, "waybill met a bug of its own: %v", r))
		}
	}()
	root := newRoot(a)
	root.SetArgs(a.args)
	err := root.ExecuteContext(context.Background())
	var done shown
	switch {
	case err == nil:
		return fault.ExitDone
	case errors.As(err, &done):
		return done.status
	}
	return a.fail(asFault(err))
}

// asFault gives cobra's own complaints our shape: whatever is no fault comes
// from reading the command line.
func asFault(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return fault.New(fault.UsageError, "%v", err)
}

// The groups that help shows commands in.
const (
	groupWork  = "work"
	groupLook  = "look"
	groupSetup = "setup"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "waybill",
		Short:         "Carry work through its steps, and keep every fact of it",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Carry out work:"},
		&cobra.Group{ID: groupLook, Title: "See what happened:"},
		&cobra.Group{ID: groupSetup, Title: "Set up:"})
	a.addCommonFlags(root)
	root.AddCommand(newRunCommand(a))
	return root
}

func (a *app) addCommonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.common.store, "store", "", "use the store in `DIR`")
	f.StringVar(&a.common.tenant, "tenant", "", "use the store of `NAME` beside the default one")
	f.BoolVar(&a.common.json, "json", false, "answer with one JSON document")
	f.StringVar(&a.common.as, "as", "", "record `REF` as the name of who acts")
	f.DurationVar(&a.common.lockWait, "lock-wait", lockWaitDefault, "wait for another writer at most `DURATION`")
	f.BoolVar(&a.common.allowNetworkFS, "allow-network-fs", false, "accept a store on a network filesystem")
	f.BoolVar(&a.common.noColor, "no-color", false, "print without colors")
	f.StringVar(&a.common.logLevel, "log-level", "warn", "print diagnostics from `LEVEL` on: debug, info, warn, error or off")
	f.StringVar(&a.common.logFormat, "log-format", "text", "print diagnostics as `FORMAT`: text or json")
}
