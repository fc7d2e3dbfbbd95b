// Package wait computes when a step that waits is over (docs/design.md#waiting), and defines the
// record of it, the artifact "wr.wait_over".
//
// The moment is a function of the log: of the time at which the step became pending, or of the
// instant that the workflow or the context names. The package reads no clock.
package wait

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Kind is the artifact kind of a wait that is over.
const Kind = "wr.wait_over"

// Over is the artifact "wr.wait_over", which a performer records with the attempt that completes the
// step.
type Over struct {
	DueAtMs         int64  `json:"dueAtMs"` // the moment until which the step waited
	Kind            string `json:"kind"`
	OverAtMs        int64  `json:"overAtMs"` // when the performer found it over; not before DueAtMs
	StepInstanceKey string `json:"stepInstanceKey"`
}

// Value returns the artifact as it is recorded.
func (o Over) Value() canon.Value {
	return canon.OfMembers(
		canon.Member{Name: "dueAtMs", Value: canon.OfInt(o.DueAtMs)},
		canon.Member{Name: "kind", Value: canon.OfString(Kind)},
		canon.Member{Name: "overAtMs", Value: canon.OfInt(o.OverAtMs)},
		canon.Member{Name: "stepInstanceKey", Value: canon.OfString(o.StepInstanceKey)})
}

// Decode reads the artifact strictly: unknown members, another kind and a wait that was over before
// it was due are errors.
func Decode(v canon.Value) (Over, error) {
	var o Over
	if err := canon.Decode(v, &o); err != nil {
		return o, err
	}
	switch {
	case o.Kind != Kind:
		return o, fmt.Errorf("want kind %s", Kind)
	case o.OverAtMs < o.DueAtMs:
		return o, errors.New("it was over before it was due")
	}
	return o, nil
}

// Unfilled says why the placeholder of a wait names no instant, without the value.
type Unfilled struct {
	Key string // path of the placeholder
	Why string // clause without a subject, such as "is not set"
}

// Error names the placeholder.
func (u *Unfilled) Error() string { return fmt.Sprintf("{{%s}} in until %s", u.Key, u.Why) }

// DueAt returns the moment until which a step waits, in milliseconds since 1970 UTC. pendingMs is
// the time at which the step became pending, vars are the variables of the loops around it and the
// context. The error is an *Unfilled, since package compile checks everything else.
func DueAt(w source.Wait, pendingMs int64, vars canon.Value) (int64, error) {
	path := w.Placeholder()
	switch {
	case w.For != "":
		ms, err := period.Parse(w.For)
		return pendingMs + ms, err
	case path == "":
		return period.ParseInstant(w.Until)
	}
	v, _ := placeholder.Lookup(vars, path)
	if v.IsNull() {
		return 0, &Unfilled{path, "is not set"}
	}
	at, err := period.ParseInstant(v.Text())
	if err != nil {
		return 0, &Unfilled{path, "is not " + period.InstantLike}
	}
	return at, nil
}
