// Package feedback is what people and agents think of a run (RFC 0056, R28): the
// annotations of a session, a side log in the same form as every other log. It holds the
// log's records and their checks, what a caller may send, and the shape in which an
// annotation is shown. What is current, superseded or retracted is folded by projections.
package feedback

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
)

// SignalKind is the closed set of what an annotation says.
type SignalKind string

// The kinds of signals. RFC 0056 has the words.
const (
	RatingKind     SignalKind = "rating"
	CorrectionKind SignalKind = "correction"
	LabelKind      SignalKind = "label"
	FlagKind       SignalKind = "flag"
)

// Signals lists the closed set, in the order of RFC 0056.
func Signals() []SignalKind { return []SignalKind{RatingKind, CorrectionKind, LabelKind, FlagKind} }

// TargetKind is the closed set of what an annotation may be about.
type TargetKind string

// The kinds of targets. RFC 0056 has the words.
const (
	OfRun   TargetKind = "run"
	OfEvent TargetKind = "event"
	OfNode  TargetKind = "node"
)

// Targets lists the closed set, in the order of RFC 0056.
func Targets() []TargetKind { return []TargetKind{OfRun, OfEvent, OfNode} }

// The stars that a rating may have.
const (
	RatingMin = 1
	RatingMax = 5
)

// Signal is what an annotation says: the member of its kind, and no other; a flag has
// none. Make one with Rating, Correction, Label or Flag; whether it may be written is for
// Check to say.
type Signal struct {
	Correction string     `json:"correction,omitzero"` // what should stand in the place of what stands there
	Kind       SignalKind `json:"kind"`
	Label      string     `json:"label,omitzero"`  // free text (R28)
	Rating     int64      `json:"rating,omitzero"` // RatingMin to RatingMax
}

// Rating is a signal of so many stars.
func Rating(stars int64) Signal { return Signal{Kind: RatingKind, Rating: stars} }

// Correction is a signal that says what would have been right.
func Correction(text string) Signal { return Signal{Kind: CorrectionKind, Correction: text} }

// Label is a signal of a word that is counted.
func Label(text string) Signal { return Signal{Kind: LabelKind, Label: text} }

// Flag is a signal that somebody should look at this.
func Flag() Signal { return Signal{Kind: FlagKind} }

func (k SignalKind) known() bool { return slices.Contains(Signals(), k) }

// Target is the part of a run that an annotation is about; the zero Target is the run as
// a whole. With both members the event is one of the node, which only a reader of the
// run's log can tell.
type Target struct {
	EventID id.Event `json:"eventId,omitzero"`
	NodeID  id.Node  `json:"nodeId,omitzero"`
}

// Kind is the narrowest thing that t names.
func (t Target) Kind() TargetKind {
	switch {
	case !t.EventID.IsZero():
		return OfEvent
	case !t.NodeID.IsZero():
		return OfNode
	}
	return OfRun
}

// Place is where in a run an annotation stands (R28), found when it was written: the node
// of the target, or for a run the tip, and the step that was pending there.
type Place struct {
	NodeID id.Node `json:"nodeId,omitzero"`
	StepID string  `json:"stepId,omitzero"`
}
