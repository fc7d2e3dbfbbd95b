package runs

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// GuardedChat is what hooks of a client decided about the ends of turns of one chat at a node
// (docs/design.md#guard).
type GuardedChat struct {
	Client string `json:"client"`
	// Chat is the digest of the client's name for its session.
	Chat canon.Digest `json:"chat"`
	// Refusals counts the ends of turns that were refused. LetGo reports that one was allowed after them.
	Refusals int64 `json:"refusals"`
	LetGo    bool  `json:"letGo,omitzero"`
	// AtMs is the time of the last record.
	AtMs int64 `json:"atMs,omitzero"`
}

// addGuarded counts a record. n is nil for a node that the log does not create.
func (n *Node) addGuarded(e event.Event, p event.GuardNoted) {
	if n == nil {
		return
	}
	at := n.guarded(p.Client, p.Chat)
	if at == nil {
		n.Guarded = append(n.Guarded, GuardedChat{Client: p.Client, Chat: p.Chat})
		at = &n.Guarded[len(n.Guarded)-1]
	}
	if at.AtMs = e.TimestampMs; p.Verdict == event.GuardLetGo {
		at.LetGo = true
	} else {
		at.Refusals++
	}
}

// guarded returns the counts of a chat, nil for one without a record.
func (n *Node) guarded(client string, chat canon.Digest) *GuardedChat {
	for i := range n.Guarded {
		if n.Guarded[i].Client == client && n.Guarded[i].Chat == chat {
			return &n.Guarded[i]
		}
	}
	return nil
}

// GuardedChat returns the counts of a chat, without refusals for one that has no record.
func (n *Node) GuardedChat(client string, chat canon.Digest) GuardedChat {
	if at := n.guarded(client, chat); at != nil {
		return *at
	}
	return GuardedChat{Client: client, Chat: chat}
}
