package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// event redacts one event. Its id changes only if its dedupeKey contains the digest of a
// redacted value.
func (r *Redaction) event(e event.Event) (event.Event, error) {
	if e.Foreign() {
		return r.foreign(e)
	}
	e.Actor.Ref = r.text(e.Actor.Ref, limits.ActorRefMax)
	data, err := r.payload(e)
	if err != nil {
		return e, err
	}
	before, isObservation := e.Data.(event.ObservationRecorded)
	e.Data = references{event: r.eventOf}.in(data)
	if isObservation && data != before { // the dedupeKey contains the digest of the value
		newID := id.EventOf(e.Owner, e.DedupeKey())
		r.events[e.ID] = newID
		e.ID = newID
	}
	return e, nil
}

// text redacts s and truncates it to most bytes, since a marker may be longer than the
// secret.
func (r *Redaction) text(s string, most int) string {
	return reason.Clip(redact.Text(s, r.counts), most)
}

// payload redacts every text in a payload that came from a caller. Kinds that are not listed
// contain only ids, digests and words of closed sets.
func (r *Redaction) payload(e event.Event) (event.Payload, error) {
	switch p := e.Data.(type) {
	case event.RunStarted:
		p.Goal = r.text(p.Goal, limits.GoalBytesMax)
		p.Title = r.text(p.Title, limits.TitleBytesMax)
		p.Tags = slices.Clone(p.Tags)
		for i := range p.Tags {
			p.Tags[i] = r.text(p.Tags[i], limits.TagBytesMax)
		}
		p.Warnings = r.warnings(p.Warnings)
		if p.Options != nil {
			o := *p.Options
			o.Configurable, o.Metadata = r.option(o.Configurable), r.option(o.Metadata)
			p.Options = &o
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
		return p, nil
	case event.DecisionTraceAppended:
		return r.trace(p), nil
	case event.DivergenceRecorded:
		p.Summary = r.text(p.Summary, limits.SummaryBytesMax)
		return p, nil
	case event.ObservationRecorded:
		return r.observation(e, p), nil
	case event.RunEventRecorded:
		p.NodeID, p.CausationID = r.text(p.NodeID, limits.RunEventIDBytesMax), r.text(p.CausationID, limits.RunEventIDBytesMax)
		p.Payload = redact.Value(p.Payload, r.counts)
		return p, nil
	case event.SessionHandedOver:
		p.To = r.text(p.To, limits.ActorRefMax)
		return p, nil
	case event.RunCancelRequested:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	case event.RunPaused:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	case event.RunResumed:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	case event.RunClosed:
		p.Reason = r.text(p.Reason, limits.SummaryBytesMax)
		return p, nil
	}
	return e.Data, nil
}

// warnings redacts the values of loose matches, which quote the context, as the context is: by
// the name of the variable too.
func (r *Redaction) warnings(list []event.DecisionWarning) (out []event.DecisionWarning) {
	for _, w := range list {
		if w.Code == event.OutputUndeclared {
			out = event.AddWarnings(out, event.Undeclared(r.text(w.Path, limits.WarningValueBytesMax)))
			continue
		}
		name := w.Path[strings.LastIndexByte(w.Path, '.')+1:]
		value := func(v canon.Value) canon.Value {
			return redact.Value(canon.OfMembers(canon.Member{Name: name, Value: v}), r.counts).Item(0)
		}
		// Two may become equal.
		out = event.AddWarnings(out,
			event.LooseMatch(r.text(w.Path, limits.WarningValueBytesMax), value(w.Expected), value(w.Got)))
	}
	return out
}

// advance redacts the warnings of an attempt, and the blockers of a refused one, which quote the
// caller.
func (r *Redaction) advance(p event.AdvanceRecorded) event.AdvanceRecorded {
	p.Warnings = r.warnings(p.Warnings)
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

// context redacts a context. If the result exceeds its budget, the members that were redacted
// are removed.
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

// option redacts an object of the options of a run. One that the markers make too large is left out.
func (r *Redaction) option(v canon.Value) canon.Value {
	if v.IsNull() {
		return v
	}
	out := redact.Value(v, r.counts)
	if b, err := out.AppendJCS(nil); err != nil || len(b) > limits.RunOptionsBytesMax/2 && !out.Equal(v) {
		return canon.OfMembers()
	}
	return out
}

// output redacts an output: notes in place, artifacts by reference to the redacted artifact.
func (r *Redaction) output(p event.NodeOutputAppended) (event.Payload, error) {
	before := p.Payload
	if before.PayloadKind == event.Notes {
		notes, err := r.notes(before.NotesMarkdown)
		if err != nil {
			return p, err
		}
		if notes != before.NotesMarkdown {
			// Approvals are bound to the digest of the notes.
			r.followTo(canon.Sum([]byte(before.NotesMarkdown)), canon.Sum([]byte(notes)))
		}
		p.Payload.NotesMarkdown = notes
		return p, nil
	}
	if p.Decision != nil { // counted in the artifact
		d := *p.Decision
		d.By = reason.Clip(redact.Text(d.By, nil), limits.ActorRefMax)
		d.Reason = reason.Clip(redact.Text(d.Reason, nil), limits.DecisionReasonBytesMax)
		r.dirty = r.dirty || d != *p.Decision
		p.Decision = &d
	}
	a, changed, err := r.artifact(before.SHA256, before.ContentType)
	if err != nil || !changed {
		return p, err
	}
	r.dirty = true
	p.Payload.SHA256, p.Payload.ByteLength = a.ref, a.bytes
	p.Payload.ArtifactKind = redact.Text(before.ArtifactKind, nil) // counted in the artifact already
	return p, nil
}

// notes returns redacted notes as a recap holds them. A secret that was cut at the end of long notes
// is recognized in their whole text only.
func (r *Redaction) notes(recap string) (string, error) {
	text := redact.Text(recap, r.counts)
	if !r.whole.IsZero() {
		_, changed, err := r.artifact(r.whole, event.FullNotesType)
		if err == nil && changed {
			var whole []byte
			_, whole, _, err = r.Artifact(r.whole)
			text = string(whole)
		}
		if err != nil {
			return "", err
		}
	}
	return reason.Truncate(text, limits.NotesBytesMax), nil
}

// eventOf returns the new id of an event, the old one if it did not change.
func (r *Redaction) eventOf(old id.Event) id.Event {
	if newID, ok := r.events[old]; ok {
		return newID
	}
	return old
}

// trace redacts the summaries of a decision trace, and splits nothing: NewTrace bounds them
// again.
func (r *Redaction) trace(p event.DecisionTraceAppended) event.DecisionTraceAppended {
	entries := slices.Clone(p.Entries)
	changed := false
	for i := range entries {
		before := entries[i].Summary
		entries[i].Summary = redact.Text(before, r.counts)
		changed = changed || entries[i].Summary != before
	}
	if !changed {
		return p
	}
	return event.NewTrace(p.TraceID, entries)
}

// observation redacts an observation. Its dedupeKey contains the digest of the value and must
// be unique in a log, so values that differed only in their secrets get a number.
func (r *Redaction) observation(e event.Event, p event.ObservationRecorded) event.ObservationRecorded {
	most := map[string]int{"short_string": limits.ShortStringMax, "path": limits.PathMax}[p.Value.Type]
	if most == 0 {
		return p // digests contain no secrets
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
