package audit

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Check refuses an act that must not be put on record as it is: VALIDATION_ERROR for a
// person's reason, INTERNAL_ERROR for the rest, which is the program's own. It is asked
// before anything is written.
func (a Act) Check() error {
	if len(a.Reason) > limits.SummaryBytesMax {
		return fault.New(fault.ValidationError, "the reason has %d bytes; at most %d are allowed", len(a.Reason),
			limits.SummaryBytesMax).
			Suggest("Say it shorter.")
	}
	if !utf8.ValidString(a.Reason) {
		return fault.New(fault.ValidationError, "the reason is not valid UTF-8")
	}
	if err := checkAct(a.Action, a.Target, "", cleaned(a.Details)); err != nil {
		return fault.Wrap(err, fault.Internal, "an act that must not be put on record: %v", err)
	}
	return nil
}

// Intend is the record of an act that is about to be carried out, at the index ordinal
// of the log. Only Intend, Conclude and Record make records, so that no text gets
// past the redaction.
func Intend(a Act, ordinal int64) Intended {
	return Intended{Action: a.Action, Details: cleaned(a.Details), Ordinal: ordinal, Reason: clean(a.Reason),
		Target: a.Target}
}

// Conclude is the record of what became of an intention. Details that no record may
// have are left out: an outcome must be told whatever else it comes with.
func Conclude(intended id.Event, details map[string]string, failure error) Done {
	d := Done{Details: cleaned(details), IntendedEventID: intended, Outcome: Succeeded}
	if failure != nil {
		d.Outcome, d.Code = Failed, string(fault.CodeOf(failure))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Details)) {
		if !detailName.MatchString(name) || len(d.Details) > limits.AuditDetailsMax {
			delete(d.Details, name)
		}
	}
	return d
}

// Record is the record of a fact that a session's log holds. What is done there is done:
// texts over budget are cut, never a reason to leave the line out.
func Record(a Act, from Source) Recorded {
	return Recorded{Action: a.Action, Details: cleaned(a.Details), Reason: clean(a.Reason), Source: from,
		Target: a.Target}
}

// clean is a text as it may be stored: without secrets (R30), and within budget although
// a mark may be longer than what it stands for.
func clean(s string) string {
	return reason.Truncate(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), limits.AuditTextBytesMax)
}

func cleaned(details map[string]string) map[string]string {
	if len(details) == 0 {
		return nil // absent has one spelling
	}
	out := make(map[string]string, len(details))
	for name, v := range details {
		out[name] = clean(v)
	}
	return out
}
