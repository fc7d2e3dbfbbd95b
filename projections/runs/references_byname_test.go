package runs_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// byName is a simple version of the check that stores full names. References must report the same
// findings.
type byName struct {
	Objects  map[runs.ObjectRef]int64 // first event that refers to each
	Claims   []artifactClaim          // descriptions of artifacts in events
	Findings []manifest.Finding

	log     manifest.Log
	unread  bool // an event could not be read: what others refer to may be its
	keys    map[string]int64
	events  map[id.Event]bool
	runs    map[id.Run]canon.Digest // workflow hash
	nodes   map[id.Node]nodeRef
	gaps    map[id.Gap]bool
	outputs map[id.Output]outputRef
}

// artifactClaim is the description of an artifact in an event.
type artifactClaim struct {
	Event   int64
	Payload event.OutputPayload
}

type nodeRef struct {
	run    id.Run
	parent *id.Node
	kind   event.NodeKind
}

type outputRef struct {
	node    id.Node
	channel event.OutputChannel
}

func newByName(log manifest.Log) *byName {
	return &byName{log: log, Objects: map[runs.ObjectRef]int64{}, keys: map[string]int64{},
		events: map[id.Event]bool{},
		runs:   map[id.Run]canon.Digest{}, nodes: map[id.Node]nodeRef{}, gaps: map[id.Gap]bool{},
		outputs: map[id.Output]outputRef{}}
}

func (r *byName) Visit(seg manifest.Segment, _ manifest.Head) error {
	// An advance precedes, in its segment, the creation of the node that it names.
	ahead := map[id.Node]bool{}
	for _, e := range seg.Events {
		if _, ok := e.Data.(event.NodeCreated); ok {
			ahead[e.Scope.NodeID] = true
		}
	}
	for _, e := range seg.Events {
		r.check(e, ahead)
	}
	return nil
}

func (r *byName) find(e event.Event, code manifest.FindingCode, format string, args ...any) {
	if r.unread && code == manifest.BrokenReference {
		return
	}
	f := manifest.NewFinding(code, r.log.Root, "event %d (%s): %s", e.Index, e.Data.Kind(),
		fmt.Sprintf(format, args...))
	f.Event = &e.Index
	r.Findings = append(r.Findings, f)
}

func (r *byName) check(e event.Event, ahead map[id.Node]bool) {
	if u, ok := e.Data.(event.Unknown); ok {
		r.unread = true
		if pin := u.Pin(); !pin.IsZero() {
			r.object(manifest.Snapshot, pin, e) // cleanup must keep what an unknown event pins
		}
	}
	if !e.Foreign() { // other programs may derive keys differently
		key := e.DedupeKey()
		if first, twice := r.keys[key]; twice {
			r.find(e, manifest.DuplicateKey, "its dedupeKey is that of event %d", first)
		}
		r.keys[key] = e.Index
		if e.Actor.Kind != "" && e.ID != id.EventOf(e.Owner, key) {
			r.find(e, manifest.EventIDMismatch, "its eventId %s does not follow from its dedupeKey", e.ID)
		}
	}
	r.events[e.ID] = true
	if p, ok := e.Data.(event.RunStarted); ok {
		r.runs[e.Scope.RunID] = p.WorkflowHash
		r.object(manifest.Workflow, p.WorkflowHash, e)
		return
	}
	hash, known := r.runs[e.Scope.RunID]
	if !known && !e.Scope.RunID.IsZero() {
		r.find(e, manifest.BrokenReference, "run %s was never started", e.Scope.RunID)
		return
	}
	if p, ok := e.Data.(event.NodeCreated); ok {
		r.node(e, p, hash)
		return
	}
	if n := e.Scope.NodeID; !n.IsZero() && r.nodes[n].run != e.Scope.RunID {
		r.find(e, manifest.BrokenReference, "node %s does not belong to the run of the event", n)
	}
	r.payload(e, ahead)
}

func (r *byName) object(kind manifest.ObjectKind, ref canon.Digest, e event.Event) {
	if _, ok := r.Objects[runs.ObjectRef{kind, ref}]; !ok {
		r.Objects[runs.ObjectRef{kind, ref}] = e.Index
	}
}

func (r *byName) node(e event.Event, p event.NodeCreated, hash canon.Digest) {
	r.object(manifest.Snapshot, p.SnapshotRef, e)
	switch {
	case p.WorkflowHash != hash:
		r.find(e, manifest.BrokenReference, "the workflow of the node is not that of its run")
	case p.ParentNodeID == nil && r.hasNode(e.Scope.RunID):
		r.find(e, manifest.BrokenReference, "a second root of run %s", e.Scope.RunID)
	case p.ParentNodeID != nil && r.nodes[*p.ParentNodeID].run != e.Scope.RunID:
		r.find(e, manifest.BrokenReference, "the parent %s is not a node of the run", p.ParentNodeID)
	}
	r.nodes[e.Scope.NodeID] = nodeRef{e.Scope.RunID, p.ParentNodeID, p.NodeKind}
}

func (r *byName) hasNode(run id.Run) bool {
	for _, n := range r.nodes {
		if n.run == run {
			return true
		}
	}
	return false
}

func (r *byName) payload(e event.Event, ahead map[id.Node]bool) {
	switch p := e.Data.(type) {
	case event.AdvanceRecorded:
		if to := p.Outcome.ToNodeID; to != nil && !ahead[*to] {
			r.find(e, manifest.BrokenReference, "it advanced to node %s, which its segment does not create", to)
		}
	case event.EdgeCreated:
		r.edge(e, p)
	case event.ContextSet:
		if n := p.NodeID; n != nil && !ahead[*n] && r.nodes[*n].run != e.Scope.RunID {
			r.find(e, manifest.BrokenReference, "node %s does not belong to the run of the event", n)
		}
	case event.GapRecorded:
		if g := p.Resolution.ResolvesGapID; g != nil && !r.gaps[*g] {
			r.find(e, manifest.BrokenReference, "it resolves gap %s, which was never recorded", g)
		}
		r.gaps[p.GapID] = true
	case event.NodeOutputAppended:
		own := outputRef{e.Scope.NodeID, p.OutputChannel}
		if o := p.SupersedesOutputID; o != nil && r.outputs[*o] != own {
			r.find(e, manifest.BrokenReference,
				"it supersedes output %s, which is not an output of its node and channel", o)
		}
		r.outputs[p.OutputID] = own
		if p.OutputChannel == event.Artifact {
			r.object(manifest.Artifact, p.Payload.SHA256, e)
			r.Claims = append(r.Claims, artifactClaim{e.Index, p.Payload})
		}
	}
}

func (r *byName) edge(e event.Event, p event.EdgeCreated) {
	from, to := r.nodes[p.FromNodeID], r.nodes[p.ToNodeID]
	switch {
	case from.run != e.Scope.RunID || to.run != e.Scope.RunID:
		r.find(e, manifest.BrokenReference, "an edge between nodes that do not both belong to its run")
	case to.parent == nil || *to.parent != p.FromNodeID:
		r.find(e, manifest.BrokenReference, "an edge to a node with another parent")
	case p.EdgeKind == event.CheckpointEdge && to.kind != event.CheckpointNode:
		r.find(e, manifest.BrokenReference, "a checkpoint edge to a node of kind %s", to.kind)
	case !r.events[p.Cause.EventID]:
		r.find(e, manifest.BrokenReference, "its cause %s is not an event of the log", p.Cause.EventID)
	}
}
