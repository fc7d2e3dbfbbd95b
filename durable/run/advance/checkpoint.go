package advance

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Checkpoint plans a checkpoint of a node whose step is pending: a new node with the same
// snapshot, an edge to it, and the work so far as its outputs
// (docs/design.md#edges-and-tips). The run does not advance. The attempt's id is of operation
// checkpoint, and its request may contain only notes and artifacts. VALIDATION_ERROR states
// what is wrong with the request.
func Checkpoint(w compile.Compiled, f Facts, a Attempt) (manifest.Plan, error) {
	if err := CheckCheckpoint(a.Request); err != nil {
		return manifest.Plan{}, err
	}
	if f.State.PendingStep() == nil {
		return manifest.Plan{},
			fault.New(fault.ValidationError,
				"the run is complete at node %s; a checkpoint requires a pending step", f.Node).
				Suggest("See %s for what was done; start a new run for new work.",
					fault.Command{"runs", "show", f.Run.String()})
	}
	// The new node's id depends on the attempt, so that a repeated attempt finds it again.
	point := id.ChildNode(f.Node, a.ID, id.OpCheckpoint)
	at := event.Scope{RunID: f.Run, NodeID: point}
	seg := newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	created := seg.engine(at, event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &f.Node,
		SnapshotRef: f.SnapshotRef, WorkflowHash: w.Hash()})
	seg.engine(event.Scope{RunID: f.Run}, event.EdgeCreated{EdgeKind: event.CheckpointEdge, FromNodeID: f.Node,
		ToNodeID: point,
		Cause:    event.Cause{EventID: created.ID, Kind: event.CheckpointCreated}})
	seg.artifacts(a.Request.Artifacts)
	seg.wholeNotes(a.Request)
	origin := id.FromAttempt(a.ID, id.OpCheckpoint)
	for i, p := range a.Request.Payloads() {
		// Notes are the node's recap; everything else is an artifact.
		channel, by := event.Artifact, a.Actor
		switch {
		case p.PayloadKind == event.Notes:
			channel = event.Recap
		case p.IsFullNotes():
			by = engine
		}
		seg.add(at, by, event.NodeOutputAppended{OutputChannel: channel, OutputID: origin.Output(i), Payload: p})
	}
	return seg.plan, nil
}

// CheckCheckpoint refuses an empty request, and one with members that only an attempt at a
// step may have.
func CheckCheckpoint(r Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Context.Len() > 0 || len(r.Preferences) > 0 {
		return fault.New(fault.ValidationError,
			"a checkpoint accepts only notes and artifacts; context and preferences belong to the step").
			Suggest("Send them with the ack token when the step is done.")
	}
	if strings.TrimSpace(r.Notes) == "" && len(r.Artifacts) == 0 {
		return fault.New(fault.ValidationError, "the checkpoint is empty: it has neither notes nor artifacts").
			Suggest("Describe in the notes what is done so far and what comes next.")
	}
	return nil
}

// Payloads returns the outputs of a request in their stored order: the notes, truncated to
// their budget, then the artifacts with the whole text of long notes, sorted by (sha256,
// contentType), each once (docs/design.md#event-order).
func (r Request) Payloads() []event.OutputPayload {
	var out []event.OutputPayload
	// The recap always precedes the artifacts.
	if r.Notes != "" {
		out = append(out, notesPayload(r.Notes))
	}
	from := len(out)
	for _, a := range r.inOrder() {
		out = append(out, a.Payload())
	}
	if whole, ok := r.wholeNotes(); ok {
		out = append(out, whole)
		sorting.By(out[from:], stored)
	}
	return out
}

// Payload returns the reference to the artifact that an output event contains.
func (a Artifact) Payload() event.OutputPayload {
	return event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: a.Kind(), ContentType: a.ContentType,
		ByteLength: int64(len(a.Bytes)), SHA256: canon.Sum(a.Bytes)}
}
