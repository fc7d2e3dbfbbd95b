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

// heapPercent is the GC percentage of LimitHeap: below the limit a short command collects once or not at all.
const heapPercent = 800

// LimitHeap sets the soft memory limit of LimitMemory, and collects rarely below it: for a command that reads one session
// or lists many, and must be fast where they are short. The logs of a store may be imported, and a large segment leaves
// several times its size as garbage. The returned function restores the earlier settings; of two concurrent calls in a
// server the last one to end decides.
func LimitHeap() (undo func()) { return LimitHeapAt(memoryLimitBytes) }

// LimitHeapAt is LimitHeap with a soft memory limit in bytes, for a command that keeps much of what it reads.
func LimitHeapAt(limitBytes int64) (undo func()) {
	percent := debug.SetGCPercent(heapPercent)
	limit := debug.SetMemoryLimit(limitBytes)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
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
