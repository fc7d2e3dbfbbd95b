package feedback

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
)

// Table lists the kinds of events of a session's annotations log, in its directory
// "annotations". An event's scope names the run but no node: an annotation of a run concerns
// all of its nodes. The node and step are in the data.
var Table = event.NewTable("annotations", "sessionId",
	event.Row[Recorded](event.RunScope),
	event.Row[Retracted](event.RunScope),
)

// Recorded is one annotation. The event's envelope holds its actor and time. Its texts are
// redacted (docs/design.md#redaction); Record is the only constructor.
type Recorded struct {
	AnnotationID id.Annotation `json:"annotationId"`
	At           Location      `json:"at"`
	// Confidence is stated by agents only, 0 to 1 (docs/design.md#annotations).
	Confidence *float64 `json:"confidence,omitzero"`
	Note       string   `json:"note,omitzero"`
	Signal     Signal   `json:"signal"`
	// SupersedesAnnotationID names an earlier annotation of the run that this one replaces.
	SupersedesAnnotationID id.Annotation `json:"supersedesAnnotationId,omitzero"`
	Target                 Target        `json:"target"`
}

// Kind is "annotation_recorded".
func (Recorded) Kind() string { return "annotation_recorded" }

// DedupeKey allows one event per annotation id.
func (r Recorded) DedupeKey(owner string, _ event.Scope) string {
	return "annotation_recorded:" + owner + ":" + r.AnnotationID.String()
}

// Check refuses a signal that does not match its kind, texts over budget, a confidence
// outside 0 to 1, a location outside the target, and an annotation that supersedes itself.
func (r Recorded) Check(event.Scope) error {
	if r.AnnotationID.IsZero() {
		return errors.New("annotationId is missing")
	}
	if r.AnnotationID == r.SupersedesAnnotationID {
		return errors.New("an annotation supersedes itself")
	}
	return cmp.Or(r.Signal.check(), checkNote(r.Note), checkConfidence(r.Confidence), r.At.check(r.Target))
}

// check refuses a node other than the target's, a step without a node, and an invalid step
// id.
func (p Location) check(t Target) error {
	switch {
	case !t.NodeID.IsZero() && p.NodeID != t.NodeID:
		return fmt.Errorf("at is the node %q, and the target the node %q", p.NodeID, t.NodeID)
	case p.StepID == "":
		return nil
	case p.NodeID.IsZero():
		return fmt.Errorf("at is the step %q of no node", p.StepID)
	case !reason.ValidStepID(p.StepID):
		return fmt.Errorf("stepId %q: want only a-z 0-9 _ -", p.StepID)
	}
	return nil
}

// Retracted withdraws an annotation. The annotation's text stays in the log, which is
// append-only (docs/design.md#annotations).
type Retracted struct {
	AnnotationID id.Annotation `json:"annotationId"`
	Reason       string        `json:"reason,omitzero"` // redacted (docs/design.md#redaction); see Retract
}

// Kind is "annotation_retracted".
func (Retracted) Kind() string { return "annotation_retracted" }

// DedupeKey allows one event per annotation id.
func (r Retracted) DedupeKey(owner string, _ event.Scope) string {
	return "annotation_retracted:" + owner + ":" + r.AnnotationID.String()
}

// Check refuses a retraction without an annotation id and a reason over budget.
func (r Retracted) Check(event.Scope) error {
	if r.AnnotationID.IsZero() {
		return errors.New("annotationId is missing")
	}
	return checkReason(r.Reason)
}

// checkReason bounds a retraction's reason; an empty one is valid.
func checkReason(why string) error {
	if len(why) > limits.SummaryBytesMax || !utf8.ValidString(why) {
		return &mismatch{"/reason", fmt.Sprintf("text of at most %d bytes of UTF-8", limits.SummaryBytesMax),
			fmt.Sprintf("%d bytes", len(why))}
	}
	return nil
}

// LogOf is the log of the annotations of a session.
func LogOf(s id.Session) manifest.Log { return manifest.SessionSide(s, Table) }
