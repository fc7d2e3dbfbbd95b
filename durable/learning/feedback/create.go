package feedback

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/problem"
)

// Create is what a caller sends to annotate a run (RFC 0056 C): closed, and without the
// run, which stands beside it.
type Create struct {
	Note   string `json:"note,omitzero"`
	Signal Signal `json:"signal"`
	Target Target `json:"target,omitzero"`
}

// Request is a Create with what has no place in the RFC's shape (R28).
type Request struct {
	Create
	Confidence             *float64      // 0 to 1; of agents alone
	SupersedesAnnotationID id.Annotation // of the same run; zero: none
}

// Check refuses what must not be recorded for an actor: VALIDATION_ERROR with the details
// field, expected and got. It is asked before anything is redacted or written, since
// redaction cuts what is too long.
func (r Request) Check(by event.Actor) error {
	if r.Confidence != nil && by.Kind != event.Agent {
		return refuse(&mismatch{"/confidence", "none: only agents say how sure they are",
			fmt.Sprintf("one from actor %q", by.Kind)})
	}
	if err := r.Signal.check(); err != nil {
		return refuse(err)
	}
	if err := checkNote(r.Note); err != nil {
		return refuse(err)
	}
	return refuse(checkConfidence(r.Confidence))
}

// CheckReason refuses a reason of a retraction that must not be recorded, as
// Request.Check does. None is a reason as well.
func CheckReason(why string) error { return refuse(checkReason(why)) }

// ParseCreate reads a Create. What is not of its shape is refused as by Request.Check:
// more than its members anywhere, a member of two kinds, a value of another type or out
// of range.
func ParseCreate(data []byte) (Create, error) {
	v, err := canon.Parse(data)
	var at *canon.ParseError
	if errors.As(err, &at) {
		err = &mismatch{at.Pointer, "JSON in which every key stands once", bounded(at.Reason)} // it may name a key
	}
	if err != nil {
		return Create{}, refuse(err)
	}
	c, err := create(problem.Place{Value: v})
	return c, refuse(err)
}

// create reads member by member rather than by canon.Decode, whose refusals do not say
// what was expected, and to which an absent rating and one of 0 are the same.
func create(doc problem.Place) (c Create, err error) {
	if err = closed(doc, "", "note", "signal", "target"); err != nil {
		return Create{}, err
	}
	if target := doc.Member("target"); doc.Has("target") {
		if c.Target, err = parseTarget(target); err != nil {
			return Create{}, err
		}
	}
	if !doc.Has("signal") {
		return Create{}, &mismatch{"/signal", "an object with the kind of the signal", "nothing"}
	}
	if c.Signal, err = parseSignal(doc.Member("signal")); err != nil {
		return Create{}, err
	}
	if doc.Has("note") {
		if c.Note, err = text(doc.Member("note")); err == nil && c.Note == "" {
			err = &mismatch{"/note", "a note, or no member of that name", `""`}
		}
		if err == nil {
			err = checkNote(c.Note)
		}
	}
	if err != nil {
		return Create{}, err
	}
	return c, nil
}

// closed refuses what is no object, and members that it may not have.
func closed(p problem.Place, hint string, names ...string) error {
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

// parseTarget reads what of the run is meant. The caller is told where the run stands,
// since the shape that annotations are shown in has it here.
func parseTarget(p problem.Place) (t Target, err error) {
	if err := closed(p, "; the run stands beside the annotation", "eventId", "nodeId"); err != nil {
		return t, err
	}
	if err := parseID(p, "eventId", &t.EventID); err != nil {
		return t, err
	}
	return t, parseID(p, "nodeId", &t.NodeID)
}

// parseID reads an id that may be absent. Whether the run has what it names is for
// whoever has the run to say; an id of another shape names nothing anywhere.
func parseID(p problem.Place, name string, out interface{ UnmarshalString(string) error }) error {
	if !p.Has(name) {
		return nil
	}
	member := p.Member(name)
	s, err := text(member)
	if err != nil {
		return err
	}
	if err := out.UnmarshalString(s); err != nil {
		return &mismatch{member.Pointer, "an id: " + err.Error(), show(member.Value)}
	}
	return nil
}

// parseSignal asks which members are there before what they hold: a rating of 0 beside a
// flag is a rating beside a flag.
func parseSignal(p problem.Place) (s Signal, err error) {
	if err := closed(p, "", "kind", "rating", "label", "correction"); err != nil {
		return s, err
	}
	kind := p.Member("kind")
	if s.Kind = SignalKind(kind.Value.Text()); !s.Kind.known() {
		got := show(kind.Value)
		if !p.Has("kind") {
			got = "nothing"
		}
		return Signal{}, &mismatch{kind.Pointer, kinds(), got}
	}
	for _, other := range []SignalKind{RatingKind, CorrectionKind, LabelKind} {
		if other != s.Kind && p.Has(string(other)) {
			return Signal{}, foreignMember(other, s.Kind)
		}
	}
	if value := p.Member(string(s.Kind)); s.Kind != FlagKind {
		if err := s.take(value, p.Has(string(s.Kind))); err != nil {
			return Signal{}, err
		}
	}
	return s, s.check()
}

// take reads the member of the signal's kind. Of a rating it asks only whether it is a
// whole number: the range is one rule for what is sent and what is written, and stands
// in check. What no integer of ours holds is out of every range.
func (s *Signal) take(p problem.Place, given bool) (err error) {
	if s.Kind == RatingKind {
		n := p.Value.Float()
		if p.Value.Kind() != canon.Number || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return &mismatch{p.Pointer, stars(), gotOf(p, given)}
		}
		s.Rating = int64(n)
		return nil
	}
	if !given {
		return &mismatch{p.Pointer, "text", "nothing"}
	}
	if s.Kind == LabelKind {
		s.Label, err = text(p)
	} else {
		s.Correction, err = text(p)
	}
	return err
}

func gotOf(p problem.Place, given bool) string {
	if !given {
		return "nothing"
	}
	return show(p.Value)
}

// text reads a string, and refuses null as it does any other value: a member without a
// value is left out.
func text(p problem.Place) (string, error) {
	if p.Value.Kind() != canon.String {
		return "", &mismatch{p.Pointer, "text", show(p.Value)}
	}
	return p.Value.Text(), nil
}
