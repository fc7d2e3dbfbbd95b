// Package diff compares the paths of two runs of one workflow, node by node: the first node at which
// they differ, and each step that differs (docs/design.md#run-differences).
//
// It reads what a caller found in the logs and nothing else: no files, no clock. Start with Compare.
package diff

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// What is the closed set of facts in which two nodes can differ, in the order in which they are
// compared.
type What string

// The facts. A node of one run alone differs in its step.
const (
	// OfStep: the paths have different steps at the same position.
	OfStep What = "step"
	// OfOutcome: what came of the step.
	OfOutcome What = "outcome"
	// OfOutputs: the notes, or the artifacts by kind and digest.
	OfOutputs What = "outputs"
	// OfContext: the values in force at the node.
	OfContext What = "context"
)

// Outcome is the closed set of what came of a step in a run, and of a run at its end.
type Outcome string

// The outcomes. Steps that were left are done, or done with open critical gaps; the last node of a path
// has the status of its run, and is pending where that is in progress.
const (
	Done             Outcome = "done"
	DoneWithGaps     Outcome = "done_with_gaps"
	Pending          Outcome = "pending"
	Blocked          Outcome = "blocked"
	Complete         Outcome = "complete"
	CompleteWithGaps Outcome = "complete_with_gaps"
	Paused           Outcome = "paused"
	Cancelling       Outcome = "cancelling"
	Cancelled        Outcome = "cancelled"
	Failed           Outcome = "failed"
)

// Output is an artifact that a step left its node with.
type Output struct {
	ArtifactKind string       `json:"artifactKind,omitzero"`
	ContentType  string       `json:"contentType"`
	SHA256       canon.Digest `json:"sha256,omitzero"`
	// Compared is the digest that is compared, zero for SHA256: results that a performer recorded
	// are compared without their times and the id of their attempt.
	Compared canon.Digest `json:"-"`
}

// compared returns the digest that is compared.
func (o Output) compared() canon.Digest {
	if o.Compared.IsZero() {
		return o.SHA256
	}
	return o.Compared
}

// Node is one node of a run's path.
type Node struct {
	// StepInstanceKey is "" at the end of a run.
	StepInstanceKey string  `json:"-"`
	Title           string  `json:"-"`
	NodeID          id.Node `json:"nodeId"`
	// Position counts the nodes of the path from 1.
	Position int     `json:"position"`
	Outcome  Outcome `json:"outcome"`
	Attempts int     `json:"attempts"`
	// NotesDigest is the SHA-256 of the whole notes, zero without notes. Notes is what a view shows of them.
	NotesDigest canon.Digest `json:"notesDigest,omitzero"`
	Notes       string       `json:"-"`
	// Outputs are the artifacts of the step, in the order of their records; decisions of people are none.
	Outputs []Output `json:"outputs"`
	// ApprovedBy are the principals whose approvals the step has, in the order of their records. They are
	// not compared.
	ApprovedBy    []string     `json:"approvedBy,omitzero"`
	Context       canon.Value  `json:"-"`
	ContextDigest canon.Digest `json:"contextDigest"`
}

// First is the first node in the order of the path at which two runs differ.
type First struct {
	// StepInstanceKey is "" at the end of a run. Where the steps are different, it is that of the first run,
	// or of the second one if the first run has no step there.
	StepInstanceKey string `json:"stepInstanceKey"`
	What            What   `json:"what"`
	Title           string `json:"title"`
	// Position counts the compared nodes from 1.
	Position int `json:"position"`
}

// Step is a step in which two runs differ. A or B is nil where only the other run has it.
type Step struct {
	StepInstanceKey string `json:"stepInstanceKey"`
	Title           string `json:"title"`
	Differs         []What `json:"differs"`
	A               *Node  `json:"a,omitzero"`
	B               *Node  `json:"b,omitzero"`
	// Context are the keys whose values differ here and did not differ in the same way at the node before.
	Context []Change `json:"context,omitzero"`
}

// Change is a key of the context with its values in both runs; null where a run does not have it.
type Change struct {
	Key string      `json:"key"`
	A   canon.Value `json:"a"`
	B   canon.Value `json:"b"`
}

// Compare compares two paths. first is nil for equal ones; otherwise it compares the nodes at equal
// positions. steps pairs the nodes by their step instance keys, in the order of the paths: what differs only
// because an earlier difference of the context is still in force is left out.
func Compare(a, b []Node) (first *First, steps []Step) {
	for i := 0; i < max(len(a), len(b)) && first == nil; i++ {
		first = firstAt(at(a, i), at(b, i), i+1)
	}
	steps = []Step{}
	if first == nil {
		return nil, steps
	}
	rankA, rankB := ranks(a, b), ranks(b, a)
	var before []Change
	for _, p := range pairs(a, b) {
		s := Step{A: p.a, B: p.b}
		switch {
		case p.a == nil || p.b == nil:
			n := p.a
			if n == nil {
				n = p.b
			}
			s.StepInstanceKey, s.Title, s.Differs = n.StepInstanceKey, n.Title, []What{OfStep}
			steps = append(steps, s)
			continue
		case rankA[p.a.StepInstanceKey] != rankB[p.b.StepInstanceKey]:
			s.Differs = append(s.Differs, OfStep)
		}
		s.StepInstanceKey, s.Title = p.a.StepInstanceKey, p.a.Title
		if p.a.Outcome != p.b.Outcome {
			s.Differs = append(s.Differs, OfOutcome)
		}
		if !sameOutputs(*p.a, *p.b) {
			s.Differs = append(s.Differs, OfOutputs)
		}
		now := changes(p.a.Context, p.b.Context)
		for _, c := range now {
			if !slices.ContainsFunc(before, c.equal) {
				s.Context = append(s.Context, c)
			}
		}
		if before = now; len(s.Context) > 0 {
			s.Differs = append(s.Differs, OfContext)
		}
		if len(s.Differs) > 0 {
			steps = append(steps, s)
		}
	}
	return first, steps
}

// at returns a node of a path, nil behind its end.
func at(path []Node, i int) *Node {
	if i >= len(path) {
		return nil
	}
	return &path[i]
}

// firstAt returns the first difference of two nodes at a position, nil for equal ones.
func firstAt(a, b *Node, position int) *First {
	named := a
	if a == nil || b != nil && a.StepInstanceKey == "" {
		named = b
	}
	f := &First{StepInstanceKey: named.StepInstanceKey, Title: named.Title, Position: position}
	switch {
	case a == nil || b == nil || a.StepInstanceKey != b.StepInstanceKey:
		f.What = OfStep
	case a.Outcome != b.Outcome:
		f.What = OfOutcome
	case !sameOutputs(*a, *b):
		f.What = OfOutputs
	case !a.Context.Equal(b.Context):
		f.What = OfContext
	default:
		return nil
	}
	return f
}

// sameOutputs reports that two nodes have equal notes and artifacts.
func sameOutputs(a, b Node) bool { return a.NotesDigest == b.NotesDigest && SameArtifacts(a, b) }

// SameArtifacts reports that two nodes have equal artifacts, in any order.
func SameArtifacts(a, b Node) bool { return slices.Equal(digests(a), digests(b)) }

// digests lists the artifacts of a node by kind and digest, sorted.
func digests(n Node) (out []string) {
	for _, o := range n.Outputs {
		out = append(out, o.ArtifactKind+"\n"+o.ContentType+"\n"+o.compared().String())
	}
	slices.Sort(out)
	return out
}

// equal reports the same key with the same values.
func (c Change) equal(d Change) bool { return c.Key == d.Key && c.A.Equal(d.A) && c.B.Equal(d.B) }

// changes lists the keys whose values differ, in the order of the keys.
func changes(a, b canon.Value) (out []Change) {
	var keys []string
	for _, v := range []canon.Value{a, b} {
		for i := range v.Len() {
			keys = append(keys, v.Key(i))
		}
	}
	slices.SortFunc(keys, canon.CompareKeys)
	for _, key := range slices.Compact(keys) {
		inA, hasA := a.Get(key)
		inB, hasB := b.Get(key)
		if hasA != hasB || !inA.Equal(inB) {
			out = append(out, Change{key, inA, inB})
		}
	}
	return out
}

// ranks numbers the nodes of a path that another one has too, by their keys.
func ranks(path, other []Node) map[string]int {
	has, out := map[string]bool{}, map[string]int{}
	for _, n := range other {
		has[n.StepInstanceKey] = true
	}
	for _, n := range path {
		if has[n.StepInstanceKey] {
			out[n.StepInstanceKey] = len(out)
		}
	}
	return out
}

// pair are the nodes of one step instance key; one of them may be nil.
type pair struct{ a, b *Node }

// pairs lists the keys in the order of the first path; those of the second path alone precede the
// next one that both have.
func pairs(a, b []Node) (out []pair) {
	inA, inB := map[string]*Node{}, map[string]*Node{}
	for i := range a {
		inA[a[i].StepInstanceKey] = &a[i]
	}
	for i := range b {
		inB[b[i].StepInstanceKey] = &b[i]
	}
	next := 0
	alone := func(before func(*Node) bool) {
		for ; next < len(b) && !before(&b[next]); next++ {
			if inA[b[next].StepInstanceKey] == nil {
				out = append(out, pair{nil, &b[next]})
			}
		}
	}
	for i := range a {
		both := inB[a[i].StepInstanceKey]
		if both != nil && both.Position > at(b, next).position() {
			alone(func(n *Node) bool { return n == both })
		}
		out = append(out, pair{&a[i], both})
	}
	alone(func(*Node) bool { return false })
	return out
}

// position returns the position of a node, 0 for nil.
func (n *Node) position() int {
	if n == nil {
		return 0
	}
	return n.Position
}
