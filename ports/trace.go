package ports

import "context"

// Phase is a part of a call whose duration is measured, a closed set.
type Phase string

// The phases, in the order in which a call passes them first. A phase inside another one counts for itself only.
const (
	Compile   Phase = "compile" // finding workflow files and compiling them
	Reading   Phase = "read"    // reading logs and objects
	Deciding  Phase = "decide"  // deciding under the lock what a call appends, and collecting the facts for it
	Appending Phase = "append"  // writing a group, without its syncs
	Syncing   Phase = "sync"    // waiting for the disk
)

// Phases lists every phase.
var Phases = []Phase{Compile, Reading, Deciding, Appending, Syncing}

// Trace measures the phases of one call. It is safe for concurrent use. The clock is its own: what enters a phase
// reads none.
type Trace interface {
	// Enter begins a phase. leave ends it, and is called once.
	Enter(p Phase) (leave func())
}

type traceKey struct{}

// WithTrace returns a context whose calls are measured.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// Enter begins a phase of the call of a context; leave ends it. Of a call that is not measured it costs a look at
// the context.
func Enter(ctx context.Context, p Phase) (leave func()) {
	if t, ok := ctx.Value(traceKey{}).(Trace); ok {
		return t.Enter(p)
	}
	return unmeasured
}

func unmeasured() {}
