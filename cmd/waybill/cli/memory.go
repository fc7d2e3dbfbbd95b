package cli

import (
	"runtime/debug"
)

// What a command that goes through a whole store may use before the collector works
// harder, and how eagerly it works before: such a command lives on buffers, and would
// otherwise keep as much again for nothing.
const (
	memoryLimitBytes   = 24 << 20
	memoryLimitPercent = 10
)

// LimitMemory keeps the memory of a command small that reads a whole store or
// bundle, which may be larger than memory. The result restores what was set
// before.
func LimitMemory() (undo func()) {
	percent := debug.SetGCPercent(memoryLimitPercent)
	limit := debug.SetMemoryLimit(memoryLimitBytes)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
