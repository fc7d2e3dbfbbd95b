package wire

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/host"
	rules "github.com/waybill/waybill/durable/run/interrupt"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// Codes of errors in payloads and snapshots.
const (
	CodeStepFailed       = "step_failed"           // a command failed; a host step has its own code
	CodeApprovalRejected = "approval_rejected"     // a person denied a step
	CodeTimeout          = "interrupt_timeout"     // a gate of the host had no answer in time
	CodeRunFailed        = "run_failed"            // the run was ended as failed
	CodeSourceMissing    = "replay_source_missing" // the source of a replay has no input for the step
	// CodeRecursionLimit: the run reached the limit of steps that it was started with.
	CodeRecursionLimit = "recursion_limit_exceeded"
)

// resolvedMax bounds the resolved requests that a node keeps: an older one has no answer to be repeated.
const resolvedMax = 4

// interrupt is a request that is not resolved.
type interrupt struct {
	kind openwop.InterruptKind
	id   string
	// asked are the context keys that a clarification asks for.
	asked []string
	// received reports that an approval was accepted since the request.
	received bool

	questions []rules.Question
	gate      *hoststep.Step   // of the host, nil for any other request
	human     bool             // a person has to approve
	data      canon.Value      // what is requested, without secrets
	at        id.Node          // where the run is suspended
	atMs      int64            // of the request
	votes     []event.Response // the answers to a gate
}

// begin notes an attempt, which is the first event of its segment. An attempt at another node than the
// current one takes the run there, unless it is refused at a node that the run left before.
func (s *segment) begin(e event.Event, p event.AdvanceRecorded) {
	at := s.nodes[e.Scope.NodeID]
	if s.attempt != nil || at == nil || at.state == nil || s.started == nil {
		return
	}
	s.attempt, s.outcome, s.response = &e, &p.Outcome, p.Response
	if at == s.current || !s.accepted() && at.left {
		return
	}
	if s.current != nil && s.current.running() {
		s.head = append(s.head, s.cancel(e, "the run continues at another node"))
	}
	s.head = append(s.head, s.enter(e, at))
}

// accepted reports that the attempt of the segment completes its step.
func (s *segment) accepted() bool {
	to := s.outcome.ToNodeID
	return s.outcome.Kind == event.Advanced && (to == nil || !s.resumesBlocked[*to])
}

// running reports a node that has started and has no end.
func (n *node) running() bool {
	return n.status == openwop.NodeIsRunning || n.status == openwop.NodeIsSuspended
}

// enter makes a node the current one, and returns the draft of its start.
func (s *segment) enter(e event.Event, n *node) draft {
	s.current, n.left = n, false
	n.status, n.open, n.failure = openwop.NodeIsRunning, nil, nil
	n.startedMs, n.endedMs, n.state.at = s.timeOf(e), 0, n.self
	n.starts++
	return draft{kind: openwop.NodeStarted, node: n.id, payload: payload(word("nodeId", n.id), word("typeId", n.typeID()),
		member("attempt", canon.OfInt(n.starts))), from: e, reached: n.self}
}

// cancel ends the current node without a result, and returns the draft.
func (s *segment) cancel(e event.Event, why string) draft {
	n := s.current
	n.status, n.endedMs, n.open = openwop.NodeIsCancelled, s.timeOf(e), nil
	return draft{kind: openwop.NodeCancelled, node: n.id, payload: payload(word("nodeId", n.id), s.free("reason", why)), from: e}
}

// decide drafts what came of the attempt of the segment.
func (s *segment) decide() error {
	e, n := *s.attempt, s.nodes[s.attempt.Scope.NodeID]
	n.attempts++
	n.tries++
	if !s.accepted() {
		return s.refuse(e, n)
	}
	s.answer(e, n)
	s.resolve(e, n)
	s.retried(e, n)
	var outputs canon.Value
	if s.given.Len() > 0 {
		outputs = s.given
	}
	s.after(e, openwop.NodeCompleted, n, payload(word("nodeId", n.id), member("outputs", outputs)))
	n.status, n.endedMs, n.left, n.failure = openwop.NodeIsCompleted, s.timeOf(e), true, nil
	return nil
}

// retried drafts a further try of a step that failed before.
func (s *segment) retried(e event.Event, n *node) {
	if n.failure == nil {
		return
	}
	s.after(e, openwop.NodeRetried, n, payload(word("nodeId", n.id), member("attempt", canon.OfInt(n.attempts)),
		member("lastError", errorOf(*n.failure))))
}

// refuse drafts a refused attempt: the failure of a step that a performer carried out, a request for what
// is missing, or, where the same is requested already, the attempt alone.
func (s *segment) refuse(e event.Event, n *node) error {
	if n != s.current && (s.current == nil || s.current.state != n.state) { // at a node that the run left before
		s.after(e, openwop.VendorType("attempt_blocked"), n, s.blocked(n))
		return nil
	}
	s.answer(e, n)
	if failed := failureOf(s, n); failed != nil {
		s.resolve(e, n)
		s.retried(e, n)
		s.after(e, openwop.NodeFailed, n, payload(word("nodeId", n.id), member("error", errorOf(*failed)),
			member("attempts", canon.OfInt(n.attempts))))
		n.status, n.endedMs, n.failure = openwop.NodeIsFailed, s.timeOf(e), failed
		if s.results.host { // the host ends the run
			return nil
		}
	}
	want, err := wantedBy(s, n)
	if err != nil {
		return err
	}
	if n.open != nil && n.open.kind == want.kind && slices.Equal(n.open.asked, want.asked()) {
		s.after(e, openwop.VendorType("attempt_blocked"), n, s.blocked(n))
		return nil
	}
	s.resolve(e, n) // what a failed step was suspended for is resolved already
	s.request(e, n, want)
	return nil
}

// blockers are those of the refused attempt; none for another program's.
func (s *segment) blockers() []reason.Blocker {
	if s.outcome.Blockers == nil {
		return nil
	}
	return s.outcome.Blockers.Blockers
}

// blocked is the payload of a refused attempt.
func (s *segment) blocked(n *node) canon.Value {
	items := []canon.Value{}
	for _, b := range s.blockers() {
		var pointer canon.Value
		if v, err := canon.ValueOf(b.Pointer); err == nil {
			pointer = redacted(v)
		}
		items = append(items, payload(word("code", b.Code), member("pointer", pointer), s.free("message", b.Message)))
	}
	return payload(word("nodeId", n.id), member("attempt", canon.OfInt(n.attempts)),
		member("blockers", canon.OfList(items...)))
}

// failureOf returns the error of a step whose performed result was refused, nil for any other attempt.
func failureOf(s *segment, n *node) *openwop.RunError {
	if !s.results.command && !s.results.host {
		return nil
	}
	for _, b := range s.blockers() {
		if b.Code == reason.BlockerInvalidOutput && b.Pointer.Kind == reason.AtWorkflowStep && b.Check == nil &&
			b.Pointer.StepID == n.step {
			code := failureCode(s, n)
			if s.results.host && code == CodeStepFailed {
				code = cmp.Or(host.FailedCode(n.step, b.Message), code)
			}
			return &openwop.RunError{Code: code, Message: s.free("", b.Message).Value.Text()}
		}
	}
	return nil
}

// failureCode is the code of a step whose performed result was refused.
func failureCode(s *segment, n *node) string {
	switch {
	case n.host == nil || s.response == nil:
		return CodeStepFailed
	case s.response.Action == event.RespondTimeout:
		return CodeTimeout
	}
	return CodeApprovalRejected
}

// answer drafts an answer to an approval gate of the host, also one that others have to join.
func (s *segment) answer(e event.Event, n *node) {
	open := n.open
	if s.response == nil || open == nil || open.gate == nil {
		return
	}
	open.votes = append(open.votes, *s.response)
	if open.kind != openwop.ApprovalInterrupt {
		return
	}
	by := s.free("decidedBy", s.response.By)
	s.after(e, openwop.ApprovalReceived, n, payload(word("nodeId", n.id), word("action", s.response.Action), by))
	if s.response.Action == event.RespondAccept {
		progress := payload(member("granted", canon.OfInt(host.TallyOf(open.votes).Granted)),
			member("required", canon.OfInt(open.gate.ApprovalOf().Required)))
		s.after(e, openwop.ApprovalGranted, n, payload(word("gateId", n.id), member("principal", by.Value),
			member("quorumProgress", progress)))
	}
}

// errorOf is an error in a payload.
func errorOf(e openwop.RunError) canon.Value {
	return payload(word("code", e.Code), word("message", e.Message))
}

// resolve drafts the end of what the node is suspended for, if it is.
func (s *segment) resolve(e event.Event, n *node) {
	open := n.open
	if open == nil {
		return
	}
	switch open.kind {
	case openwop.ClarificationInterrupt:
		answers := canon.OfMembers()
		for _, key := range open.asked {
			if v, ok := s.given.Get(key); ok {
				answers = answers.With(key, v)
			}
		}
		by := actorText(e.Actor)
		if s.response != nil {
			by = cmp.Or(s.response.By, by)
		}
		s.after(e, openwop.ClarificationResolved, n, payload(word("nodeId", n.id), member("answers", answers),
			s.free("answeredBy", by)))
	case openwop.ApprovalInterrupt:
		if open.gate == nil && !open.received && s.accepted() {
			s.after(e, openwop.ApprovalReceived, n, payload(word("nodeId", n.id), word("action", "accept"),
				s.free("decidedBy", actorText(e.Actor))))
		}
		s.resolved(e, n, open)
	default:
		s.resolved(e, n, open)
	}
	s.after(e, openwop.NodeResumed, n, payload(word("nodeId", n.id), word("interruptId", open.id)))
	n.resolved = append(n.resolved[max(0, len(n.resolved)-resolvedMax+1):], Resolution{Interrupt: n.interrupt(), Given: s.given, Accepted: s.accepted(),
		Attempt: attemptOf(e)})
	n.open, n.status = nil, openwop.NodeIsRunning
}

// attemptOf is the id of the attempt that an event records.
func attemptOf(e event.Event) (out id.Attempt) {
	if p, ok := e.Data.(event.AdvanceRecorded); ok {
		out = p.AttemptID
	}
	return out
}

// resolved drafts the resolution of an interrupt.
func (s *segment) resolved(e event.Event, n *node, open *interrupt) {
	s.after(e, openwop.InterruptResolved, n, payload(word("nodeId", n.id), word("interruptId", open.id),
		word("kind", open.kind)))
}

// interruptID identifies a request within the run: the node, and how many requests it had.
func interruptID(n *node) string { return n.id + ":" + strconv.FormatInt(n.interrupts, 10) }
