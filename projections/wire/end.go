package wire

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
)

// close drafts the end of a run that is not complete, and of the node that it is at.
func (s *segment) close(e event.Event) {
	p, ok := e.Data.(event.RunClosed)
	if !ok {
		return
	}
	n, why := s.current, s.free("reason", p.Reason).Value.Text()
	if p.Outcome != event.OutcomeFailed {
		s.cancelNode(e, n, p.Reason)
		by := s.cancelledBy
		if by == "" {
			by = actorText(e.Actor)
		}
		s.after(e, openwop.RunCancelled, nil, payload(s.free("reason", p.Reason), s.free("cancelledBy", by)))
		s.status, s.endedAtMs = openwop.Cancelled, s.timeOf(e)
		return
	}
	failed, at := openwop.RunError{Code: CodeRunFailed, Message: why}, canon.Value{}
	switch {
	case p.Limit != nil:
		failed.Code = CodeRecursionLimit
		breach(s, e, *p.Limit)
	case s.denied != nil && n != nil && n.running():
		failed.Code = CodeApprovalRejected
		if n.open != nil {
			s.resolved(e, n, n.open)
		}
		s.after(e, openwop.NodeFailed, n, payload(word("nodeId", n.id), member("error", errorOf(failed))))
		n.status, n.endedMs, n.open, n.failure = openwop.NodeIsFailed, s.timeOf(e), nil, &failed
	case s.sourceMissing:
		failed.Code = CodeSourceMissing
		if n != nil && n.running() {
			s.after(e, openwop.NodeFailed, n, payload(word("nodeId", n.id), member("error", errorOf(failed))))
			n.status, n.endedMs, n.open, n.failure = openwop.NodeIsFailed, s.timeOf(e), nil, &failed
		}
	case n != nil && n.failure != nil && n.open == nil: // a host step
		failed = *n.failure
	default:
		s.cancelNode(e, n, p.Reason)
	}
	if n != nil && n.status == openwop.NodeIsFailed {
		at = canon.OfString(n.id)
	}
	s.after(e, openwop.RunFailed, nil, payload(member("error", errorOf(failed)), member("failedNodeId", at)))
	s.status, s.endedAtMs, s.failure = openwop.Failed, s.timeOf(e), &failed
}

// cancelNode ends the current node with the run, if it is running.
func (s *segment) cancelNode(e event.Event, n *node, why string) {
	if n != nil && n.running() {
		s.tail = append(s.tail, s.cancel(e, why))
	}
}
