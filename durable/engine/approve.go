package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Decide records what a person decides about the content that was shown
// (docs/design.md#decisions): an approval, a step that is sent back, or the end
// of the run. It is bound to the outputs that the node held then. If the same is
// recorded already, it appends nothing and returns the answer. Of an Approvable that
// has a position alone nothing was shown, and nothing is compared. The run advances
// with the next attempt at the step, not with an approval.
//
// Errors: RUN_WAITING if the actor is not a person, VALIDATION_ERROR if the
// pending step needs no approval or the reason is missing, DECISION_REFUSED if
// the outputs have changed or the person may not decide, which the audit log
// records, PRINCIPALS_UNBOUND, RUN_CLOSED, POLICY_UNCONFIRMED if a person has to
// confirm the settings of the store first (docs/design.md#settings).
func (e *Engine) Decide(ctx context.Context, by Caller, shown Approvable, word event.DecisionWord,
	text string) (Answer, error) {
	defer e.ledger.WritePending(ctx)
	by = by.Approver()
	conf, err := e.settings.ConfirmedAfresh(ctx)
	if err != nil {
		return Answer{}, err
	}
	h := e.TakeHistory(shown.Position.Session)
	p, err := h.OpenStep(ctx, shown.Position)
	if err != nil {
		return Answer{}, err
	}
	at := p.At
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	var found redact.Findings
	text = found.Text("/reason", text)
	inputs := func() (compile.Compiled, advance.Facts, error) { return e.inputs(ctx, p) }
	given, by, err := e.settings.ConsentToDecision(ctx, by, conf, p.Run.Started.Signers, inputs,
		advance.Decision{Word: word, Reason: text})
	if err != nil {
		return Answer{}, err
	}
	recordedComment := text // replaced if an earlier decision is recorded
	appended, err := e.CommitAt(ctx, h, at, func(p session.Resolved) (manifest.Plan, error) {
		if err := p.TakesFacts(); err != nil {
			return manifest.Plan{}, err
		}
		w, facts, err := e.inputs(ctx, p)
		if err != nil {
			return manifest.Plan{}, err
		}
		d := advance.Decision{Word: word, Reason: text, Actor: by.Actor, AtMs: by.AtMs, Seen: shown.digest,
			Left: shown.left, Who: personOf(conf, by, w, facts), Given: given}
		plan, err := advance.DecideStep(w, facts, d)
		// The content is approved already; only the comment can differ.
		if err == nil && len(plan.Events) == 0 && word == event.Approved {
			recordedComment = advance.ApprovalComment(facts.Outputs)
		}
		return plan, err
	})
	if fault.Is(err, fault.DecisionRefused) || fault.Is(err, fault.PrincipalsUnbound) {
		return Answer{}, e.RefuseDecision(ctx, by, at, word, err)
	}
	if err != nil {
		return Answer{}, err
	}
	a, err := e.answerCommitted(ctx, keys, at, h)
	a.Redactions = found.List()
	if err != nil || appended {
		return a, err
	}
	if recordedComment != text {
		a.warnDiffers("This is approved already, with another comment; nothing was stored.")
	}
	return a, h.Confirm(ctx)
}

// RefuseDecision records in the audit log that a decision about a step was
// refused, and returns the refusal. A failure to record it changes nothing.
func (e *Engine) RefuseDecision(ctx context.Context, by Caller, at Position, word event.DecisionWord, refusal error) error {
	action := map[event.DecisionWord]audit.Action{event.Approved: audit.Approve, event.SentBack: audit.SendBack,
		event.Denied: audit.Deny}[word]
	_ = e.ledger.Act(context.WithoutCancel(ctx), by, audit.Act{Action: action,
		Target: audit.Target{Kind: audit.OfRun, ID: at.Run.String()}, Details: map[string]string{"nodeId": at.Node.String()}},
		func() (map[string]string, error) { return nil, refusal })
	return refusal
}

// personOf returns what the settings say of the account of a caller, for the step
// that is pending.
func personOf(conf config.Config, by Caller, w compile.Compiled, f advance.Facts) advance.Person {
	people, party := conf.People(), by.Party()
	who := advance.Person{Account: people.AccountOf(party), PolicyDigest: conf.PolicyDigest()}
	who.Principal, _ = people.Of(party)
	// Of every gate: an attempt can make the condition of another one hold.
	for _, rule := range interpreter.ApprovalRules(w, f.State) {
		who.Roles = append(who.Roles, people.Among(party, rule.Approvers)...)
	}
	slices.Sort(who.Roles)
	who.Roles = slices.Compact(who.Roles)
	return who
}

// approval is how far the approval of a pending step is: a function of the log. The
// zero value is that of a step which needs none.
type approval struct {
	// required reports that the step can only be left with an approval. One that
	// was required once at a node stays so.
	required bool
	given    bool // the node's outputs are approved as they are
	// submitted reports that the outputs are approved, or lack nothing but that: a
	// refused attempt leaves them for a person to approve.
	submitted bool
	// states are what the decisions amount to, one for each rule.
	states []decision.State
}

// approvalAt returns the state of the approval that the pending step needs. Whether
// an approval has expired is judged by the time of the last attempt or decision at
// the node: the answer is a function of the log.
func (n *Answers) approvalAt(ctx context.Context, w compile.Compiled, p session.Resolved,
	s snapshot.State) (a approval, err error) {
	pending := s.PendingStep()
	if pending == nil {
		return a, nil
	}
	awaited := reason.Blocker{Code: reason.NeedsApproval.Blocker(), Pointer: reason.WorkflowStep(pending.StepID)}
	open := slices.ContainsFunc(p.Node.OpenGaps,
		func(g runs.Gap) bool { return g.Matches(reason.NeedsApproval, awaited.Pointer) })
	if !open && p.Node.Approvals == 0 && !interpreter.NeedsApproval(w, s, p.Node.Context) {
		return a, nil
	}
	a.required = true
	facts, err := n.decisionFacts(ctx, p, s)
	if err != nil {
		return a, err
	}
	a.states = advance.Decisions(w, facts, p.Node.LastAtMs)
	a.given = advance.IsApproved(a.states)
	// The blockers of the last attempt count, not the open gaps: a gap that an
	// attempt has filled stays open until an attempt is accepted
	// (docs/design.md#blocked-attempts).
	var blockers []reason.Blocker
	if n := len(p.Node.Attempts); n > 0 && p.Node.Attempts[n-1].Outcome.Kind == event.Blocked {
		blockers = p.Node.Attempts[n-1].Outcome.Blockers.Blockers
	}
	for _, b := range blockers {
		if b.Code != awaited.Code || b.Pointer != awaited.Pointer {
			return a, nil // another requirement is unmet
		}
	}
	// Outputs that were sent back are to be replaced.
	a.submitted = a.given || len(blockers) > 0 && !a.unchanged()
	return a, nil
}

// unchanged reports that the outputs are those that a person sent back.
func (a approval) unchanged() bool {
	return slices.ContainsFunc(a.states, func(s decision.State) bool { return s.Unchanged })
}

// sentBack returns the decision that sent the step back, if no person approved it since.
func (a approval) sentBack() *decision.Record {
	for _, s := range a.states {
		if s.SentBack != nil {
			return s.SentBack
		}
	}
	return nil
}

// decisionFacts returns the facts about the decisions at a node. Only their artifacts are
// read; of other outputs the digests suffice.
func (n *Answers) decisionFacts(ctx context.Context, p session.Resolved, s snapshot.State) (f advance.Facts, err error) {
	current, err := n.countedOutputs(ctx, p)
	if err != nil {
		return f, err
	}
	f = advance.Facts{State: s, SnapshotRef: p.Node.SnapshotRef, Context: p.Node.Context, Approvals: int(p.Node.Approvals),
		Performers: performersOf(p.Node, current)}
	for _, o := range current {
		out := advance.Output{ID: o.ID, Payload: o.Payload, Decision: o.Decision}
		if o.IsDecision() {
			out.JSON, err = n.Artifact(ctx, o.Payload.SHA256)
			if err != nil && !fault.Is(err, fault.ArtifactErased) { // an erased one approves nothing
				return f, err
			}
		}
		f.Outputs = append(f.Outputs, out)
	}
	return f, nil
}
