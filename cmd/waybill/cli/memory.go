package cli

import (
	"runtime/debug"
)

// The garbage collection settings of LimitMemory: a soft memory limit of 24 MiB, and a GC
// percentage of 10. A command that reads a whole store mostly allocates short-lived buffers;
// with the default percentage of 100, garbage would double its memory.
const (
	memoryLimitBytes   = 24 << 20
	memoryLimitPercent = 10
)

// LimitMemory tightens the garbage collector for a command that reads a whole store or bundle,
// which may be larger than memory. The returned function restores the earlier settings.
func LimitMemory() (undo func()) {
	percent := debug.SetGCPercent(memoryLimitPercent)
	limit := debug.SetMemoryLimit(memoryLimitBytes)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
