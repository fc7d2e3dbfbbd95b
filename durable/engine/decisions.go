package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/ports"
)

// PendingApproval is whose approvals a step waits for (docs/design.md#decisions).
type PendingApproval struct {
	// Approvers are the roles and principals of which each approval is by one; empty: any person at a
	// terminal.
	Approvers []string `json:"approvers"`
	// Needed is the number of approvals by different people that the step needs, Given the number that
	// counts.
	Needed int `json:"needed"`
	Given  int `json:"given"`
	// GivenBy are the people whose approvals count.
	GivenBy []string `json:"givenBy,omitzero"`
	// ExpiresAtMs is when the first of them ends, in milliseconds since 1970; 0: none ends.
	ExpiresAtMs int64 `json:"expiresAtMs,omitzero"`
	// NotPerformer: the account that handed in the outputs may not decide.
	NotPerformer bool `json:"notPerformer,omitzero"`
}

// PendingApprovalOf returns what a rule still waits for: of several the first that is not met. nil
// for a step that needs no approval.
func PendingApprovalOf(states []decision.State) *PendingApproval {
	if len(states) == 0 {
		return nil
	}
	s := firstUnmet(states)
	out := &PendingApproval{Approvers: append([]string{}, s.Rule.Approvers...), Needed: s.Rule.Needed(),
		Given: len(s.Approvals), ExpiresAtMs: s.ExpiresAtMs(), NotPerformer: s.Rule.NotPerformer}
	if s.Unchanged {
		out.Given, out.ExpiresAtMs = 0, 0
		return out
	}
	for _, a := range s.Approvals {
		out.GivenBy = append(out.GivenBy, a.By)
	}
	return out
}

// firstUnmet returns the first state that is not met, else the first one.
func firstUnmet(states []decision.State) decision.State {
	for _, s := range states {
		if !s.Met() {
			return s
		}
	}
	return states[0]
}

// PendingNow is what a pending step waits for besides the work.
type PendingNow struct {
	Approval *PendingApproval `json:"approval,omitzero"`
	// Wait is the moment until which the step waits.
	Wait *PendingWait `json:"wait,omitzero"`
	// Host is what the HTTP host performs.
	Host *PendingHost `json:"host,omitzero"`
}

// PendingApprovalAt returns whose approvals the step that is pending at a place waits
// for, nil if it needs none or the run takes no attempts.
func (n *Answers) PendingApprovalAt(ctx context.Context, p session.Resolved) (*PendingApproval, error) {
	w, s, err := n.Load(ctx, p)
	if err != nil {
		return nil, err
	}
	a, err := n.approvalAt(ctx, w, p, s)
	if err != nil || p.TakesFacts() != nil {
		return nil, err
	}
	return PendingApprovalOf(a.states), nil
}

// IsApproved reports that the outputs of the pending step are approved as they are.
func (a Answer) IsApproved() bool { return a.approval.given }

// SentBack reports that a person sent the pending step back, and that its outputs are still the same.
func (a Answer) SentBack() bool { return a.approval.unchanged() }

// StillNeeded says in words whose approvals the pending step waits for, "" if it waits for none.
func (a Answer) StillNeeded() string {
	if !a.approval.required || a.approval.given {
		return ""
	}
	return stillNeeded(a.approval.states)
}

// stillNeeded says whose approvals are missing and until when the given ones count.
func stillNeeded(states []decision.State) string {
	s := firstUnmet(states)
	text := "the approval of a person"
	if n := s.Missing(); s.Rule.Needed() > 1 {
		text = fmt.Sprintf("%d more approvals by different people", n)
		if n == 1 {
			text = "1 more approval by another person"
		}
	}
	if len(s.Rule.Approvers) > 0 {
		text += ", each by one of " + strings.Join(s.Rule.Approvers, ", ")
	}
	if s.Rule.NotPerformer {
		text += ", not from the account that handed in the outputs"
	}
	if at := s.ExpiresAtMs(); at > 0 {
		text += "; those given count until " + event.TimeText(at)
	} else if s.Rule.ExpiresAfter != "" {
		text += "; an approval counts for " + s.Rule.ExpiresAfter
	}
	return text
}

// promptApproval returns what the prompt says of the approval of the pending step.
func (a approval) promptApproval(run string) string {
	if !a.required {
		return ""
	}
	more := ""
	if s := firstUnmet(a.states); !a.given && !s.Rule.IsZero() {
		more = stillNeeded(a.states)
	}
	return prompt.Approval(run, a.given, more)
}

// feedback returns the words of the person who sent the step back, for its performer; the zero
// Feedback if it was not.
func (a approval) feedback() prompt.Feedback {
	r := a.sentBack()
	if r == nil {
		return prompt.Feedback{}
	}
	return prompt.Feedback{By: r.By, At: event.TimeText(r.AtMs), Reason: r.Reason, Unchanged: a.unchanged()}
}

// Question returns the question about the content, for a person.
func (a Approvable) Question() ports.ApproveQuestion {
	q := ports.ApproveQuestion{Prompt: a.Step.Prompt, Notes: a.Notes, Results: a.Artifacts, Checks: a.Checks, By: a.Performers, Changes: a.Changes}
	if len(a.Decisions) == 0 {
		return q
	}
	s := firstUnmet(a.Decisions)
	if s.SentBack != nil {
		q.Decided = append(q.Decided, fmt.Sprintf("Sent back by %s at %s: %s", decision.Name(s.SentBack.By), event.TimeText(s.SentBack.AtMs),
			s.SentBack.Reason))
	}
	for _, r := range s.Approvals {
		text := fmt.Sprintf("Approved by %s at %s", decision.Name(r.By), event.TimeText(r.AtMs))
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		q.Decided = append(q.Decided, text)
	}
	for _, r := range s.Expired {
		q.Decided = append(q.Decided, fmt.Sprintf("The approval by %s at %s does not count any more: it counted for %s.", decision.Name(r.By),
			event.TimeText(r.AtMs), s.Rule.ExpiresAfter))
	}
	if !s.Rule.IsZero() {
		q.Needed = "Needed: " + stillNeeded(a.Decisions) + "."
	}
	return q
}
