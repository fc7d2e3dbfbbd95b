package runs

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Checkpoint is what was recorded at a pending step without advancing the run
// (docs/design.md#edges-and-tips).
type Checkpoint struct {
	NodeID id.Node `json:"nodeId"`
	Notes  string  `json:"notes"`       // "" if it holds artifacts only
	At     string  `json:"at,omitzero"` // RFC 3339, "" if the log does not have the time
	AtMs   int64   `json:"atMs,omitzero"`
}

// CheckpointsAt returns the checkpoints of a node, oldest first. A window may have left out old
// ones.
func (r *Run) CheckpointsAt(n *Node) []Checkpoint {
	var out []Checkpoint
	for _, point := range n.Checkpoints {
		kept := r.Nodes[point]
		if kept == nil {
			continue
		}
		c := Checkpoint{NodeID: point, AtMs: kept.CreatedAtMs}
		if c.AtMs != 0 {
			c.At = event.TimeText(c.AtMs)
		}
		if o, ok := kept.Recap(); ok {
			c.Notes = o.Payload.NotesMarkdown
		}
		out = append(out, c)
	}
	return out
}
