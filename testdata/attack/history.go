package attack

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// history composes the events that follow those of the base: each is valid, and their number is
// what no run of a person reaches.
type history struct {
	run            id.Run
	node           id.Node // the root
	workflow, snap canon.Digest
	next           int64
	events         []event.Event
}

// baseRun and baseNode are those of the base's events.
const (
	baseRun  = "run_5k4ciwbaug7nghef2vh2ubefwe"
	baseNode = "node_rmhpbgvj76ksufryywz7ylyxk4"
)

// longer returns the lines of the events that grow adds after index next.
func longer(grow func(*history), workflow, snap canon.Digest, next int64) ([]byte, error) {
	run, err := id.ParseRun(baseRun)
	if err != nil {
		return nil, err
	}
	node, err := id.ParseNode(baseNode)
	if err != nil {
		return nil, err
	}
	session, err := id.ParseSession(Session)
	if err != nil {
		return nil, err
	}
	h := history{run: run, node: node, workflow: workflow, snap: snap, next: next}
	grow(&h)
	seg, err := manifest.EncodeSegment(manifest.SessionEvents(session), h.events)
	return seg.Bytes, err
}

func (h *history) add(s event.Scope, p event.Payload) event.Event {
	e := event.New(Session, h.next, s, event.Actor{Kind: event.Engine}, 1795395730669, p)
	h.next, h.events = h.next+1, append(h.events, e)
	return e
}

func (h *history) created(s event.Scope, kind event.NodeKind, parent *id.Node) event.Event {
	return h.add(s, event.NodeCreated{NodeKind: kind, ParentNodeID: parent, SnapshotRef: h.snap,
		WorkflowHash: h.workflow})
}

func (h *history) notes(s event.Scope, origin id.Origin) {
	h.add(s, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes,
			NotesMarkdown: strings.Repeat("n", limits.NotesBytesMax)}})
}

// checkpoints adds n checkpoints of one node, with notes of full size.
func checkpoints(n int) func(*history) {
	return func(h *history) {
		for i := range n {
			attempt := id.NextAttempt(h.node, id.OpCheckpoint, i)
			point := id.ChildNode(h.node, attempt, id.OpCheckpoint)
			at := event.Scope{RunID: h.run, NodeID: point}
			created := h.created(at, event.CheckpointNode, &h.node)
			h.add(event.Scope{RunID: h.run}, event.EdgeCreated{EdgeKind: event.CheckpointEdge, FromNodeID: h.node,
				ToNodeID: point, Cause: event.Cause{EventID: created.ID, Kind: event.CheckpointCreated}})
			h.notes(at, id.FromAttempt(attempt, id.OpCheckpoint))
		}
	}
}

// lineage adds n nodes, each the child of the one before, with notes of full size.
func lineage(n int) func(*history) {
	return func(h *history) {
		for node := h.node; n > 0; n-- {
			attempt := id.NextAttempt(node, id.OpAck, 0)
			child, at := id.ChildNode(node, attempt, id.OpAck), event.Scope{RunID: h.run, NodeID: node}
			recorded := h.add(at, event.AdvanceRecorded{AttemptID: attempt, Intent: event.IntentAckPending,
				Outcome: event.AdvancedTo(child), RequestDigest: canon.Sum(nil)})
			parent := node
			h.created(event.Scope{RunID: h.run, NodeID: child}, event.StepNode, &parent)
			h.add(event.Scope{RunID: h.run}, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: node,
				ToNodeID: child, Cause: event.Cause{EventID: recorded.ID, Kind: event.IntentionalFork}})
			h.notes(at, id.FromAttempt(attempt, id.OpAck))
			node = child
		}
	}
}

// contexts adds n changes of the context, each with one value of size bytes.
func contexts(n, size int) func(*history) {
	return func(h *history) {
		for i := range n {
			origin := id.FromAttempt(id.NextAttempt(h.node, id.OpAck, i), id.OpAck)
			h.add(event.Scope{RunID: h.run}, event.ContextSet{ContextID: origin.Context(0), NodeID: &h.node,
				Source: event.ContextAgentDelta, Context: canon.OfMembers(
					canon.Member{Name: "big", Value: canon.OfString(strings.Repeat("v", size))})})
		}
	}
}

// started adds n runs.
func started(n int) func(*history) {
	return func(h *history) {
		for i := range n {
			run := id.NewRun(id.Seed{1, byte(i), byte(i >> 8)})
			h.add(event.Scope{RunID: run}, event.RunStarted{WorkflowID: "project.attack", WorkflowHash: h.workflow,
				WorkflowSourceKind: event.SourceProject, WorkflowSourceRef: "a.yaml",
				Title: strings.Repeat("t", limits.TitleBytesMax)})
			h.created(event.Scope{RunID: run, NodeID: id.RootNode(run)}, event.StepNode, nil)
		}
	}
}
