//go:build !linux && !darwin

package terminal

import "os"

// keyMode is not available: lines are those of the terminal, with its limit.
func keyMode(*os.File) (restore func(), ok bool) { return nil, false }

// keepMode is not available: the terminal has the mode that a program left.
func keepMode(*os.File) (restore func()) { return func() {} }

// isForeground takes every terminal for one that this process may read from.
func isForeground(*os.File) bool { return true }

// endBy ends this process.
func endBy(os.Signal) { os.Exit(1) }
