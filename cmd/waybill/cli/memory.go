package cli

import (
	"runtime/debug"
)

// The garbage collection settings of LimitMemory: a soft memory limit of 40 MiB, and a GC
// percentage of 40. A command that reads a whole store mostly allocates short-lived buffers;
// with the default percentage of 100, garbage would double its memory.
const (
	memoryLimitBytes   = 40 << 20
	memoryLimitPercent = 40
)

// searchPercent is the GC percentage of a search through all sessions. The logs of a store may be
// imported, and a large segment leaves several times its size as garbage; with the default
// percentage, a search would use twice the memory.
const searchPercent = 25

// searchMemory tightens the garbage collector for a search through all sessions. The returned
// function restores the earlier percentage; of two concurrent searches the last one to end decides.
func searchMemory() (undo func()) {
	percent := debug.SetGCPercent(searchPercent)
	return func() { debug.SetGCPercent(percent) }
}

// LimitHeap sets the soft memory limit of LimitMemory alone: for a command that reads one session or lists many, and must
// be fast where they are short. The returned function restores the earlier limit.
func LimitHeap() (undo func()) {
	limit := debug.SetMemoryLimit(memoryLimitBytes)
	return func() { debug.SetMemoryLimit(limit) }
}

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
