package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Turn is the end of a turn of an agent, at a node whose step it can perform.
type Turn struct {
	Client string       // the program that runs the agent
	Chat   canon.Digest // of the client's name for its session
	AtMs   int64        // clock reading in milliseconds since 1970
}

// TurnFacts holds the recorded facts on which the end of a turn is decided.
type TurnFacts struct {
	Session id.Session
	Run     id.Run
	Node    id.Node
	Next    int64 // index of the next event
	// Refusals is how often the end of a turn of the chat was refused at the node, and LetGo that the chat
	// was let go there.
	Refusals int64
	LetGo    bool
	// Chats is the number of chats with a record at the node.
	Chats int
}

// EndTurn decides about the end of a turn (docs/design.md#guard) and plans its record. refusals is how often the
// node was refused in the chat, with this time; 0: the turn ends. A plan without events means that it ends and that
// nothing is recorded: the chat was let go before, or the node has the records of as many chats as it may have.
func EndTurn(f TurnFacts, t Turn) (plan manifest.Plan, refusals int64) {
	switch {
	case f.LetGo, f.Refusals == 0 && f.Chats >= limits.GuardChatsMax:
		return newSegment(f.Session, f.Next, t.AtMs, engine).plan, 0
	case f.Refusals < limits.GuardRefusalsMax:
		return NoteTurn(f, t, event.GuardRefused), f.Refusals + 1
	}
	return NoteTurn(f, t, event.GuardLetGo), 0
}

// NoteTurn plans the record of a verdict about the end of a turn. The actor is the engine: neither the agent nor its
// user decided it.
func NoteTurn(f TurnFacts, t Turn, verdict event.GuardVerdict) manifest.Plan {
	if verdict == event.GuardRefused {
		f.Refusals++
	}
	seg := newSegment(f.Session, f.Next, t.AtMs, engine)
	seg.engine(event.Scope{RunID: f.Run, NodeID: f.Node},
		event.GuardNoted{Chat: t.Chat, Client: t.Client, Refusals: f.Refusals, Verdict: verdict})
	return seg.plan
}
