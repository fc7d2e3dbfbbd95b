package wire

import (
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/period"
)

// inherited is what a run has from the run events of its source.
type inherited struct {
	startedAtMs int64
	// variables are the values that they report, by name.
	variables map[string]canon.Value
	// at is the node that started last, "" for none; arrived are its run events so far, while these are its start and what
	// it requests on arrival, and none behind them.
	at      string
	arrived []openwop.RunEvent
	// requests counts the suspensions among those.
	requests int64
	// pause is the type that ends the pause in which they leave the run, "" for none: a fork is not paused.
	pause openwop.EventType
}

// Types about a pause that is in force behind the next attempt.
var pauseRequested, pauseWithdrawn = openwop.VendorType("pause_requested"), openwop.VendorType("pause_withdrawn")

// pauses reports a type about a pause, and sets the type that ends it.
func (in *inherited) pauses(t openwop.EventType) bool {
	switch t {
	case openwop.RunPaused:
		in.pause = openwop.RunResumed
	case pauseRequested:
		in.pause = pauseWithdrawn
	case openwop.RunResumed, pauseWithdrawn:
		in.pause = ""
	default:
		return false
	}
	return true
}

// Inherit adds a run event of the source of a fork, in the order of their sequences and before the first segment of the
// fork is visited. It returns the event as one of the fork: with an id of its own, which the source's event causes.
func (l *Log) Inherit(session id.Session, e openwop.RunEvent) openwop.RunEvent {
	atMs, _ := period.ParseInstant(e.Timestamp) // 0 for one of another program
	was := e.EventID
	e.CausationID, e.RunID, e.Sequence = was, l.run.String(), l.next
	e.EventID = id.EventOf(session.String(), "run_event:"+l.run.String()+":"+strconv.FormatInt(l.next, 10)+":"+was).String()
	l.next++
	in := &l.inherited
	if in.pauses(e.Type) {
		return e
	}
	if e.Type != openwop.NodeStarted && !arrives(e.Type) || e.NodeID != in.at && e.Type != openwop.NodeStarted {
		in.arrived = nil
	} else if len(in.arrived) > 0 {
		in.arrived = append(in.arrived, e)
	}
	switch e.Type {
	case openwop.RunStarted:
		in.startedAtMs = atMs
	case openwop.VariableChanged:
		name, _ := e.Payload.Get("name")
		next, _ := e.Payload.Get("next")
		in.variables[name.Text()] = next
	}
	if e.NodeID != "" {
		l.inheritNode(e, atMs)
	}
	return e
}

// arrives reports a type of what a node requests on arrival.
func arrives(t openwop.EventType) bool {
	return t == openwop.ApprovalRequested || t == openwop.ClarificationRequested || t == openwop.InterruptRequested ||
		t == openwop.NodeSuspended
}

// inheritNode applies a run event of a node to what clients know about it.
func (l *Log) inheritNode(e openwop.RunEvent, atMs int64) {
	st := l.states[e.NodeID]
	if st == nil {
		st = &state{id: e.NodeID}
		l.states[e.NodeID] = st
	}
	end := func(s openwop.NodeStatus) { st.status, st.endedMs = s, atMs }
	switch e.Type {
	case openwop.NodeStarted:
		l.inherited.at, l.inherited.arrived, l.inherited.requests = e.NodeID, []openwop.RunEvent{e}, 0
		st.status, st.startedMs, st.endedMs, st.failure = openwop.NodeIsRunning, atMs, 0, nil
		st.starts++
	case openwop.NodeSuspended:
		st.interrupts++
		l.inherited.requests++
		st.status, st.endedMs = openwop.NodeIsSuspended, 0
	case openwop.NodeResumed:
		st.status, st.endedMs = openwop.NodeIsRunning, 0
	case openwop.NodeCompleted:
		st.attempts++
		st.failure = nil
		end(openwop.NodeIsCompleted)
	case openwop.NodeFailed:
		st.failure = errorIn(e.Payload)
		st.attempts = max(st.attempts, numberIn(e.Payload, "attempts"))
		end(openwop.NodeIsFailed)
	case openwop.NodeCancelled:
		end(openwop.NodeIsCancelled)
	case openwop.VendorType("attempt_blocked"):
		st.attempts = max(st.attempts, numberIn(e.Payload, "attempt"))
	}
}

// errorIn is the error of a payload.
func errorIn(p canon.Value) *openwop.RunError {
	of, _ := p.Get("error")
	code, _ := of.Get("code")
	message, _ := of.Get("message")
	return &openwop.RunError{Code: code.Text(), Message: message.Text()}
}

// numberIn is a count in a payload, 0 without one.
func numberIn(p canon.Value, name string) int64 {
	v, _ := p.Get(name)
	return int64(v.Float())
}

// changed are the facts of the segment that begins a fork: a change of each variable that is not as the inherited events
// left it. The others are copies of what the source has.
func (s *segment) changed() []draft {
	var from event.Event
	next := canon.OfMembers()
	for _, d := range s.facts {
		if d.kind == openwop.VariableChanged {
			name, _ := d.payload.Get("name")
			value, _ := d.payload.Get("next")
			from, next = d.from, next.With(name.Text(), value)
		}
	}
	var out []draft
	change := func(name string, to canon.Value) {
		out = append(out, draft{kind: openwop.VariableChanged, from: from,
			payload: canon.OfMembers(word("name", name), member("next", to))})
	}
	names := make([]string, 0, len(s.inherited.variables)+next.Len())
	for name := range s.inherited.variables {
		names = append(names, name)
	}
	for i := range next.Len() {
		names = append(names, next.Key(i))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		now, _ := next.Get(name)
		if was := s.inherited.variables[name]; !now.Equal(was) {
			change(name, now)
		}
	}
	if from.Data == nil && len(s.created) > 0 { // without a context: the removals follow from the arrival
		for i := range out {
			out[i].from = s.created[0].from
		}
	}
	return out
}

// resumed reports that a fork arrives at its first node as the inherited events end: with the start of the node, and what
// it requests, of which those that are inherited are not sent again. Else nothing is drafted but the end of the node at
// which they leave the run, since it goes back. enter drafts the arrival.
func (s *segment) resumed(a arrival, enter func()) bool {
	in, now := s.inherited, s.states[s.inherited.at]
	if in.at == a.node.state.id && len(in.arrived) > 0 {
		was := *a.node.state
		a.node.state.starts--
		a.node.state.interrupts -= in.requests
		enter()
		if len(s.tail) >= len(in.arrived) && slices.EqualFunc(s.tail[:len(in.arrived)], in.arrived, sameDraft) {
			s.skipped = len(in.arrived)
			s.places = append(s.places, place{s.next, a.self, false})
			return true
		}
		*a.node.state, s.tail, s.current = was, nil, nil
	}
	if now != nil && (now.status == openwop.NodeIsRunning || now.status == openwop.NodeIsSuspended) {
		s.current = &node{state: now}
		s.tail = append(s.tail, s.cancel(a.from, "the run was forked at an earlier place"))
	}
	return false
}

// sameDraft reports that a draft is an inherited run event.
func sameDraft(d draft, e openwop.RunEvent) bool {
	return d.kind == e.Type && d.payload.Equal(e.Payload)
}

// diverge reads a divergence: what an agent reports, or where a replay departs.
func (s *segment) diverge(e event.Event, p event.DivergenceRecorded, at *node) {
	switch {
	case p.Replay == nil:
		s.vendor(e, p, at)
	case p.Reason == event.ReplaySourceMissing:
		s.sourceMissing = true
	default:
		source := ""
		if s.started != nil && s.started.ForkedFrom != nil {
			source = s.started.ForkedFrom.RunID.String()
		}
		original := canon.Value{}
		if p.Replay.OriginalEventID != "" {
			original = canon.OfString(p.Replay.OriginalEventID)
		}
		s.departedAt = p.Replay.Sequence
		s.departed = &draft{kind: openwop.ReplayDiverged, from: e, payload: payload(word("sourceRunId", source),
			member("atSequence", canon.OfInt(p.Replay.Sequence)), member("originalEventId", original),
			word("divergenceKind", p.Replay.Kind))}
	}
}

// Place returns the node at which the run is before a run event, in its own session: the last one whose start is not
// behind it, the first node for an event before all of them. complete reports that the run has no step there. ok is
// false for a sequence that the run inherits, and before its first node.
func (l *Log) Place(sequence int64) (at id.Node, complete, ok bool) {
	for _, p := range l.places {
		if !ok || p.sequence <= sequence {
			at, complete, ok = p.node, p.complete, true
		}
	}
	return at, complete, ok
}

// FirstOwn is the sequence of the first run event that the run does not inherit.
func (l *Log) FirstOwn() int64 { return l.firstOwn }
