package id

import (
	"strconv"

	"github.com/waybill/waybill/durable/derive"
)

// Every derivation has its own versioned context string. A changed recipe gets a new context
// string, so that ids in stored logs, made by the old recipe, are never derived by the new one.

// derived returns the id of kind K that is derived from parts.
func derived[K kind](parts ...string) ID[K] {
	var k K
	return fromBytes[K](derive.Bytes16("waybill 2026 v1 "+k.prefix()+" id", parts...))
}

// Seed is 16 bytes of entropy, drawn outside the core and passed to a use case.
type Seed [16]byte

// NewSession returns a session id for a seed. One seed may serve several kinds: their context
// strings differ.
func NewSession(s Seed) Session { return derived[session]("seed", string(s[:])) }

// NewRun returns a run id for a seed.
func NewRun(s Seed) Run { return derived[run]("seed", string(s[:])) }

// NewStore returns a store id for a seed.
func NewStore(s Seed) Store { return derived[store]("seed", string(s[:])) }

// KeyedSession returns the session id for "start --key" in a store. It depends on store and key
// only, so that a repeated start finds the session that the first one created.
func KeyedSession(st Store, key string) Session { return derived[session]("key", st.String(), key) }

// KeyedRun returns the run id for "start --key" in a store.
func KeyedRun(st Store, key string) Run { return derived[run]("key", st.String(), key) }

// ImportedSession returns the session id for an import under new ids into a store, of the log
// with this head digest. Repeating the import finds the session that the first one created.
func ImportedSession(st Store, head string) Session {
	return derived[session]("import", st.String(), head)
}

// ImportedRun returns the new id of one of the runs of an imported session; was is its old id.
func ImportedRun(st Store, head string, was Run) Run {
	return derived[run]("import", st.String(), head, was.String())
}

// NewBundle returns a bundle id for a seed.
func NewBundle(s Seed) Bundle { return derived[bundle]("seed", string(s[:])) }

// NewAnnotation returns an annotation id for a seed.
func NewAnnotation(s Seed) Annotation { return derived[annotation]("seed", string(s[:])) }

// KeyedAnnotation returns the id of the n-th annotation of a run for one idempotency key in a store, from 0. It depends on
// nothing else, so that a repeated request finds the annotation that the first one recorded.
func KeyedAnnotation(st Store, r Run, key string, n int) Annotation {
	return derived[annotation]("key", st.String(), r.String(), key, strconv.Itoa(n))
}

// NewProposal returns a proposal id for a seed.
func NewProposal(s Seed) Proposal { return derived[proposal]("seed", string(s[:])) }

// RootNode returns the id of the first node of a run.
func RootNode(r Run) Node { return derived[node]("root", r.String()) }

// Operation separates the ids that different use cases derive from one node.
type Operation string

// The operations (docs/design.md#ids). They are part of stored ids: never renamed.
const (
	OpStart      Operation = "start"
	OpAck        Operation = "ack"
	OpCheckpoint Operation = "checkpoint"
	OpApprove    Operation = "approve"
)

// NextAttempt returns the id of the next attempt at a node, after recorded earlier attempts of
// the same operation. All callers get the same id until one of them records an attempt, so that
// of two concurrent calls one is a retry of the other.
func NextAttempt(n Node, op Operation, recorded int) Attempt {
	return derived[attempt](n.String(), string(op), strconv.Itoa(recorded))
}

// ChildNode returns the id of the node that an attempt at parent creates.
func ChildNode(parent Node, a Attempt, op Operation) Node {
	return derived[node](parent.String(), a.String(), string(op))
}

// EventOf returns the id of the event with this dedupeKey in the log of owner, a session or
// store id.
func EventOf(owner, dedupeKey string) Event { return derived[event](owner, dedupeKey) }

// Origin is the input from which the ids of one plan's facts are derived: an attempt and its
// operation, or the root node at start. The ordinals of its methods count the facts of one kind
// from 0.
type Origin struct {
	source string
	op     Operation
}

// FromStart returns the origin of the facts that a start records.
func FromStart(root Node) Origin { return Origin{root.String(), OpStart} }

// FromAttempt returns the origin of the facts that an attempt records.
func FromAttempt(a Attempt, op Operation) Origin { return Origin{a.String(), op} }

// originID returns the id of the n-th fact of kind K.
func originID[K kind](o Origin, n int) ID[K] {
	return derived[K](o.source, string(o.op), strconv.Itoa(n))
}

// Output returns the id of the n-th output of the origin.
func (o Origin) Output(n int) Output { return originID[output](o, n) }

// Gap returns the id of the n-th gap record of the origin.
func (o Origin) Gap(n int) Gap { return originID[gap](o, n) }

// Change returns the id of the n-th preference change of the origin.
func (o Origin) Change(n int) Change { return originID[change](o, n) }

// Trace returns the id of the n-th decision trace of the origin.
func (o Origin) Trace(n int) Trace { return originID[trace](o, n) }

// Context returns the id of the n-th context delta of the origin.
func (o Origin) Context(n int) Context { return originID[context](o, n) }

// CapObs returns the id of the n-th capability observation of the origin.
func (o Origin) CapObs(n int) CapObs { return originID[capObs](o, n) }

// Divergence returns the id of the n-th divergence record of the origin.
func (o Origin) Divergence(n int) Divergence { return originID[divergence](o, n) }
