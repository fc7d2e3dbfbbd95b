package feedback

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Table is the closed union of a session's annotations, in its folder "annotations".
// An event names its run and no node: an annotation of a run is about all of its nodes,
// and where it stands is in the data.
var Table = event.NewTable("annotations", "sessionId",
	event.Row[Recorded](event.RunScope),
	event.Row[Retracted](event.RunScope),
)

// Recorded is one annotation. Who made it and when stands in the envelope. Its texts were
// redacted (R30); see Record.
type Recorded struct {
	AnnotationID id.Annotation `json:"annotationId"`
	At           Place         `json:"at"`
	// Confidence is how sure an agent is, 0 to 1; people give none (R28).
	Confidence *float64 `json:"confidence,omitzero"`
	Note       string   `json:"note,omitzero"`
	Signal     Signal   `json:"signal"`
	// SupersedesAnnotationID names an earlier annotation of the run that this one stands
	// in the place of.
	SupersedesAnnotationID id.Annotation `json:"supersedesAnnotationId,omitzero"`
	Target                 Target        `json:"target"`
}

// Kind is "annotation_recorded".
func (Recorded) Kind() string { return "annotation_recorded" }

// DedupeKey allows one per annotation id.
func (r Recorded) DedupeKey(owner string, _ event.Scope) string {
	return "annotation_recorded:" + owner + ":" + r.AnnotationID.String()
}

// Check refuses a signal that does not fit its kind, texts over budget, a confidence that
// is no share, a place that is not the target's, and an annotation that supersedes itself.
func (r Recorded) Check(event.Scope) error {
	if r.AnnotationID.IsZero() {
		return errors.New("annotationId is missing")
	}
	if r.AnnotationID == r.SupersedesAnnotationID {
		return errors.New("an annotation supersedes itself")
	}
	if err := r.Signal.check(); err != nil {
		return err
	}
	if err := checkNote(r.Note); err != nil {
		return err
	}
	if err := checkConfidence(r.Confidence); err != nil {
		return err
	}
	return r.At.check(r.Target)
}

func (p Place) check(t Target) error {
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

// Retracted takes an annotation back. Its text stays in the log, which only grows (R28).
type Retracted struct {
	AnnotationID id.Annotation `json:"annotationId"`
	Reason       string        `json:"reason,omitzero"` // redacted (R30); see Retract
}

// Kind is "annotation_retracted".
func (Retracted) Kind() string { return "annotation_retracted" }

// DedupeKey allows one per annotation id.
func (r Retracted) DedupeKey(owner string, _ event.Scope) string {
	return "annotation_retracted:" + owner + ":" + r.AnnotationID.String()
}

// Check refuses a retraction of nothing and a reason over budget.
func (r Retracted) Check(event.Scope) error {
	if r.AnnotationID.IsZero() {
		return errors.New("annotationId is missing")
	}
	return checkReason(r.Reason)
}

func checkReason(why string) error {
	if len(why) > limits.SummaryBytesMax || !utf8.ValidString(why) {
		return &mismatch{"/reason", fmt.Sprintf("text of at most %d bytes of UTF-8", limits.SummaryBytesMax),
			fmt.Sprintf("%d bytes", len(why))}
	}
	return nil
}
