package wire

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// Status is the state of the run after the segments so far; Pending before its first event.
func (l *Log) Status() openwop.Status {
	switch {
	case l.status != "":
		return l.status
	case l.started == nil:
		return openwop.Pending
	case l.cancelling:
		return openwop.Cancelling
	case l.paused:
		return openwop.Paused
	case l.current != nil && l.current.open != nil:
		return l.current.open.kind.Waits()
	}
	return openwop.Running
}

// forcedVersion is the version of the engine as by which the run was created, "" for this one.
func (l *Log) forcedVersion() string {
	if o := l.started.Options; o != nil {
		return openwop.EngineVersionOf(o.Metadata)
	}
	return ""
}

// Snapshot is the state of the run after the segments so far. The caller adds the owner and the version of
// the program.
func (l *Log) Snapshot() openwop.Snapshot {
	out := openwop.Snapshot{RunID: l.run.String(), Status: l.Status(), NodeStates: map[string]openwop.NodeState{},
		Variables: canon.OfMembers(), EventLogSchemaVersion: openwop.EventLogSchemaVersion,
		Metrics: openwop.Metrics{EventCount: l.next, NodeCount: int64(len(l.states))}}
	if l.started == nil {
		return out
	}
	out.EngineVersion = l.forcedVersion()
	out.WorkflowID, out.StartedAt = l.started.WorkflowID, event.TimeText(l.startedAtMs)
	for _, tag := range l.started.Tags {
		out.Tags = append(out.Tags, l.free("", tag).Value.Text())
	}
	if o := l.started.Options; o != nil {
		out.Metadata, out.Configurable = redacted(o.Metadata), redacted(o.Configurable)
	}
	for key, st := range l.states {
		if st.starts == 0 {
			continue // of a segment that could not be read as a whole
		}
		n := openwop.NodeState{Status: st.status, StartedAt: event.TimeText(st.startedMs), Attempts: st.attempts}
		if st.endedMs != 0 {
			n.CompletedAt = event.TimeText(st.endedMs)
		}
		out.NodeStates[key] = n
	}
	if l.current != nil {
		out.Variables = redacted(l.current.context)
	}
	if l.Ended() {
		out.CompletedAt, out.Error = event.TimeText(l.endedAtMs), l.failure
	} else if l.current != nil && l.current.open != nil {
		out.CurrentNodeID = l.current.id
	}
	return out
}

// Find returns the node with an id on the wire: the last one that started, where the run went back. false for
// an unknown id.
func (l *Log) Find(nodeID string) (id.Node, bool) {
	st, ok := l.states[nodeID]
	if !ok || st.at.IsZero() {
		return id.Node{}, false
	}
	return st.at, true
}

// NodeID returns the id on the wire of a node that started, false for any other.
func (l *Log) NodeID(n id.Node) (string, bool) {
	at := l.nodes[n]
	if text := nodeID(at); text != "" {
		return text, true
	}
	return "", false
}
