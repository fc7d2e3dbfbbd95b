package feedback

import (
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Record is the record of an annotation. Only Record and Retract make records, so that no
// text gets past the redaction (R30). What Request.Check accepted can be written.
func Record(a id.Annotation, r Request, at Place) Recorded {
	s := r.Signal
	s.Correction, s.Label = clean(s.Correction, limits.CorrectionBytesMax), clean(s.Label, limits.LabelBytesMax)
	return Recorded{AnnotationID: a, At: at, Confidence: r.Confidence,
		Note:   clean(r.Note, limits.AnnotationNoteBytesMax),
		Signal: s, SupersedesAnnotationID: r.SupersedesAnnotationID, Target: r.Target}
}

// Retract is the record of taking an annotation back. A blank reason is none.
func Retract(a id.Annotation, why string) Retracted {
	return Retracted{AnnotationID: a, Reason: clean(strings.TrimSpace(why), limits.SummaryBytesMax)}
}

// clean is a text as it may be stored: without secrets, and within budget although a mark
// may be longer than what it stands for.
func clean(s string, most int) string {
	return reason.Truncate(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), most)
}
