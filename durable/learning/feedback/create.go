package feedback

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/problem"
)

// Create is the body of a request to annotate a run, in OpenWOP's shape
// (docs/design.md#annotations): no other members, and without the run, which the request
// names separately.
type Create struct {
	Note   string `json:"note,omitzero"`
	Signal Signal `json:"signal"`
	Target Target `json:"target,omitzero"`
}

// Request is a Create with Waybill's additional members (docs/design.md#annotations).
type Request struct {
	Create
	Confidence             *float64      // 0 to 1; agents only
	SupersedesAnnotationID id.Annotation // an earlier annotation of the same run; zero: none
}

// Check refuses what must not be recorded for an actor: VALIDATION_ERROR with the details
// field, expected and got. Callers run it before redaction, which would truncate a text that
// is too long.
func (r Request) Check(by event.Actor) error {
	if r.Confidence != nil && by.Kind != event.Agent {
		return refuse(&mismatch{"/confidence", "no confidence: only agents may send one",
			fmt.Sprintf("one from actor %q", by.Kind)})
	}
	return refuse(cmp.Or(r.Signal.check(), checkNote(r.Note), checkConfidence(r.Confidence)))
}

// CheckReason refuses a retraction's reason that is too long or not UTF-8, with the fault
// that Request.Check returns. An empty reason is valid.
func CheckReason(why string) error { return refuse(checkReason(why)) }

// ParseCreate reads a Create strictly. Unknown members at any level, members of two kinds,
// values of another type or out of range are VALIDATION_ERROR as from Request.Check.
func ParseCreate(data []byte) (Create, error) {
	v, err := canon.Parse(canon.WithoutBOM(data))
	var at *canon.ParseError
	if errors.As(err, &at) {
		// The reason may contain a key of the caller's, of any length.
		err = &mismatch{at.Pointer, "JSON with unique object keys", bounded(at.Reason)}
	}
	if err != nil {
		return Create{}, refuse(err)
	}
	c, err := create(problem.SourceValue{Value: v})
	return c, refuse(err)
}

// create reads member by member instead of using canon.Decode, whose errors do not state what
// was expected and which does not distinguish an absent rating from a rating of 0.
func create(doc problem.SourceValue) (c Create, err error) {
	err = cmp.Or(closed(doc, "", "note", "signal", "target"),
		parseTarget(doc, &c.Target), parseSignal(doc, &c.Signal), parseNote(doc, &c.Note))
	if err != nil {
		return Create{}, err
	}
	return c, nil
}

// parseNote reads the optional note. An empty one is refused rather than read as absent: one
// meaning has one spelling.
func parseNote(doc problem.SourceValue, out *string) error {
	if !doc.Has("note") {
		return nil
	}
	err := text(doc, "note", out)
	if err == nil && *out == "" {
		return &mismatch{"/note", "a note, or no member of that name", `""`}
	}
	return cmp.Or(err, checkNote(*out))
}

// closed refuses values that are not objects, and members other than names. hint is appended
// to the list of names in the message.
func closed(p problem.SourceValue, hint string, names ...string) error {
	if p.Value.Kind() != canon.Object {
		return &mismatch{p.Pointer, "an object", show(p.Value)}
	}
	for _, name := range p.Names() {
		if !slices.Contains(names, name) {
			return &mismatch{p.Member(name).Pointer, "no member of that name, only " + quoteAll(names...) + hint,
				show(p.Member(name).Value)}
		}
	}
	return nil
}

// parseTarget reads the optional part of the run that is annotated. The hint covers callers who
// send runId here, where the wire shape of a stored annotation has it.
func parseTarget(doc problem.SourceValue, out *Target) error {
	p := doc.Member("target")
	if !doc.Has("target") {
		return nil
	}
	return cmp.Or(closed(p, "; name the run outside the annotation", "eventId", "nodeId"),
		parseID(p, "eventId", &out.EventID), parseID(p, "nodeId", &out.NodeID))
}

// parseID reads an optional id and checks its form. Whether the run contains the id is
// checked by the engine, which has read the run's log.
func parseID(p problem.SourceValue, name string, out interface{ UnmarshalString(string) error }) error {
	if !p.Has(name) {
		return nil
	}
	var s string
	if err := text(p, name, &s); err != nil {
		return err
	}
	if err := out.UnmarshalString(s); err != nil {
		return &mismatch{p.Member(name).Pointer, "an id: " + err.Error(), gotOf(p, name)}
	}
	return nil
}

// parseSignal checks which members are present before their values: a rating of 0 beside a
// flag is still a member of another kind.
func parseSignal(doc problem.SourceValue, out *Signal) error {
	p := doc.Member("signal")
	if !doc.Has("signal") {
		return &mismatch{p.Pointer, "an object with the kind of the signal", "nothing"}
	}
	if err := closed(p, "", "kind", "rating", "label", "correction"); err != nil {
		return err
	}
	kind := p.Member("kind")
	if out.Kind = SignalKind(kind.Value.Text()); !out.Kind.known() {
		return &mismatch{kind.Pointer, kinds(), gotOf(p, "kind")}
	}
	for _, other := range []SignalKind{RatingKind, CorrectionKind, LabelKind} {
		if other != out.Kind && p.Has(string(other)) {
			return foreignMember(other, out.Kind)
		}
	}
	if err := out.take(p); err != nil {
		return err
	}
	return out.check()
}

// take reads the member that belongs to the signal's kind. A rating only has to be a whole
// number here: check holds the range, for requests and stored records alike. Numbers beyond
// 32 bits are refused here, since their conversion to int64 is not exact.
func (s *Signal) take(p problem.SourceValue) error {
	switch s.Kind {
	case RatingKind:
		rating := p.Member("rating")
		n := rating.Value.Float()
		if rating.Value.Kind() != canon.Number || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return &mismatch{rating.Pointer, stars(), gotOf(p, "rating")}
		}
		s.Rating = int64(n)
	case LabelKind:
		return text(p, "label", &s.Label)
	case CorrectionKind:
		return text(p, "correction", &s.Correction)
	}
	return nil
}

// gotOf formats a member's value for a message, "nothing" if it is absent.
func gotOf(p problem.SourceValue, name string) string {
	if !p.Has(name) {
		return "nothing"
	}
	return show(p.Member(name).Value)
}

// text reads a string member. null is refused like any other type: a member without a value must
// be left out.
func text(p problem.SourceValue, name string, out *string) error {
	member := p.Member(name)
	if member.Value.Kind() != canon.String {
		return &mismatch{member.Pointer, "text", gotOf(p, name)}
	}
	*out = member.Value.Text()
	return nil
}
