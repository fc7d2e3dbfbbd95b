package feedback

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// mismatch describes what is wrong with an annotation: one field, what it must be and what it
// is. The same rules apply to what is sent, written and read; only a request's mismatch
// becomes a fault (see refuse).
type mismatch struct {
	field    string // RFC 6901 pointer, "" for the whole document
	expected string
	got      string
}

// whole is shown in place of a field when the mismatch concerns the whole document.
const whole = "the annotation"

// Error returns the mismatch as one clause.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", cmp.Or(m.field, whole), m.expected, m.got)
}

// refuse turns a mismatch into VALIDATION_ERROR with the details field, expected and got;
// other errors and nil are returned as they are. The pointer consists of names that the
// caller chose, so it is shortened and redacted like a value.
func refuse(err error) error {
	var m *mismatch
	if !errors.As(err, &m) {
		return err
	}
	shown := &mismatch{bounded(m.field), m.expected, m.got}
	return fault.New(fault.ValidationError, "%v", shown).
		Suggest("Correct %s and send it again. Nothing was recorded.", cmp.Or(shown.field, whole)).
		With("field", shown.field).With("expected", shown.expected).With("got", shown.got)
}

// bounded shortens text from a request for repetition in a refusal. Refusals are logged, so
// secrets are redacted, and before the cut: half a secret no longer matches a rule.
func bounded(s string) string {
	clean := redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil)
	if short := reason.Clip(clean, shownBytesMax); short != clean {
		return short + "…"
	}
	return clean
}

// shownBytesMax bounds the text of a request that a refusal repeats.
const shownBytesMax = 80

// show formats a value for the message of a refusal; lists and objects are only named.
func show(v canon.Value) string {
	switch v.Kind() {
	case canon.String:
		return quote(v.Text())
	case canon.Array:
		return "a list"
	case canon.Object:
		return "an object"
	}
	return string(v.JCS())
}

// quote returns bounded text as a JSON string.
func quote(s string) string { return string(canon.AppendString(nil, bounded(s))) }

// quoteAll joins the quoted words of a closed set, for messages.
func quoteAll[S ~string](all ...S) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(string(s))
	}
	return strings.Join(quoted, ", ")
}

// checkText checks a required text: 1 to most bytes of UTF-8, not blank. A blank text would
// be counted and shown as a judgement. The length is checked first, in bytes, before anything
// reads the text.
func checkText(field, text string, most int) error {
	want := fmt.Sprintf("text of 1 to %d bytes that is not blank", most)
	if len(text) > most {
		return &mismatch{field, want, strconv.Itoa(len(text)) + " bytes"}
	}
	if !utf8.ValidString(text) {
		return &mismatch{field, "text in UTF-8", "invalid UTF-8"}
	}
	if strings.TrimSpace(text) == "" {
		return &mismatch{field, want, quote(text)}
	}
	return nil
}

// check refuses an unknown kind, a missing member of the kind, and a member of another kind.
// The published schema permits a rating beside a flag; a summary could not decide whether to
// count it.
func (s Signal) check() error {
	if !s.Kind.known() {
		return &mismatch{"/signal/kind", kinds(), quote(string(s.Kind))}
	}
	for _, other := range []struct {
		kind  SignalKind
		given bool
	}{{RatingKind, s.Rating != 0}, {CorrectionKind, s.Correction != ""}, {LabelKind, s.Label != ""}} {
		if other.given && other.kind != s.Kind {
			return foreignMember(other.kind, s.Kind)
		}
	}
	switch s.Kind {
	case RatingKind:
		if s.Rating < RatingMin || s.Rating > RatingMax {
			return &mismatch{"/signal/rating", stars(), strconv.FormatInt(s.Rating, 10)}
		}
	case CorrectionKind:
		return checkText("/signal/correction", s.Correction, limits.CorrectionBytesMax)
	case LabelKind:
		return checkText("/signal/label", s.Label, limits.LabelBytesMax)
	}
	return nil
}

// foreignMember is the mismatch of a signal with a member of another kind.
func foreignMember(member, kind SignalKind) error {
	return &mismatch{
		"/signal/" + string(member),
		fmt.Sprintf("no %s beside the kind %q: an annotation carries one signal",
			member, kind),
		"a " + string(member),
	}
}

// stars describes the valid ratings, for messages.
func stars() string { return fmt.Sprintf("a whole number from %d to %d", RatingMin, RatingMax) }

// kinds lists the signal kinds, for messages.
func kinds() string { return "one of " + quoteAll(Signals()...) }

// checkNote accepts an absent note, spelled "".
func checkNote(note string) error {
	if note == "" {
		return nil
	}
	return checkText("/note", note, limits.AnnotationNoteBytesMax)
}

// checkConfidence accepts nil or 0 to 1. The comparison also refuses NaN.
func checkConfidence(c *float64) error {
	if c == nil || *c >= 0 && *c <= 1 {
		return nil
	}
	return &mismatch{"/confidence", "a number from 0 to 1", strconv.FormatFloat(*c, 'g', -1, 64)}
}
