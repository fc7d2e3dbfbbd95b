package openruns

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
)

// Notes is the record of what hooks refused, the latest last.
type Notes struct {
	V     int    `json:"v"` // 1
	Notes []Note `json:"notes"`
}

// Note is what hooks decided about turns of one session of a client that ended at one node.
type Note struct {
	RunID  string `json:"runId"`
	NodeID string `json:"nodeId"`
	// Client is the client, and Session the digest of its name for the session.
	Client  string       `json:"client"`
	Session canon.Digest `json:"session"`
	// Refusals is the number of turns whose end was refused.
	Refusals int `json:"refusals"`
	// Verdict is the last decision, and AtMs its time in milliseconds since 1970 UTC.
	Verdict guard.Verdict `json:"verdict"`
	AtMs    int64         `json:"atMs"`
}

// Refuse decides whether the end of a turn at a step is refused, and records that. It returns how often the same node
// was refused, with this time, and false if the turn ends: the node was refused often enough, or the decision cannot
// be recorded, without which an agent might be held for ever.
func (l List) Refuse(ctx context.Context, s guard.Step, client, sessionID string, nowMs int64) (refusals int, refused bool) {
	digest := canon.Sum([]byte(sessionID))
	err := l.files.UpdateNotes(ctx, func(old []byte) ([]byte, error) {
		var all Notes
		if canon.Unmarshal(old, &all) != nil || all.V != 1 {
			all = Notes{V: 1, Notes: []Note{}}
		}
		n := Note{RunID: s.Run, NodeID: s.Node, Client: client, Session: digest}
		at := slices.IndexFunc(all.Notes, func(o Note) bool {
			return o.NodeID == n.NodeID && o.RunID == n.RunID && o.Client == client && o.Session == digest
		})
		if at >= 0 {
			n = all.Notes[at]
			all.Notes = slices.Delete(all.Notes, at, at+1)
		}
		n.Verdict, n.AtMs = guard.Judge(n.Refusals), nowMs
		if n.Verdict == guard.Refused {
			n.Refusals++
		}
		refusals, refused = n.Refusals, n.Verdict == guard.Refused
		all.Notes = append(all.Notes, n)
		return canon.Marshal(Notes{1, all.Notes[max(0, len(all.Notes)-limits.GuardNotesMax):]})
	})
	return refusals, refused && err == nil
}
