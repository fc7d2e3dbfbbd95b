package feedback

import (
	"cmp"

	"github.com/waybill/waybill/durable/id"
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
// later events: SupersededBy, Retracted and RetractedReason.
type Details struct {
	NodeID                 id.Node       `json:"nodeId,omitzero"`
	StepID                 string        `json:"stepId,omitzero"`
	Confidence             *float64      `json:"confidence,omitzero"` // 0 to 1
	SupersedesAnnotationID id.Annotation `json:"supersedesAnnotationId,omitzero"`
	SupersededBy           id.Annotation `json:"supersededBy,omitzero"`
	Retracted              bool          `json:"retracted,omitzero"`
	RetractedReason        string        `json:"retractedReason,omitzero"`
}

// AnnotationOf returns the annotation that an event recorded; ok is false for other kinds of events.
func AnnotationOf(e event.Event) (a Annotation, about Details, ok bool) {
	r, ok := e.Data.(Recorded)
	if !ok {
		return a, about, false
	}
	a = Annotation{AnnotationID: r.AnnotationID, Signal: r.Signal, Note: r.Note,
		CreatedAt: event.TimeText(e.TimestampMs),
		Target:    RunTarget{RunID: e.Scope.RunID, EventID: r.Target.EventID, NodeID: r.Target.NodeID},
		Actor:     Principal{PrincipalRef: cmp.Or(e.Actor.Ref, string(e.Actor.Kind), noPrincipal)}}
	about = Details{NodeID: r.At.NodeID, StepID: r.At.StepID, Confidence: r.Confidence,
		SupersedesAnnotationID: r.SupersedesAnnotationID}
	return a, about, true
}

// noPrincipal is used for an actor that could not be read; the wire shape requires a text.
const noPrincipal = "unknown"
