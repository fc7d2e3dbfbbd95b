package event

import (
	"cmp"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// GuardVerdict is what a hook of a client decided about the end of a turn, a closed set.
type GuardVerdict string

// The verdicts.
const (
	// GuardRefused: the agent is asked to perform the step.
	GuardRefused GuardVerdict = "refused"
	// GuardLetGo: the turn ends, since the end was refused as often as it may be.
	GuardLetGo GuardVerdict = "let_go"
)

// GuardNoted records what a hook of an agent's client decided about the end of a turn at a node, whose step the agent
// can perform (docs/design.md#guard). It is about a chat and changes nothing of the run: its events are ignorable, so
// that a version which does not know the kind continues the run.
type GuardNoted struct {
	Chat     canon.Digest `json:"chat"`     // of the client's name for its session
	Client   string       `json:"client"`   // the name of a client, also of one of a later version
	Refusals int64        `json:"refusals"` // in this chat at this node, with this one
	Verdict  GuardVerdict `json:"verdict"`
}

// Kind is "guard_noted".
func (GuardNoted) Kind() string { return "guard_noted" }

// DedupeKey allows one event for each refusal of a chat at a node, and one for its end.
func (g GuardNoted) DedupeKey(owner string, s Scope) string {
	nth := string(GuardLetGo)
	if g.Verdict == GuardRefused {
		nth = strconv.FormatInt(g.Refusals, 10)
	}
	return "guard_noted:" + owner + ":" + s.NodeID.String() + ":" + g.Client + ":" + g.Chat.String() + ":" + nth
}

var clientName = pattern.New(`^[a-z0-9_-]{1,32}$`)

// Check returns an error for an unknown verdict, a name of a client of another form, an absent chat and a count that
// is out of bounds. A later version may refuse more often and know more clients.
func (g GuardNoted) Check(Scope) error {
	return cmp.Or(
		errorIf(g.Chat.IsZero(), "chat is absent"),
		errorIf(!clientName.MatchString(g.Client), "client: want 1 to 32 of a-z 0-9 _ -"),
		oneOf("verdict", g.Verdict, GuardRefused, GuardLetGo),
		within("%d refusals", g.Refusals, 1, limits.GuardRefusalsRecordedMax))
}

func (GuardNoted) ignorable() {}
