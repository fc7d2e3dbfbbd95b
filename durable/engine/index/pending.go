package index

import (
	"github.com/waybill/waybill/durable/canon"
)

// PendingKind is what the pending step of a run needs, a closed set.
type PendingKind string

// The kinds.
const (
	// NothingPending: a person or an agent is next, the run is paused, or it is over.
	NothingPending PendingKind = ""
	// CommandPending: a command that was not tried yet, and needs nothing of a person or an agent.
	CommandPending PendingKind = "command"
	WaitPending    PendingKind = "wait" // until a moment
	HostPending    PendingKind = "host" // a step of the HTTP host
	EndPending     PendingKind = "end"  // the end of the run is requested, and not recorded
)

// Pending is what a performer that asks no person needs to know of a run, so that it reads only runs that it
// can perform (docs/design.md#performing-runs).
type Pending struct {
	Kind PendingKind
	// AtMs is the moment until which the step waits, in milliseconds since 1970 UTC; 0: it waits for none.
	AtMs     int64
	Tags     []string // of the run
	Workflow canon.Digest
	// Imported reports that the run came with a bundle and that no person has continued it here.
	Imported bool
}

// encode encodes what is pending, as "" for nothing.
func (p Pending) encode() string {
	if p.Kind == NothingPending {
		return ""
	}
	var w Writer
	w.Text(string(p.Kind))
	w.Int(p.AtMs)
	w.Texts(p.Tags)
	w.Text(p.Workflow.String())
	w.Bool(p.Imported)
	return string(w.Bytes())
}

// WithPending returns the run with what is pending of it.
func (r Run) WithPending(p Pending) Run {
	r.pending = p.encode()
	return r
}

// Pending returns what is pending of the run. It is the zero value for what cannot be decoded: that can only be
// written by a fault of this package, and the run is then left to a person.
func (r Run) Pending() (p Pending) {
	if r.pending == "" {
		return p
	}
	in := NewReader(r.pending)
	p.Kind, p.AtMs, p.Tags = PendingKind(in.Text()), in.Int(), in.Texts()
	hash, err := canon.ParseDigest(in.Text())
	if p.Workflow, p.Imported = hash, in.Bool(); err != nil || !in.Done() {
		return Pending{}
	}
	return p
}
