package advance

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Checkpoint plans a checkpoint of a node whose step is still pending: a node
// beside it with the same snapshot, and on that node what was achieved so far
// (R17). It moves nothing on. The attempt's id is of operation checkpoint; its
// request holds notes or artifacts, and nothing else. VALIDATION_ERROR says what
// is wrong with it.
func Checkpoint(w compile.Compiled, f Facts, a Attempt) (manifest.Plan, error) {
	if err := CheckCheckpoint(a.Request); err != nil {
		return manifest.Plan{}, err
	}
	if f.State.PendingStep() == nil {
		return manifest.Plan{},
			fault.New(fault.ValidationError,
				"the run is complete at node %s: there is no work of which a checkpoint could be kept", f.Node).
				Suggest("See 'waybill runs show %s' for what was done; start a new run for new work.", f.Run)
	}
	point := id.ChildNode(f.Node, a.ID, id.OpCheckpoint)
	at := event.Scope{RunID: f.Run, NodeID: point}
	seg := newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	created := seg.engine(at, event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &f.Node,
		SnapshotRef: f.SnapshotRef, WorkflowHash: w.Hash()})
	seg.engine(event.Scope{RunID: f.Run}, event.EdgeCreated{EdgeKind: event.CheckpointEdge, FromNodeID: f.Node,
		ToNodeID: point,
		Cause:    event.Cause{EventID: created.ID, Kind: event.CheckpointCreated}})
	seg.artifacts(a.Request.Artifacts)
	origin := id.FromAttempt(a.ID, id.OpCheckpoint)
	for i, p := range a.Request.Payloads() {
		channel := event.Artifact
		if p.PayloadKind == event.Notes {
			channel = event.Recap
		}
		seg.caller(at, event.NodeOutputAppended{OutputChannel: channel, OutputID: origin.Output(i), Payload: p})
	}
	return seg.plan, nil
}

// CheckCheckpoint refuses a request that cannot be a checkpoint's: an empty one,
// and one with what belongs to an attempt.
func CheckCheckpoint(r Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Context.Len() > 0 || len(r.Preferences) > 0 {
		return fault.New(fault.ValidationError,
			"a checkpoint keeps notes and artifacts; context and preferences belong to the step").
			Suggest("Send them with the ack token when the step is done.")
	}
	if strings.TrimSpace(r.Notes) == "" && len(r.Artifacts) == 0 {
		return fault.New(fault.ValidationError, "the checkpoint is empty: it has neither notes nor artifacts").
			Suggest("Say in notes what is done so far and what comes next.")
	}
	return nil
}

// Payloads lists what a request leaves behind as outputs, in their stored order:
// the recap, cut to its budget, then artifacts by (sha256, contentType), each once
// (R18).
func (r Request) Payloads() []event.OutputPayload {
	var out []event.OutputPayload
	for _, a := range r.Artifacts {
		out = append(out, a.payload())
	}
	out = inOrder(out)
	if r.Notes != "" {
		out = slices.Insert(out, 0, notesPayload(r.Notes))
	}
	return out
}

// payload is the artifact as an output refers to it.
func (a Artifact) payload() event.OutputPayload {
	return event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: a.Kind(), ContentType: a.ContentType,
		ByteLength: int64(len(a.Bytes)), SHA256: canon.Sum(a.Bytes)}
}
