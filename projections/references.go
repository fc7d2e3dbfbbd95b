package projections

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// References checks what no single event shows: that every node, edge, gap and
// output that an event names is there, that a dedupeKey stands once and the eventId
// follows from it, and which objects the log refers to. It is for verification;
// nothing is decided by it. What it remembers of an event are some ten bytes, so that
// a million of them can be checked; what that leaves in doubt is looked at again.
type References struct {
	// Refer is told of objects that events refer to, by the goroutine that visits; nil
	// where nobody asks.
	Refer    func(ObjectUse)
	Findings []manifest.Finding // all of them once Finish has been called

	log     manifest.Log
	unread  bool // an event could not be read: what others refer to may be its
	keys    *tally
	late    []lateCause
	runs    map[id.Run]*runNote
	nodes   nodeNotes
	gaps    names
	outputs names
	objects names
	next    int64 // behind the last event
}

// ObjectRef names a content-addressed file.
type ObjectRef struct {
	Kind manifest.ObjectKind
	Ref  canon.Digest
}

// ObjectUse is an event's reference to an object.
type ObjectUse struct {
	ObjectRef
	Event int64
	First bool // of the log
	// Says is what an event says about an artifact, zero for other objects.
	Says event.OutputPayload
}

type runNote struct {
	index    int32 // from 1
	workflow canon.Digest
	hasNode  bool
}

// nodeKind is event.NodeKind in one byte.
type nodeKind uint8

var nodeKinds = []event.NodeKind{"", event.StepNode, event.CheckpointNode, event.BlockedAttemptNode}

func nodeKindOf(k event.NodeKind) nodeKind {
	for i, known := range nodeKinds {
		if k == known {
			return nodeKind(i)
		}
	}
	return 0
}

// outputName is what a superseding output is held against.
type outputName struct {
	output  id.Output
	node    id.Node
	channel event.OutputChannel
}

// NewReferences starts the check of one log.
func NewReferences(log manifest.Log) *References {
	r := &References{log: log}
	r.Reset()
	return r
}

// Reset starts over.
func (r *References) Reset() {
	*r = References{log: r.log, Refer: r.Refer, keys: &tally{}, runs: map[id.Run]*runNote{}}
}

// Visit checks one committed segment.
func (r *References) Visit(seg manifest.Segment, _ manifest.Head) error {
	// An advance names the node that stands later in its own segment.
	ahead := map[id.Node]bool{}
	for i := range seg.Events {
		if _, ok := seg.Events[i].Data.(event.NodeCreated); ok {
			ahead[seg.Events[i].Scope.NodeID] = true
		}
	}
	keys := keysOf(seg.Events)
	for i := range seg.Events {
		r.identity(&seg.Events[i], keys[i])
		r.check(seg.Events, i, ahead)
		r.next = seg.Events[i].Index + 1
	}
	return nil
}

func (r *References) find(e *event.Event, code manifest.FindingCode, format string, args ...any) {
	if r.unread && code == manifest.BrokenReference {
		return
	}
	r.Findings = append(r.Findings, r.finding(e, code, format, args...))
}

func (r *References) finding(e *event.Event, code manifest.FindingCode, format string, args ...any) manifest.Finding {
	f := manifest.NewFinding(code, r.log.Root, "event %d (%s): %s", e.Index, e.Data.Kind(),
		fmt.Sprintf(format, args...))
	index := e.Index // of its own: a pointer to the event would keep all of it
	f.Event = &index
	return f
}

// check looks at the event at place i of its segment.
func (r *References) check(events []event.Event, i int, ahead map[id.Node]bool) {
	e := &events[i]
	if u, ok := e.Data.(event.Unknown); ok {
		r.unread = true
		if pin := u.Pin(); !pin.IsZero() {
			r.object(manifest.Snapshot, pin, e) // what it pins is referred to, whatever else it says
		}
	}
	if p, ok := e.Data.(event.RunStarted); ok {
		run := r.runs[e.Scope.RunID]
		if run == nil {
			run = &runNote{index: int32(len(r.runs) + 1)}
			r.runs[e.Scope.RunID] = run
		}
		run.workflow = p.WorkflowHash
		r.object(manifest.Workflow, p.WorkflowHash, e)
		return
	}
	run := r.runs[e.Scope.RunID]
	if run == nil {
		if !e.Scope.RunID.IsZero() {
			r.find(e, manifest.BrokenReference, "run %s was never started", e.Scope.RunID)
			return
		}
		run = &runNote{}
	}
	if p, ok := e.Data.(event.NodeCreated); ok {
		r.node(e, p, run)
		return
	}
	if n := e.Scope.NodeID; !n.IsZero() && r.nodes.get(n).run != run.index {
		r.find(e, manifest.BrokenReference, "node %s is not one of its run", n)
	}
	r.payload(events, i, run, ahead)
}

func (r *References) object(kind manifest.ObjectKind, ref canon.Digest, e *event.Event) {
	if r.Refer == nil {
		return
	}
	use := ObjectUse{ObjectRef: ObjectRef{kind, ref}, Event: e.Index}
	use.First = r.objects.add(fingerprint(use.ObjectRef))
	if p, ok := e.Data.(event.NodeOutputAppended); ok {
		use.Says = p.Payload // each may say something else
	} else if !use.First {
		return
	}
	r.Refer(use)
}

func (r *References) node(e *event.Event, p event.NodeCreated, run *runNote) {
	r.object(manifest.Snapshot, p.SnapshotRef, e)
	note := nodeNote{self: fingerprint(e.Scope.NodeID), run: run.index, kind: nodeKindOf(p.NodeKind)}
	if p.ParentNodeID != nil {
		note.parent = fingerprint(*p.ParentNodeID)
	}
	switch {
	case p.WorkflowHash != run.workflow:
		r.find(e, manifest.BrokenReference, "the node's workflow is not its run's")
	case p.ParentNodeID == nil && run.hasNode:
		r.find(e, manifest.BrokenReference, "a second root of run %s", e.Scope.RunID)
	case p.ParentNodeID != nil && r.nodes.get(*p.ParentNodeID).run != run.index:
		r.find(e, manifest.BrokenReference, "the parent %s is not a node of the run", p.ParentNodeID)
	}
	run.hasNode = true
	r.nodes.put(note)
}

func (r *References) payload(events []event.Event, i int, run *runNote, ahead map[id.Node]bool) {
	e := &events[i]
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		if to := p.Outcome.ToNodeID; to != nil && !ahead[*to] {
			r.find(e, manifest.BrokenReference, "it advanced to node %s, which its segment does not create", to)
		}
	case event.EdgeCreated:
		r.edge(events, i, p, run)
	case event.ContextSet:
		if n := p.NodeID; n != nil && !ahead[*n] && r.nodes.get(*n).run != run.index {
			r.find(e, manifest.BrokenReference, "node %s is not one of its run", n)
		}
	case event.GapRecorded:
		if g := p.Resolution.ResolvesGapID; g != nil && !r.gaps.has(fingerprint(*g)) {
			r.find(e, manifest.BrokenReference, "it resolves gap %s, which was never recorded", g)
		}
		r.gaps.add(fingerprint(p.GapID))
	case event.NodeOutputAppended:
		own := outputName{p.OutputID, e.Scope.NodeID, p.OutputChannel}
		if o := p.SupersedesOutputID; o != nil && !r.outputs.has(fingerprint(outputName{*o, own.node, own.channel})) {
			r.find(e, manifest.BrokenReference, "it supersedes output %s, which is none of its node and channel", o)
		}
		r.outputs.add(fingerprint(own))
		if p.OutputChannel == event.Artifact {
			r.object(manifest.Artifact, p.Payload.SHA256, e)
		}
	}
}

func (r *References) edge(events []event.Event, i int, p event.EdgeCreated, run *runNote) {
	e := &events[i]
	from, to := r.nodes.get(p.FromNodeID), r.nodes.get(p.ToNodeID)
	switch {
	case from.run != run.index || to.run != run.index:
		r.find(e, manifest.BrokenReference, "an edge between nodes that are not both of its run")
	case to.parent != from.self:
		r.find(e, manifest.BrokenReference, "an edge to a node whose parent is another")
	case p.EdgeKind == event.CheckpointEdge && to.kind != nodeKindOf(event.CheckpointNode):
		r.find(e, manifest.BrokenReference, "a checkpoint edge to a node of kind %s", nodeKinds[to.kind])
	default:
		r.cause(events, i, p.Cause.EventID)
	}
}
