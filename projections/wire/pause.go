package wire

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// policyOf is how a pause treats the current step.
func policyOf(p event.RunPaused) openwop.DrainPolicy {
	if p.Drain {
		return openwop.DrainCurrentNode
	}
	return openwop.Immediate
}

// pause drafts a pause, or the request of one that is in force behind the next attempt.
func (s *segment) pause(e event.Event, p event.RunPaused) {
	if !p.Drain {
		hold(s, e, p)
		return
	}
	s.draining = &event.RunPaused{Drain: true, N: p.N, Reason: strings.Clone(p.Reason)} // not the memory of the line
	s.after(e, pauseRequested, nil, pausePayload(s, p))
}

// hold drafts the beginning of a pause.
func hold(s *segment, e event.Event, p event.RunPaused) {
	s.draining, s.paused = nil, true
	s.after(e, openwop.RunPaused, nil, pausePayload(s, p))
}

func pausePayload(s *segment, p event.RunPaused) canon.Value {
	return payload(s.free("reason", p.Reason), word("drainPolicy", policyOf(p)))
}

// resume drafts the end of a pause, or the withdrawal of its request.
func (s *segment) resume(e event.Event, p event.RunResumed) {
	kind := openwop.RunResumed
	if !s.paused {
		kind = pauseWithdrawn
	}
	s.draining, s.paused = nil, false
	s.after(e, kind, nil, payload(s.free("reason", p.Reason)))
}

// limit is the limit at which the run ends in the segment, nil without one.
func (s *segment) limit() *event.LimitReached {
	if s.closed == nil {
		return nil
	}
	p, _ := s.closed.Data.(event.RunClosed)
	return p.Limit
}

// breach drafts that the run reached a limit.
func breach(s *segment, e event.Event, l event.LimitReached) {
	members := []any{"kind", canon.OfString(l.Kind), "limit", canon.OfInt(l.Limit), "observed", canon.OfInt(l.Observed)}
	if s.beyond != nil {
		members = append(members, "nodeId", canon.OfString(s.beyond.id))
	}
	s.after(e, openwop.CapBreached, nil, object(members...))
}
