package rewrite

import (
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

func (r *Redaction) event(e event.Event) (event.Event, error) {
	if e.Foreign() {
		return r.foreign(e)
	}
	e.Actor.Ref = r.text(e.Actor.Ref, limits.ActorRefMax)
	data, err := r.payload(e)
	if err != nil {
		return e, err
	}
	was, isObservation := e.Data.(event.ObservationRecorded)
	e.Data = data
	if isObservation && data != was { // its key holds the digest of its value
		is := id.EventOf(e.Owner, e.DedupeKey())
		r.events[e.ID] = is
		e.ID = is
	}
	return e, nil
}

// text is s without its secrets, cut where markers made it longer than it may be.
func (r *Redaction) text(s string, most int) string {
	return reason.Clip(redact.Text(s, r.counts), most)
}

// payload redacts every text that somebody brought. What is not listed holds ids,
// digests and words of closed sets alone.
func (r *Redaction) payload(e event.Event) (event.Payload, error) {
	switch p := e.Data.(type) {
	case event.RunStarted:
		p.Title = r.text(p.Title, limits.TitleBytesMax)
		p.Tags = slices.Clone(p.Tags)
		for i := range p.Tags {
			p.Tags[i] = r.text(p.Tags[i], limits.TagBytesMax)
		}
		return p, nil
	case event.AdvanceRecorded:
		return r.advance(p), nil
	case event.ContextSet:
		p.Context = r.context(p.Context)
		return p, nil
	case event.NodeOutputAppended:
		return r.output(p)
	case event.GapRecorded:
		p.Summary = r.text(p.Summary, limits.SummaryBytesMax)
		return r.evidence(p), nil
	case event.EdgeCreated:
		p.Cause.EventID = r.eventOf(p.Cause.EventID)
		return p, nil
	case event.DecisionTraceAppended:
		return r.trace(p), nil
	case event.DivergenceRecorded:
		p.Summary = r.text(p.Summary, limits.SummaryBytesMax)
		return p, nil
	case event.ObservationRecorded:
		return r.observation(e, p), nil
	case event.RunCancelRequested:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	case event.RunClosed:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	}
	return e.Data, nil
}

func (r *Redaction) advance(p event.AdvanceRecorded) event.AdvanceRecorded {
	if p.Outcome.Blockers == nil {
		return p
	}
	report := reason.Report{Blockers: slices.Clone(p.Outcome.Blockers.Blockers)}
	for i := range report.Blockers {
		b := &report.Blockers[i]
		b.Message = r.text(b.Message, limits.MessageBytesMax)
		b.SuggestedFix = r.text(b.SuggestedFix, limits.SuggestedFixBytesMax)
	}
	p.Outcome.Blockers = &report
	return p
}

// context: one whose markers take more room than there is loses the members that had
// something to hide.
func (r *Redaction) context(v canon.Value) canon.Value {
	out := redact.Value(v, r.counts)
	if event.CheckContext(out) == nil {
		return out
	}
	var kept []canon.Member
	for i := range v.Len() {
		if now, ok := out.Get(v.Key(i)); ok && now.Equal(v.Item(i)) {
			kept = append(kept, canon.Member{Name: v.Key(i), Value: now})
		}
	}
	return canon.OfMembers(kept...)
}

func (r *Redaction) output(p event.NodeOutputAppended) (event.Payload, error) {
	was := p.Payload
	if was.PayloadKind == event.Notes {
		notes := reason.Truncate(redact.Text(was.NotesMarkdown, r.counts), limits.NotesBytesMax)
		if notes != was.NotesMarkdown {
			r.followTo(canon.Sum([]byte(was.NotesMarkdown)), canon.Sum([]byte(notes)))
		}
		p.Payload.NotesMarkdown = notes
		return p, nil
	}
	a, changed, err := r.artifact(was.SHA256, was.ContentType)
	if err != nil || !changed {
		return p, err
	}
	r.dirty = true
	p.Payload.SHA256, p.Payload.ByteLength = a.is, a.bytes
	p.Payload.ArtifactKind = redact.Text(was.ArtifactKind, nil) // as in the artifact, where it was counted
	return p, nil
}

func (r *Redaction) evidence(p event.GapRecorded) event.GapRecorded {
	p.EvidenceRefs = slices.Clone(p.EvidenceRefs)
	for i, ref := range p.EvidenceRefs {
		if ref.EventID != nil {
			is := r.eventOf(*ref.EventID)
			p.EvidenceRefs[i].EventID = &is
		}
	}
	return p
}

func (r *Redaction) eventOf(old id.Event) id.Event {
	if is, ok := r.events[old]; ok {
		return is
	}
	return old
}

func (r *Redaction) trace(p event.DecisionTraceAppended) event.DecisionTraceAppended {
	entries := slices.Clone(p.Entries)
	changed := false
	for i := range entries {
		was := entries[i].Summary
		entries[i].Summary = redact.Text(was, r.counts)
		changed = changed || entries[i].Summary != was
	}
	if !changed {
		return p
	}
	return event.NewTrace(p.TraceID, entries)
}

// observation: the key of one holds the digest of its value, and stands once in a log.
// Values that were told apart by their secrets alone get a number.
func (r *Redaction) observation(e event.Event, p event.ObservationRecorded) event.ObservationRecorded {
	most := map[string]int{"short_string": limits.ShortStringMax, "path": limits.PathMax}[p.Value.Type]
	if most == 0 {
		return p // a digest
	}
	value := r.text(p.Value.Value, most)
	p.Value.Value = value
	for n := 2; r.observed[p.DedupeKey(e.Owner, e.Scope)]; n++ {
		nth := " (" + strconv.Itoa(n) + ")"
		p.Value.Value = reason.Clip(value, most-len(nth)) + nth
	}
	r.observed[p.DedupeKey(e.Owner, e.Scope)] = true
	return p
}
