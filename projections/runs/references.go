package runs

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// References checks what no single event shows: every node, edge, gap and output that an event
// names exists, each dedupeKey occurs once and determines the eventId. It also reports the objects
// that the log refers to. It is used by verification and nothing is decided by it. It stores about
// ten bytes for an event, so that logs of a million events can be checked; Finish reads the log
// again for the cases that fingerprints cannot decide. See references_second_pass.go.
type References struct {
	// OnObjectUse, if not nil, is called for objects that events refer to, in the goroutine that calls
	// Visit: for each event with an artifact, and once for every other object.
	OnObjectUse func(ObjectUse)
	Findings    []manifest.Finding // complete after Finish

	log        manifest.Log
	hasUnknown bool // an event could not be read: later references may be to what it created
	// What was met so far, as fingerprints. Finish searches keys for duplicates and checks the
	// edges in farCauses.
	keys      *fingerprintList
	farCauses []farCause
	runs      map[id.Run]*runRecord
	nodes     table[nodeRecord]
	gaps      Fingerprints
	outputs   Fingerprints
	objects   Fingerprints
	next      int64 // event index after the last event
}

// ObjectRef names a content-addressed file of a store.
type ObjectRef struct {
	Kind manifest.ObjectKind
	Ref  canon.Digest
}

// ObjectUse is a reference of an event to an object.
type ObjectUse struct {
	ObjectRef
	// Workflow is that of the node which refers to a snapshot, zero for other objects.
	Workflow canon.Digest
	Event    int64 // event index
	First    bool  // the first reference of this log to the object
	// Output is the payload of the event that refers to an artifact, zero for other objects.
	Output event.OutputPayload
}

// CheckFingerprint returns 64 bits of what a check of the object depends on: its name and, for a
// snapshot, the workflow. It is never 0 and valid within this process.
func (u ObjectUse) CheckFingerprint() uint64 {
	if u.Workflow.IsZero() {
		return u.Fingerprint()
	}
	return fingerprint(struct {
		ObjectRef
		workflow canon.Digest
	}{u.ObjectRef, u.Workflow})
}

// runRecord is what the check needs of a run.
type runRecord struct {
	index    int32 // from 1, in the order of the log
	workflow canon.Digest
	hasNode  bool // a root was created
}

// nodeKind is event.NodeKind as an index into nodeKinds, to save memory.
type nodeKind uint8

var nodeKinds = []event.NodeKind{"", event.StepNode, event.CheckpointNode, event.BlockedAttemptNode}

// nodeKindOf returns the index of a kind, 0 for an unknown one.
func nodeKindOf(k event.NodeKind) nodeKind {
	return nodeKind(max(0, slices.Index(nodeKinds, k)))
}

// outputKey identifies an output: an output may supersede only one of the same node and channel.
type outputKey struct {
	output  id.Output
	node    id.Node
	channel event.OutputChannel
}

// NewReferences starts the check of one log. log names it in findings.
func NewReferences(log manifest.Log) *References {
	return &References{log: log, keys: &fingerprintList{}, runs: map[id.Run]*runRecord{}}
}

// Visit implements ports.Visitor: it checks one committed segment. It never returns an error.
func (r *References) Visit(seg manifest.Segment, _ manifest.Head) error {
	// An advance precedes, in its segment, the creation of the node that it names.
	ahead := map[id.Node]bool{}
	for i := range seg.Events {
		if _, ok := seg.Events[i].Data.(event.NodeCreated); ok {
			ahead[seg.Events[i].Scope.NodeID] = true
		}
	}
	keys := eventKeys(seg.Events)
	for i := range seg.Events {
		r.identity(&seg.Events[i], keys[i])
		r.check(seg.Events, i, ahead)
		r.next = seg.Events[i].Index + 1
	}
	return nil
}

// find records a finding about e. After an event that could not be read, missing references are not
// reported: that event may have created what is missing.
//
//go:noinline
func (r *References) find(e *event.Event, code manifest.FindingCode, format string, args ...any) {
	if r.hasUnknown && code == manifest.BrokenReference {
		return
	}
	r.Findings = append(r.Findings, r.finding(e, code, format, args...))
}

// finding returns a finding about e.
func (r *References) finding(e *event.Event, code manifest.FindingCode, format string, args ...any) manifest.Finding {
	return manifest.NewFinding(code, r.log.Root, "event %d (%s): %s", e.Index, e.Data.Kind(),
		fmt.Sprintf(format, args...)).AtEvent(e.Index)
}

// check verifies the event at index i of its segment. ahead holds the nodes that the segment
// creates.
func (r *References) check(events []event.Event, i int, ahead map[id.Node]bool) {
	e := &events[i]
	run := r.runs[e.Scope.RunID]
	switch p := e.Data.(type) {
	case event.Unknown:
		r.hasUnknown = true
		if pin := p.Pin(); !pin.IsZero() {
			r.object(manifest.Snapshot, pin, e) // cleanup must keep what an unknown event pins
		}
	case event.RunStarted:
		if run == nil {
			run = &runRecord{index: int32(len(r.runs) + 1)}
			r.runs[e.Scope.RunID] = run
		}
		run.workflow = p.WorkflowHash
		r.object(manifest.Workflow, p.WorkflowHash, e)
		return
	}
	switch {
	case run == nil && !e.Scope.RunID.IsZero():
		r.find(e, manifest.BrokenReference, "run %s was never started", e.Scope.RunID)
		return
	case run == nil:
		// An event of the session as a whole has no run; no recorded node has the run index 0.
		run = &runRecord{}
	}
	if p, ok := e.Data.(event.NodeCreated); ok {
		r.node(e, p, run)
		return
	}
	if n := e.Scope.NodeID; !n.IsZero() && r.recorded(n).run != run.index {
		r.find(e, manifest.BrokenReference, "node %s does not belong to the run of the event", n)
	}
	r.payload(events, i, run, ahead)
}

// object reports a reference to an object to OnObjectUse.
func (r *References) object(kind manifest.ObjectKind, ref canon.Digest, e *event.Event) {
	if r.OnObjectUse == nil {
		return
	}
	use := ObjectUse{ObjectRef: ObjectRef{kind, ref}, Event: e.Index}
	if p, ok := e.Data.(event.NodeCreated); ok {
		use.Workflow = p.WorkflowHash
	}
	use.First = r.objects.Add(use.CheckFingerprint())
	if p, ok := e.Data.(event.NodeOutputAppended); ok {
		use.Output = p.Payload // every event is reported: payloads may differ
	} else if !use.First {
		return
	}
	r.OnObjectUse(use)
}

// node checks and records a new node. It is recorded even with findings, so that one error is
// reported once and not again for every event of the node.
//
// Checked are: the workflow is the one that the run was started with, only the first node of the
// run has no parent, and a parent is a node of the same run.
func (r *References) node(e *event.Event, p event.NodeCreated, run *runRecord) {
	r.object(manifest.Snapshot, p.SnapshotRef, e)
	note := nodeRecord{self: fingerprint(e.Scope.NodeID), run: run.index, kind: nodeKindOf(p.NodeKind)}
	if p.ParentNodeID != nil {
		note.parent = fingerprint(*p.ParentNodeID)
	}
	switch {
	case p.WorkflowHash != run.workflow:
		r.find(e, manifest.BrokenReference, "the workflow of the node is not that of its run")
	case p.ParentNodeID == nil && run.hasNode:
		r.find(e, manifest.BrokenReference, "a second root of run %s", e.Scope.RunID)
	case p.ParentNodeID != nil && r.recorded(*p.ParentNodeID).run != run.index:
		r.find(e, manifest.BrokenReference, "the parent %s is not a node of the run", p.ParentNodeID)
	}
	run.hasNode = true
	r.nodes.put(note)
}

// recorded returns the record of a node, the zero record if the node was not recorded.
func (r *References) recorded(node id.Node) nodeRecord {
	if node.IsZero() {
		return nodeRecord{}
	}
	return r.nodes.get(fingerprint(node))
}

// payload checks the references in the data of an event:
//
//   - an advance leads to a node that its own segment creates,
//   - an edge connects a node with its child (see edge),
//   - a context delta names a node of the run or of the segment,
//   - a resolved gap was recorded before,
//   - a superseded output was recorded before, at the same node and channel.
func (r *References) payload(events []event.Event, i int, run *runRecord, ahead map[id.Node]bool) {
	e := &events[i]
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		if to := p.Outcome.ToNodeID; to != nil && !ahead[*to] {
			r.find(e, manifest.BrokenReference, "it advanced to node %s, which its segment does not create", to)
		}
	case event.EdgeCreated:
		r.edge(events, i, p, run)
	case event.ContextSet:
		if n := p.NodeID; n != nil && !ahead[*n] && r.recorded(*n).run != run.index {
			r.find(e, manifest.BrokenReference, "node %s does not belong to the run of the event", n)
		}
	case event.GapRecorded:
		if g := p.Resolution.ResolvesGapID; g != nil && !r.gaps.Has(fingerprint(*g)) {
			r.find(e, manifest.BrokenReference, "it resolves gap %s, which was never recorded", g)
		}
		r.gaps.Add(fingerprint(p.GapID))
	case event.NodeOutputAppended:
		own := outputKey{p.OutputID, e.Scope.NodeID, p.OutputChannel}
		if o := p.SupersedesOutputID; o != nil && !r.outputs.Has(fingerprint(outputKey{*o, own.node, own.channel})) {
			r.find(e, manifest.BrokenReference,
				"it supersedes output %s, which is not an output of its node and channel", o)
		}
		r.outputs.Add(fingerprint(own))
		if p.OutputChannel == event.Artifact {
			r.object(manifest.Artifact, p.Payload.SHA256, e)
		}
	}
}

// edge checks that an edge connects a node of the run with one of its children, and that its cause
// is an event of the log.
func (r *References) edge(events []event.Event, i int, p event.EdgeCreated, run *runRecord) {
	e := &events[i]
	from, to := r.recorded(p.FromNodeID), r.recorded(p.ToNodeID)
	switch {
	case from.run != run.index || to.run != run.index:
		r.find(e, manifest.BrokenReference, "an edge between nodes that do not both belong to its run")
	case to.parent != from.self:
		r.find(e, manifest.BrokenReference, "an edge to a node with another parent")
	case p.EdgeKind == event.CheckpointEdge && to.kind != nodeKindOf(event.CheckpointNode):
		r.find(e, manifest.BrokenReference, "a checkpoint edge to a node of kind %s", nodeKinds[to.kind])
	default:
		r.cause(events, i, p.Cause.EventID)
	}
}
