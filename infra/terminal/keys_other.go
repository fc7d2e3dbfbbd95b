//go:build !linux && !darwin

package terminal

import "os"

// keyMode is not available: lines are those of the terminal, with its limit.
func keyMode(*os.File) (restore func(), ok bool) { return nil, false }
