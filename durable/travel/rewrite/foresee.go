package rewrite

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Foresee takes note of what a segment names that stands elsewhere: causes and evidence,
// gaps that are resolved, outputs that are superseded, attempts that are recorded once
// more. All segments, and then all lines of side logs (ForeseeLine), are shown before
// the first is renamed; what nobody named is forgotten with its segment.
func (r *Renaming) Foresee(events []event.Event) {
	inside := make(map[id.Event]struct{}, len(events))
	for _, e := range events {
		inside[e.ID] = struct{}{}
	}
	cause := func(e id.Event) {
		if _, ok := inside[e]; !ok {
			r.events.foresee(e)
		}
	}
	for _, e := range events {
		switch p := e.Data.(type) {
		case event.AdvanceRecorded:
			r.foreseeAttempt(p.AttemptID)
		case event.EdgeCreated:
			cause(p.Cause.EventID)
		case event.NodeOutputAppended:
			if p.SupersedesOutputID != nil {
				r.outputs.foresee(*p.SupersedesOutputID)
			}
		case event.GapRecorded:
			if p.Resolution.ResolvesGapID != nil {
				r.gaps.foresee(*p.Resolution.ResolvesGapID)
			}
			for _, ref := range p.EvidenceRefs {
				if ref.OutputID != nil {
					r.outputs.foresee(*ref.OutputID)
				}
				if ref.EventID != nil {
					cause(*ref.EventID)
				}
			}
		}
	}
}

// attemptMark is the beginning of an attempt's id. Two that begin alike cost memory and
// nothing else: both are kept.
type attemptMark [8]byte

// foreseeAttempt keeps attempts that are recorded twice: the second takes what became
// of the first.
func (r *Renaming) foreseeAttempt(a id.Attempt) {
	raw := a.Raw()
	mark := attemptMark(raw[:8])
	if _, ok := r.recorded[mark]; ok {
		r.attempts.foresee(a)
	}
	r.recorded[mark] = struct{}{}
}

// ForeseeLine takes note of what a line of a side log names: any text in it that is an
// id may be one of the session. An error says that the line is no event.
func (r *Renaming) ForeseeLine(line []byte) error {
	v, err := lineOf(line)
	if err != nil {
		return err
	}
	rewriteLine(v, r.foreseeText)
	return nil
}

func (r *Renaming) foreseeText(s string) string {
	switch prefixOf(s) {
	case "evt":
		foreseeAs(r.events, s)
	case "attempt":
		foreseeAs(r.attempts, s)
	case "out":
		foreseeAs(r.outputs, s)
	case "gap":
		foreseeAs(r.gaps, s)
	}
	return s
}

func foreseeAs[T named[T], P parsed[T]](b book[T], s string) {
	var old T
	if P(&old).UnmarshalText([]byte(s)) == nil {
		b.foresee(old)
	}
}

// missed takes note of an id that is named and was not foreseen: what became of it may
// be forgotten, and another id must never stand for it.
func (r *Renaming) missed(old string) {
	if r.unforeseen == nil {
		r.unforeseen = fault.New(fault.Invariant, "%s is named, and was not when the log was looked through first", old)
	}
}
