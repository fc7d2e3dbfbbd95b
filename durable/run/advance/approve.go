package advance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Decision is what a person decides about the outputs of a human_approval step at a node
// (docs/design.md#decisions).
type Decision struct {
	Word   event.DecisionWord
	Reason string // required to send back and to deny; the comment of an approval
	Actor  event.Actor
	AtMs   int64 // clock reading in milliseconds since 1970
	// Seen is the approval digest of what the person was shown. Zero: nothing was shown, and
	// the state at the time of recording is decided about.
	Seen canon.Digest
	// Left reports that the run had continued from the node when it was shown.
	Left bool
	Who  Person
	// Given is the person's signature over DecisionSubject, where the settings require one.
	Given consent.Given
	// ApprovalOnly leaves out the artifact of the decision, as versions did that had none. For
	// re-execution of their logs.
	ApprovalOnly bool
	// DecisionFirst is whether the artifact of the decision was recorded before that of the approval,
	// nil for the order of their digests. For re-execution: a redaction changes digests and no order.
	DecisionFirst *bool
}

// Person is what is known of the person who decides, by the account of the process and the settings.
type Person struct {
	Account config.Account
	// Principal is the one that the account is bound to, "" if it is not bound to one.
	Principal string
	// Roles are the names that the account holds among those that the step names as approvers, sorted.
	Roles        []string
	PolicyDigest canon.Digest
}

// name is the name of the person in the record.
func (d Decision) name() string { return cmp.Or(d.Who.Principal, d.Actor.Ref, string(event.Human)) }

// ApprovalDigest returns the digest of what a decision at a node would be bound to. It changes with
// the pending step and with every output, and is zero if no step is pending.
func ApprovalDigest(f Facts) canon.Digest {
	pending := f.State.PendingStep()
	if pending == nil {
		return canon.Digest{}
	}
	return bound(pending.Key(), f.SnapshotRef, f.Outputs).Digest()
}

// SignedTexts returns the digests of the texts that were signed for decisions at the node.
func SignedTexts(f Facts) (out []canon.Digest) {
	for _, g := range given(f.Outputs) {
		if g.IsSigned() {
			out = append(out, g.SignedDigest())
		}
	}
	return out
}

// DecisionSubject is what a person signs to make a decision about the pending step.
func DecisionSubject(f Facts, d Decision) consent.Subject {
	return f.record(d).Subject(f.place())
}

// place is the node of the facts.
func (f Facts) place() decision.Place {
	return decision.Place{Store: f.Store, Session: f.Session, Run: f.Run, Node: f.Node}
}

// record returns the record of a decision about the pending step.
func (f Facts) record(d Decision) decision.Record {
	key := f.State.PendingStep().Key()
	return decision.Record{StepDecision: event.StepDecision{By: d.name(), Decision: d.Word, Reason: d.Reason,
		ShownDigest: ApprovalDigest(f)}, Bound: bound(key, f.SnapshotRef, f.Outputs), Account: d.Who.Account,
		Principal: d.Who.Principal != "", Roles: d.Who.Roles, PolicyDigest: d.Who.PolicyDigest, AtMs: d.AtMs, Given: d.Given}
}

// Decisions returns what the recorded decisions amount to for the node's outputs, one State for each
// rule by which the pending step requires an approval. atMs is the moment, in milliseconds since 1970.
func Decisions(w compile.Compiled, f Facts, atMs int64) []decision.State {
	pending := f.State.PendingStep()
	if pending == nil {
		return nil
	}
	return Judge(interpreter.ApprovalRules(w, f.State, f.Context), pending.Key(), f.SnapshotRef, f.Outputs, atMs, f.Performers)
}

// Judge evaluates the decisions among outputs for each rule.
func Judge(rules []compile.Approval, stepKey string, ref canon.Digest, outputs []Output, atMs int64,
	performers []config.Account) []decision.State {
	all, want := given(outputs), bound(stepKey, ref, outputs)
	states := make([]decision.State, len(rules))
	for i, rule := range rules {
		states[i] = decision.Judge(rule, all, want, atMs, performers)
	}
	return states
}

// given returns the recorded decisions among outputs, oldest first. An approval beside its decision
// is left out.
func given(outputs []Output) []decision.Given {
	var all, plain []decision.Given
	erased := false
	for _, o := range outputs {
		switch {
		case o.Decision != nil:
			r, err := decision.Decode(o.JSON)
			g := decision.Given{Record: r, Erased: err != nil || r.StepDecision != *o.Decision}
			g.Repeated = g.IsSigned() && slices.ContainsFunc(all, func(earlier decision.Given) bool {
				return earlier.IsSigned() && earlier.SignedDigest() == g.SignedDigest()
			})
			all, erased = append(all, g), erased || g.Erased
		case o.Payload.ArtifactKind == ApprovalKind && !o.JSON.IsNull():
			plain = append(plain, plainApproval(o.JSON))
			all = append(all, plain[len(plain)-1])
		}
	}
	return slices.DeleteFunc(all, func(g decision.Given) bool {
		beside := func(other decision.Given) bool {
			return !other.Plain && other.Decision == event.Approved && other.Bound.Equal(g.Bound)
		}
		return g.Plain && (erased || slices.ContainsFunc(all, beside))
	})
}

// plainApproval reads an approval artifact. Its other members are those of the binding.
func plainApproval(v canon.Value) decision.Given {
	text := func(name string) string { member, _ := v.Get(name); return member.Text() }
	g := decision.Given{Plain: true}
	g.Decision, g.By, g.Reason = event.Approved, cmp.Or(text("approvedBy"), string(event.Human)), text("comment")
	g.StepInstanceKey = text("stepInstanceKey")
	g.Outputs, _ = v.Get("outputs")
	g.SnapshotRef, _ = canon.ParseDigest(text("snapshotRef")) // one that is none equals no snapshot
	for _, name := range []string{"approvedBy", "comment", "signature", "signed"} {
		v = v.Without(name)
	}
	g.ShownDigest = canon.Sum(v.JCS())
	return g
}

// DecideStep plans a decision about the pending step: the records that resolve the open gaps waiting
// for it, a gap with the reason if the step is sent back, the artifacts, and the end of the run if it is
// denied (docs/design.md#decisions). A plan without events means that the same decision is recorded
// already. Errors: RUN_WAITING for an actor that is not a person; VALIDATION_ERROR for a node that
// requires no approval and for a missing or unsuitable reason; PRINCIPALS_UNBOUND if several people have to
// approve and no account is bound to a principal; DECISION_REFUSED for a person who may not decide, and
// for outputs that are not those in Seen.
func DecideStep(w compile.Compiled, f Facts, d Decision) (manifest.Plan, error) {
	step, err := f.decidable(w, d)
	if err != nil {
		return manifest.Plan{}, err
	}
	seg := newSegment(f.Session, f.Next, d.AtMs, d.Actor)
	states := Decisions(w, f, d.AtMs)
	repeated, err := f.checkDecision(states, step, d)
	if err != nil || repeated {
		return seg.plan, err
	}
	record := f.record(d)
	artifacts := []Artifact{}
	if d.Word == event.Approved {
		artifacts = append(artifacts, JSONArtifact(approvalValue(record.StepInstanceKey, f.SnapshotRef, f.Outputs, d)))
	}
	if !d.ApprovalOnly {
		v, err := record.Value()
		if err != nil {
			return manifest.Plan{}, fault.Wrap(err, fault.Internal, "the decision cannot be written as JSON")
		}
		artifacts = append(artifacts, JSONArtifact(v))
	}
	// The attempt's id follows from the number of earlier decisions, so that a repeated call
	// plans the same ids.
	origin := id.FromAttempt(id.NextAttempt(f.Node, id.OpApprove, f.Approvals), id.OpApprove)
	at := event.Scope{RunID: f.Run, NodeID: f.Node}
	// Gaps are recorded before the outputs, as in every segment.
	f.decideGaps(seg, origin, at, step, states, record)
	payloads := seg.artifacts(artifacts)
	if d.DecisionFirst == nil {
		sorting.By(payloads, stored)
	} else if *d.DecisionFirst {
		slices.Reverse(payloads)
	}
	for i, p := range payloads {
		out := event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(i), Payload: p}
		if !d.ApprovalOnly {
			out.Decision = &record.StepDecision
		}
		if p.ArtifactKind == ApprovalKind {
			out.SupersedesOutputID = earlierApproval(f.Outputs)
		}
		seg.caller(at, out)
	}
	if d.Word == event.Denied {
		seg.engine(event.Scope{RunID: f.Run}, event.RunClosed{Outcome: event.OutcomeFailed,
			Reason: reason.Clip(decidedText("Denied", record), limits.SummaryBytesMax)})
	}
	return seg.plan, nil
}

// decidedText is the sentence about a decision in gaps, closed runs and messages.
func decidedText(what string, r decision.Record) string {
	return fmt.Sprintf("%s by %s: %s", what, decision.Name(r.By), r.Reason)
}

// decideGaps resolves the gaps that wait for an approval where the decision ends the waiting, and
// records the reason of a step that is sent back as one.
func (f Facts) decideGaps(seg *segment, origin id.Origin, at event.Scope, step compile.Step, states []decision.State,
	r decision.Record) {
	waiting := waitingForApproval(f.OpenGaps, step.StepID)
	summary := map[event.DecisionWord]string{event.Approved: "Resolved: a person approved the step.",
		event.SentBack: "Resolved: a person sent the step back.", event.Denied: "Resolved: a person denied the step."}[r.Decision]
	if r.Decision == event.Approved && slices.ContainsFunc(states, func(s decision.State) bool { return !s.MetWith(r) }) {
		return // others have to approve too
	}
	for i, g := range waiting {
		seg.gap(at, origin.Gap(i), event.Info, reason.Unmet{Code: g.Reason, Pointer: *g.Pointer, Message: summary}, &g.ID)
	}
	if r.Decision == event.SentBack {
		severity := event.Critical
		if f.HasChild { // the run has continued elsewhere, as for a refused attempt
			severity = event.Warning
		}
		seg.gap(at, origin.Gap(len(waiting)), severity, reason.Unmet{Code: reason.NeedsApproval,
			Pointer: reason.WorkflowStep(step.StepID), Message: decidedText("Sent back", r)}, nil)
	}
}

// checkDecision refuses a decision by a person who may not make it, and one that is out of date. repeated
// reports that the same is recorded already.
func (f Facts) checkDecision(states []decision.State, step compile.Step, d Decision) (repeated bool, err error) {
	if !d.Seen.IsZero() && (d.Seen != ApprovalDigest(f) || f.HasChild && !d.Left) {
		return false, f.refused(step, "the outputs submitted for step %q have changed since they were shown", step.StepID).
			Suggest("Review them with %s.", fault.Command{"approve", f.Run.String()})
	}
	if d.ApprovalOnly {
		return len(waitingForApproval(f.OpenGaps, step.StepID)) == 0 && isMet(states), nil
	}
	if d.Given.IsSigned() && slices.Contains(SignedTexts(f), d.Given.SignedDigest()) {
		return false, consent.Refused(consent.WhyUsed, "this signed text counted before, and counts once")
	}
	for _, s := range states {
		if err := f.checkPerson(s.Rule, step, d); err != nil {
			return false, err
		}
	}
	if d.Word == event.Approved {
		return f.checkApproval(states, step, d)
	}
	if d.Word == event.SentBack {
		last := states[0].SentBack
		switch {
		case states[0].Unchanged && last != nil && last.By == d.name() && last.Reason == d.Reason:
			return true, nil
		case states[0].Unchanged:
			return false, f.refused(step, "step %q was sent back already, and nothing else was handed in since", step.StepID).
				Suggest("See %s.", fault.Command{"runs", "show", f.Run.String()})
		case bound("", canon.Digest{}, f.Outputs).Outputs.Len() == 0 && !f.gated(step.StepID):
			return false, f.refused(step, "nothing was handed in for step %q, so that nothing can be sent back", step.StepID).
				Suggest("Wait until the step is performed, or end the run with %s.",
					fault.Command{"deny", f.Run.String(), "--reason", "TEXT"})
		}
	}
	return false, nil
}

// checkApproval refuses a second approval by one person where several are needed.
func (f Facts) checkApproval(states []decision.State, step compile.Step, d Decision) (repeated bool, err error) {
	mine := f.record(d)
	if isMet(states) && len(waitingForApproval(f.OpenGaps, step.StepID)) == 0 && repeats(states, mine, d.name()) {
		return true, nil
	}
	for _, s := range states {
		if s.Rule.Needed() > 1 && d.Who.Principal == "" {
			return false, fault.New(fault.PrincipalsUnbound,
				"step %q needs %d approvals by different people, and no principal is bound to this account", step.StepID,
				s.Rule.Needed()).
				Suggest("Bind accounts to principals with %s at a terminal.", fault.Command{"config", "set", "principals"})
		}
		if s.Met() || s.Rule.Needed() == 1 {
			continue
		}
		if slices.ContainsFunc(s.Approvals, func(r decision.Record) bool { return decision.SamePerson(r, mine) }) {
			return false, f.refused(step, "%s approved step %q already; %d more by other people are needed", decision.Name(d.name()),
				step.StepID, s.Missing()).
				Suggest("Another person approves it with %s.", fault.Command{"approve", f.Run.String()})
		}
	}
	return false, nil
}

// repeats reports that the person's own approval is among those that count, by the same name. That of
// another one is recorded too: the settings in force may not count the earlier one any more.
func repeats(states []decision.State, mine decision.Record, name string) bool {
	own := func(r decision.Record) bool {
		return decision.SamePerson(r, mine) && r.Principal == mine.Principal && (!r.Principal || r.By == name)
	}
	return !slices.ContainsFunc(states, func(s decision.State) bool { return !slices.ContainsFunc(s.Approvals, own) })
}

// checkPerson refuses a person whom the rule of the step excludes. It names no person who may decide.
func (f Facts) checkPerson(rule compile.Approval, step compile.Step, d Decision) error {
	if len(rule.Approvers) > 0 && len(decision.Meets(rule, d.Who.Roles)) == 0 {
		return f.refused(step, "%s is none of the people who decide about step %q", decision.Name(d.name()), step.StepID).
			Suggest("Roles belong to accounts of the operating system; a name in --as gives none. A person assigns them "+
				"with %s at a terminal.", fault.Command{"config", "set", "principals"})
	}
	if rule.NotPerformer && decision.Performed(f.Performers, d.Who.Account) {
		return f.refused(step, "the outputs of step %q were handed in from this account, or from one that is not known, and "+
			"the one who performed the step may not decide about it", step.StepID).
			Suggest("A person decides with %s from another account.", fault.Command{"approve", f.Run.String()})
	}
	return nil
}

// refused is the fault of a decision that is not recorded.
func (f Facts) refused(step compile.Step, format string, args ...any) *fault.Fault {
	return fault.New(fault.DecisionRefused, format+"; nothing was recorded", args...).
		With("runId", f.Run.String()).With("stepId", step.StepID)
}

// isMet reports that enough people approved, for every rule.
func isMet(states []decision.State) bool {
	return !slices.ContainsFunc(states, func(s decision.State) bool { return !s.Met() })
}

// IsApproved reports whether the decisions among a node's outputs approve exactly the pending step,
// the snapshot and the other outputs, for each rule (docs/design.md#decisions). outputs are the node's
// current ones as replaced by an attempt's: an attempt without outputs, or with the same bytes, keeps an
// approval valid; any other invalidates it.
func IsApproved(states []decision.State) bool { return isMet(states) }

// decidable returns the step to decide about, or the fault that DecideStep returns.
func (f Facts) decidable(w compile.Compiled, d Decision) (step compile.Step, err error) {
	if d.Actor.Kind != event.Human {
		return step, fault.New(fault.RunWaiting, "only a person can approve a step; the caller is of kind %q",
			d.Actor.Kind).
			Suggest("Ask a person to run %s at a terminal.", fault.Command{"approve", f.Run.String()})
	}
	if err := CheckReason(d.Word, d.Reason); err != nil {
		return step, err
	}
	return Decidable(w, f)
}

// Decidable returns the pending step if people decide about it; VALIDATION_ERROR if none is pending, or
// one that requires no approval.
func Decidable(w compile.Compiled, f Facts) (step compile.Step, err error) {
	pending := f.State.PendingStep()
	if pending == nil {
		return step, fault.New(fault.ValidationError, "no step is pending at node %s",
			f.Node).
			Suggest("See %s.", fault.Command{"runs", "show", f.Run.String()})
	}
	step, ok := w.Step(pending.StepID)
	if !ok {
		return step, fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	// A condition that held before, and does not any more, still permits the approval.
	if !interpreter.NeedsApproval(w, f.State, f.Context) && !f.gated(step.StepID) {
		return step, fault.New(fault.ValidationError, "step %q (%s) is pending, and it needs no approval", step.StepID,
			prompt.Title(step.Title, interpreter.Variables(w, f.State, f.Context)).Text).
			Suggest("Continue with %s.", fault.Command{"continue", "--run", f.Run.String()})
	}
	return step, nil
}

// CheckReason refuses, with VALIDATION_ERROR, the reason of a decision that cannot be recorded, and none
// where one is required.
func CheckReason(word event.DecisionWord, reason string) error {
	what := "the reason"
	if word == event.Approved {
		what = "the comment"
	}
	if err := checkText(what, reason, limits.DecisionReasonBytesMax); err != nil {
		return err
	}
	if word != event.Approved && strings.TrimSpace(reason) == "" {
		return fault.New(fault.ValidationError, "a step is sent back or denied with a reason, and none was given").
			Suggest("Give one with --reason TEXT.")
	}
	return nil
}

// gated reports that the node has required approval before: an attempt was refused for the
// lack of it, or a person decided (docs/decisions/0027-approval-conditions-read-both-contexts.md).
func (f Facts) gated(stepID string) bool {
	return f.Approvals > 0 || len(waitingForApproval(f.OpenGaps, stepID)) > 0
}

// waitingForApproval returns the open gaps that approving a step resolves. A missing input
// can have the same reason, but another pointer.
func waitingForApproval(open []OpenGap, stepID string) []OpenGap {
	var out []OpenGap
	for _, g := range open {
		if g.Reason == reason.NeedsApproval && g.Pointer != nil && *g.Pointer == reason.WorkflowStep(stepID) {
			out = append(out, g)
		}
	}
	return out
}

// ApprovalComment returns the comment of the current approval among outputs, "" if there is
// none.
func ApprovalComment(outputs []Output) string {
	for _, o := range outputs {
		if o.Payload.ArtifactKind == ApprovalKind {
			comment, _ := o.JSON.Get("comment")
			return comment.Text()
		}
	}
	return ""
}

// earlierApproval returns the output that a new approval supersedes, nil if there is none.
func earlierApproval(outputs []Output) *id.Output {
	i := slices.IndexFunc(outputs, func(o Output) bool { return o.Payload.ArtifactKind == ApprovalKind })
	if i < 0 {
		return nil
	}
	return &outputs[i].ID
}

// approvalValue returns the approval artifact: the binding, the approver and the comment.
func approvalValue(stepKey string, ref canon.Digest, outputs []Output, d Decision) canon.Value {
	v := bound(stepKey, ref, outputs).Approval()
	if d.Actor.Ref != "" {
		v = v.With("approvedBy", canon.OfString(d.Actor.Ref))
	}
	if d.Reason != "" {
		v = v.With("comment", canon.OfString(d.Reason))
	}
	if d.Given.IsSigned() {
		v = v.With("signature", canon.OfString(d.Given.Signature)).With("signed", d.Given.Signed)
	}
	return v
}

// IsDecision reports an approval or another decision of a person: no output of the step. An artifact
// of the kind of decisions that no decision wrote is one.
func IsDecision(o Output) bool { return o.Decision != nil || o.Payload.ArtifactKind == ApprovalKind }

// KindOf is the name of an artifact in what a decision is bound to: its kind, or its content type if it
// has none.
func KindOf(p event.OutputPayload) string { return cmp.Or(p.ArtifactKind, p.ContentType) }

// bound returns what a decision is about. Outputs are listed by kind and digest and sorted, so that
// the order in which they were sent does not matter.
func bound(stepKey string, ref canon.Digest, outputs []Output) decision.Bound {
	// output is one output in the list.
	type output struct{ kind, sha256 string }
	var all []output
	for _, o := range outputs {
		switch p := o.Payload; {
		// A decision does not bind earlier ones, nor the results of checks, which run at each attempt.
		case IsDecision(o), p.ArtifactKind == check.Kind:
		case p.PayloadKind == event.Notes:
			// As stored: the notes of an attempt have not been truncated yet.
			text := reason.Truncate(p.NotesMarkdown, limits.NotesBytesMax)
			all = append(all, output{string(event.Notes), canon.Sum([]byte(text)).String()})
		default:
			all = append(all, output{KindOf(p), p.SHA256.String()})
		}
	}
	sorting.By(all, func(a, b output) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.sha256, b.sha256))
	})
	items := make([]canon.Value, len(all))
	for i, b := range all {
		items[i] = canon.OfMembers(
			canon.Member{Name: "kind", Value: canon.OfString(b.kind)},
			canon.Member{Name: "sha256", Value: canon.OfString(b.sha256)})
	}
	return decision.Bound{Outputs: canon.OfList(items...), SnapshotRef: ref, StepInstanceKey: stepKey}
}
