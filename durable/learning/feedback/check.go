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

// mismatch says what about an annotation is not as it must be. The same rules hold for
// what is sent, what is written and what is read; only the first are told to a caller.
type mismatch struct {
	field    string // RFC 6901 pointer, "" for the whole document
	expected string
	got      string
}

// whole stands for the field of what is wrong altogether.
const whole = "the annotation"

// Error is the mismatch in one clause.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", cmp.Or(m.field, whole), m.expected, m.got)
}

// refuse makes of a mismatch the fault that its caller gets; nil stays nil. A pointer is
// made of names that the caller chose, of any length.
func refuse(err error) error {
	var m *mismatch
	if !errors.As(err, &m) {
		return err
	}
	told := &mismatch{bounded(m.field), m.expected, m.got}
	return fault.New(fault.ValidationError, "%v", told).
		Suggest("Correct %s and send it again. Nothing was recorded.", cmp.Or(told.field, whole)).
		With("field", told.field).With("expected", told.expected).With("got", told.got)
}

// bounded is what a refusal repeats of what was sent. Refusals are logged, so it takes
// secrets out, and does so before it cuts: half a secret is no longer known by its shape.
func bounded(s string) string {
	clean := redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil)
	if short := reason.Clip(clean, shownBytesMax); short != clean {
		return short + "…"
	}
	return clean
}

// shownBytesMax is how much of what was sent a refusal repeats.
const shownBytesMax = 80

// show tells a value to whoever sent it.
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

func quote(s string) string { return string(canon.AppendString(nil, bounded(s))) }

func quoteAll[S ~string](all ...S) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(string(s))
	}
	return strings.Join(quoted, ", ")
}

// checkText holds a text that must be there, and say something: a blank one would be
// counted and shown as a judgement, and tell nobody anything. Lengths are asked before
// anything reads the text, and budgets are of bytes, as the locks have them.
func checkText(field, text string, most int) error {
	want := fmt.Sprintf("text of 1 to %d bytes that is not blank", most)
	if len(text) > most {
		return &mismatch{field, want, strconv.Itoa(len(text)) + " bytes"}
	}
	if !utf8.ValidString(text) {
		return &mismatch{field, "text in UTF-8", "bytes that are none"}
	}
	if strings.TrimSpace(text) == "" {
		return &mismatch{field, want, quote(text)}
	}
	return nil
}

// check refuses a kind of no set, a kind without its member, a member of another kind.
// The published schema lets a flag have stars; whoever sums up would have to guess
// whether they count.
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

func foreignMember(member, kind SignalKind) error {
	return &mismatch{"/signal/" + string(member), fmt.Sprintf("no %s beside the kind %q: one annotation says one thing",
		member, kind), "a " + string(member)}
}

func stars() string { return fmt.Sprintf("a whole number from %d to %d", RatingMin, RatingMax) }

func kinds() string { return "one of " + quoteAll(Signals()...) }

// checkNote lets a note be absent, which is how none is spelled.
func checkNote(note string) error {
	if note == "" {
		return nil
	}
	return checkText("/note", note, limits.AnnotationNoteBytesMax)
}

// checkConfidence also refuses what is no number: it compares with nothing.
func checkConfidence(c *float64) error {
	if c == nil || *c >= 0 && *c <= 1 {
		return nil
	}
	return &mismatch{"/confidence", "a number from 0 to 1", strconv.FormatFloat(*c, 'g', -1, 64)}
}
