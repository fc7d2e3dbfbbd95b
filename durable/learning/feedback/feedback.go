// Package feedback holds the annotations that people and agents make on runs
// (docs/design.md#annotations): a side log of the session in the same form as every other
// log.
//
// It defines the log's events and their checks (Table), the request that a caller sends
// (Create, Request), and the shape in which an annotation is shown (Annotation). It does not
// compute which annotations are current, superseded or retracted; projections do. Start with
// Signal and Target, then Record.
package feedback

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
)

// SignalKind is the closed set of kinds of signals.
type SignalKind string

// The kinds of signals, in OpenWOP's words.
const (
	RatingKind     SignalKind = "rating"
	CorrectionKind SignalKind = "correction"
	LabelKind      SignalKind = "label"
	FlagKind       SignalKind = "flag"
)

// Signals lists the kinds of signals, in OpenWOP's order.
func Signals() []SignalKind { return []SignalKind{RatingKind, CorrectionKind, LabelKind, FlagKind} }

// TargetKind is the closed set of parts of a run that an annotation may be about.
type TargetKind string

// The kinds of targets, in OpenWOP's words.
const (
	TargetRun   TargetKind = "run"
	TargetEvent TargetKind = "event"
	TargetNode  TargetKind = "node"
)

// Targets lists the kinds of targets, in OpenWOP's order.
func Targets() []TargetKind { return []TargetKind{TargetRun, TargetEvent, TargetNode} }

// The range of a rating, in stars.
const (
	RatingMin = 1
	RatingMax = 5
)

// Signal is the content of an annotation: the member that belongs to its kind, and no other;
// a flag has none. Rating, Correction, Label and Flag construct one; Check decides whether it
// may be written.
type Signal struct {
	Correction string     `json:"correction,omitzero"` // the text that should replace the annotated one
	Kind       SignalKind `json:"kind"`
	Label      string     `json:"label,omitzero"`  // free text (docs/design.md#annotations)
	Rating     int64      `json:"rating,omitzero"` // RatingMin to RatingMax
}

// Rating returns a signal of that many stars.
func Rating(stars int64) Signal { return Signal{Kind: RatingKind, Rating: stars} }

// Correction returns a signal with the text that would have been right.
func Correction(text string) Signal { return Signal{Kind: CorrectionKind, Correction: text} }

// Label returns a signal with a word that summaries count.
func Label(text string) Signal { return Signal{Kind: LabelKind, Label: text} }

// Flag returns a signal that requests attention.
func Flag() Signal { return Signal{Kind: FlagKind} }

func (k SignalKind) known() bool { return slices.Contains(Signals(), k) }

// Target is the part of a run that an annotation is about; the zero Target is the whole run.
// If both members are set, the event belongs to the node; the engine checks that against the
// run's log.
type Target struct {
	EventID id.Event `json:"eventId,omitzero"`
	NodeID  id.Node  `json:"nodeId,omitzero"`
}

// Kind returns the kind of the narrowest part that t names.
func (t Target) Kind() TargetKind {
	switch {
	case !t.EventID.IsZero():
		return TargetEvent
	case !t.NodeID.IsZero():
		return TargetNode
	}
	return TargetRun
}

// Location is the location in a run to which an annotation applies, determined when it was
// written: the target's node, or the tip for a whole run, and the step that was pending there
// (docs/design.md#annotations).
type Location struct {
	NodeID id.Node `json:"nodeId,omitzero"`
	StepID string  `json:"stepId,omitzero"`
}
