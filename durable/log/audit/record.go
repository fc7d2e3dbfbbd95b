package audit

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Check returns a fault for an act that must not be recorded: VALIDATION_ERROR for an invalid
// reason, which a person entered, and INTERNAL_ERROR for the rest, which the program provides.
// Callers check an act before they execute it.
func (a Act) Check() error {
	if len(a.Reason) > limits.SummaryBytesMax {
		return fault.New(fault.ValidationError, "the reason has %d bytes; at most %d are allowed", len(a.Reason),
			limits.SummaryBytesMax).
			Suggest("Shorten the reason.")
	}
	if !utf8.ValidString(a.Reason) {
		return fault.New(fault.ValidationError, "the reason is not valid UTF-8")
	}
	if err := checkAct(a.Action, a.Target, "", redactDetails(a.Details)); err != nil {
		return fault.Wrap(err, fault.Internal, "the action cannot be recorded: %v", err)
	}
	return nil
}

// Intend returns the record of an act that is about to be executed, for the index ordinal of the
// log. Only Intend, Conclude and Record make records, so that all texts are redacted.
func Intend(a Act, ordinal int64) Intended {
	return Intended{Action: a.Action, Details: redactDetails(a.Details), Ordinal: ordinal, Reason: redactText(a.Reason),
		Target: a.Target, Given: a.Consent}
}

// Conclude returns the record of the outcome of an intention; failure is nil for success. Details
// that are invalid or too many are left out: the action has been executed, and its outcome must
// be recorded.
func Conclude(intended id.Event, details map[string]string, failure error) Done {
	d := Done{Details: redactDetails(details), IntendedEventID: intended, Outcome: Succeeded}
	if text := details[DetailSettings]; len(text) > limits.AuditTextBytesMax && redact.Text(text, nil) == text {
		delete(d.Details, DetailSettings)
		d.Policy, _ = canon.Parse([]byte(text)) // canonical JSON of a configuration
	}
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

// Record returns the audit record of an event of another log. Texts that are too long are
// truncated: the event is committed already, so its audit record must not be refused.
func Record(a Act, from Source) Recorded {
	return Recorded{Action: a.Action, Details: redactDetails(a.Details), Reason: redactText(a.Reason), Source: from,
		Target: a.Target}
}

// redactText returns a text as it may be stored: redacted (docs/design.md#redaction), and
// truncated to its budget, since a marker may be longer than the secret it replaces.
func redactText(s string) string {
	return reason.Truncate(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), limits.AuditTextBytesMax)
}

// redactDetails returns a copy of details with all values redacted, nil for no details.
func redactDetails(details map[string]string) map[string]string {
	if len(details) == 0 {
		return nil // an empty map and nil are both left out of the record
	}
	out := make(map[string]string, len(details))
	for name, v := range details {
		out[name] = redactText(v)
	}
	return out
}
