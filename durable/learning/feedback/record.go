package feedback

import (
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Record returns the event data of an annotation. Only Record and Retract construct event
// data, so that every stored text is redacted (docs/design.md#redaction). The result of a
// Request that Check accepted passes Recorded.Check.
func Record(a id.Annotation, r Request, at Location) Recorded {
	return Recorded{AnnotationID: a, At: at, Confidence: r.Confidence,
		Note:   clean(r.Note, limits.AnnotationNoteBytesMax),
		Signal: r.Signal.Shown(), SupersedesAnnotationID: r.SupersedesAnnotationID, Target: r.Target}
}

// Redactions returns the places of a request from which Record removes secrets
// (docs/design.md#answers-about-redaction).
func (r Request) Redactions() []redact.Finding {
	var found redact.Findings
	found.Text("/note", r.Note)
	found.Text("/signal/correction", r.Signal.Correction)
	found.Text("/signal/label", r.Signal.Label)
	return found.List()
}

// ReasonRedactions returns the places of a retraction's reason from which Retract removes secrets.
func ReasonRedactions(why string) []redact.Finding {
	var found redact.Findings
	found.Text("/reason", why)
	return found.List()
}

// Retract returns the event data of a retraction. A blank reason is stored as none.
func Retract(a id.Annotation, why string) Retracted {
	return Retracted{AnnotationID: a, Reason: clean(strings.TrimSpace(why), limits.SummaryBytesMax)}
}

// clean returns a text as it may be stored: redacted, then truncated to most bytes, since a
// redaction marker may be longer than the secret it replaces.
func clean(s string, most int) string {
	return reason.Truncate(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), most)
}
