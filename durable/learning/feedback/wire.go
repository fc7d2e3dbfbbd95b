package feedback

import (
	"cmp"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Annotation is the wire shape of an annotation, exactly as OpenWOP defines it
// (docs/design.md#annotations).
type Annotation struct {
	AnnotationID id.Annotation `json:"annotationId"`
	Target       RunTarget     `json:"target"`
	Signal       Signal        `json:"signal"`
	Actor        Principal     `json:"actor"`
	Note         string        `json:"note,omitzero"`
	CreatedAt    string        `json:"createdAt"` // RFC 3339 in UTC with milliseconds
}

// RunTarget is a Target together with its run.
type RunTarget struct {
	RunID   id.Run   `json:"runId"`
	EventID id.Event `json:"eventId,omitzero"`
	NodeID  id.Node  `json:"nodeId,omitzero"`
}

// Principal identifies the author of an annotation.
type Principal struct {
	PrincipalRef string `json:"principalRef"`
}

// Details holds Waybill's additional facts about an annotation; answers show it beside the
// Annotation (docs/design.md#annotations). Projections fill in the members that depend on
// later events: SupersededBy, Retracted and RetractedReason. Imported depends on the store.
type Details struct {
	NodeID                 id.Node       `json:"nodeId,omitzero"`
	StepID                 string        `json:"stepId,omitzero"`
	Confidence             *float64      `json:"confidence,omitzero"` // 0 to 1
	SupersedesAnnotationID id.Annotation `json:"supersedesAnnotationId,omitzero"`
	SupersededBy           id.Annotation `json:"supersededBy,omitzero"`
	Retracted              bool          `json:"retracted,omitzero"`
	RetractedReason        string        `json:"retractedReason,omitzero"`
	// Imported reports that the annotation came with a bundle: its author is a claim of the bundle.
	Imported bool `json:"imported,omitzero"`
}

// AnnotationOf returns the annotation that an event recorded, as it is shown; ok is false for other kinds of
// events. Its texts are redacted: an annotation that came with a bundle is stored as it came
// (docs/design.md#answers-about-redaction).
func AnnotationOf(e event.Event) (a Annotation, about Details, ok bool) {
	r, ok := e.Data.(Recorded)
	if !ok {
		return a, about, false
	}
	a = Annotation{AnnotationID: r.AnnotationID, Signal: r.Signal.Shown(),
		Note:      clean(r.Note, limits.AnnotationNoteBytesMax),
		CreatedAt: event.TimeText(e.TimestampMs),
		Target:    RunTarget{RunID: e.Scope.RunID, EventID: r.Target.EventID, NodeID: r.Target.NodeID},
		Actor:     Principal{PrincipalRef: cmp.Or(clean(e.Actor.Ref, limits.ActorRefMax), string(e.Actor.Kind), noPrincipal)}}
	about = Details{NodeID: r.At.NodeID, StepID: r.At.StepID, Confidence: r.Confidence,
		SupersedesAnnotationID: r.SupersedesAnnotationID}
	return a, about, true
}

// Shown returns a stored signal as it is shown: with redacted texts.
func (s Signal) Shown() Signal {
	s.Correction, s.Label = clean(s.Correction, limits.CorrectionBytesMax), clean(s.Label, limits.LabelBytesMax)
	return s
}

// ShownReason returns the reason of a stored retraction as it is shown: redacted.
func (r Retracted) ShownReason() string { return clean(r.Reason, limits.SummaryBytesMax) }

// noPrincipal is used for an actor that could not be read; the wire shape requires a text.
const noPrincipal = "unknown"
