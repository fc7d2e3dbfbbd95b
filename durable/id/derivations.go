package id

import (
	"strconv"

	"github.com/waybill/waybill/durable/derive"
)

// Every derivation has a context string of its own, with a version: a changed
// recipe gets a new one, and ids made by the old recipe stay what they are.

func derived[K kind](parts ...string) ID[K] {
	var k K
	return make16[K](derive.Bytes16("waybill 2026 v1 "+k.prefix()+" id", parts...))
}

// Seed is the one piece of entropy that a use case is handed.
type Seed [16]byte

// NewSession is a session id from fresh entropy.
func NewSession(s Seed) Session { return derived[session]("seed", string(s[:])) }

// NewRun is a run id from fresh entropy.
func NewRun(s Seed) Run { return derived[run]("seed", string(s[:])) }

// NewStore is a store id from fresh entropy.
func NewStore(s Seed) Store { return derived[store]("seed", string(s[:])) }

// KeyedSession is the session that "start --key" names in a store, so that a
// repeated start finds what the first one wrote.
func KeyedSession(st Store, key string) Session { return derived[session]("key", st.s, key) }

// KeyedRun is the run that "start --key" names in a store.
func KeyedRun(st Store, key string) Run { return derived[run]("key", st.s, key) }

// ImportedSession is the session that an import as new makes in a store, of the log
// that has this head: the same import twice finds what the first one wrote.
func ImportedSession(st Store, head string) Session { return derived[session]("import", st.s, head) }

// ImportedRun is the same for one of the session's runs.
func ImportedRun(st Store, head string, was Run) Run {
	return derived[run]("import", st.s, head, was.s)
}

// NewBundle is a bundle id from fresh entropy.
func NewBundle(s Seed) Bundle { return derived[bundle]("seed", string(s[:])) }

// NewAnnotation is an annotation id from fresh entropy.
func NewAnnotation(s Seed) Annotation { return derived[annotation]("seed", string(s[:])) }

// NewProposal is a proposal id from fresh entropy.
func NewProposal(s Seed) Proposal { return derived[proposal]("seed", string(s[:])) }

// RootNode is where a run starts.
func RootNode(r Run) Node { return derived[node]("root", r.s) }

// Operation keeps the ids that different use cases derive from one node apart.
type Operation string

// The operations of R3.
const (
	OpStart      Operation = "start"
	OpAck        Operation = "ack"
	OpCheckpoint Operation = "checkpoint"
	OpApprove    Operation = "approve"
)

// NextAttempt is the attempt of a node after recorded earlier ones of the same
// operation: what every caller is handed until one of them is recorded.
func NextAttempt(n Node, op Operation, recorded int) Attempt {
	return derived[attempt](n.s, string(op), strconv.Itoa(recorded))
}

// ChildNode is the node that an attempt creates.
func ChildNode(parent Node, a Attempt, op Operation) Node {
	return derived[node](parent.s, a.s, string(op))
}

// EventOf is the id of the event with this dedupeKey in the log of owner.
func EventOf(owner, dedupeKey string) Event { return derived[event](owner, dedupeKey) }

// Origin is what the ids of one plan's facts derive from: an attempt and its
// operation, or at start the root node. Ordinals count facts of one kind from 0.
type Origin struct {
	of string
	op Operation
}

// FromStart is the origin of the facts that start records.
func FromStart(root Node) Origin { return Origin{root.s, OpStart} }

// FromAttempt is the origin of the facts that come with an attempt.
func FromAttempt(a Attempt, op Operation) Origin { return Origin{a.s, op} }

func fact[K kind](o Origin, n int) ID[K] {
	return derived[K](o.of, string(o.op), strconv.Itoa(n))
}

// Output is the n-th output of the origin.
func (o Origin) Output(n int) Output { return fact[output](o, n) }

// Gap is the n-th gap record of the origin.
func (o Origin) Gap(n int) Gap { return fact[gap](o, n) }

// Change is the n-th preference change of the origin.
func (o Origin) Change(n int) Change { return fact[change](o, n) }

// Trace is the n-th decision trace of the origin.
func (o Origin) Trace(n int) Trace { return fact[trace](o, n) }

// Context is the n-th context delta of the origin.
func (o Origin) Context(n int) Context { return fact[context](o, n) }

// CapObs is the n-th capability observation of the origin.
func (o Origin) CapObs(n int) CapObs { return fact[capObs](o, n) }

// Divergence is the n-th divergence record of the origin.
func (o Origin) Divergence(n int) Divergence { return fact[divergence](o, n) }
