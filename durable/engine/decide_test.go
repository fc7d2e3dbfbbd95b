package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/store/config"
)

// unsound rejects everything.
func unsound(proposal.Kind, canon.Value, []learning.InstalledArtifact) []problem.Problem {
	return []problem.Problem{{Severity: problem.Warning, Message: "so so"},
		{Severity: problem.Error, Pointer: "/steps/0", Message: "no good"}}
}

const (
	twoReviewers = `{"ada":{"roles":["reviewer"],"uid":1},"ben":{"roles":["reviewer","lead"],"uid":2},` +
		`"cyd":{"roles":["lead"],"uid":3},"dan":{"uid":4},"ed":["reviewer","lead"]}`
	leads = `{"lead":["proposals:apply","proposals:override"]}`
)

// refusedWith requires an error of a code, and a store in which nothing has changed.
func (r *review) refusedWith(code fault.Code, exit int, what string,
	call func() (learning.Proposed, error)) *fault.Fault {
	r.Helper()
	before := r.onDisk()
	_, err := call()
	f := fault.Of(err)
	if err == nil || f.Code != code || fault.ExitOf(err) != exit {
		r.Errorf("%s: %v, want %s", what, err, code)
		return fault.New(code, "")
	}
	r.same(before, what)
	return f
}

func (r *review) applyAs(p learning.Proposed, by engine.Caller,
	change func(*learning.ApplyRequest)) func() (learning.Proposed, error) {
	req := learning.ApplyRequest{DecideRequest: aboutProposal(p, by.Actor.Ref, "we need it")}
	req.Shown = onScreen(r.g, req.DecideRequest)
	change(&req)
	return func() (learning.Proposed, error) { return r.another().ApplyProposal(context.Background(), by, req) }
}

func asItIs(*learning.ApplyRequest) {}

// approveAs approves the current proposal.
func (r *review) approveAs(p learning.Proposed, by engine.Caller, atTerminal bool) func() (learning.Proposed, error) {
	req := aboutProposal(p, by.Actor.Ref, "fine")
	req.AtTerminal = atTerminal
	return func() (learning.Proposed, error) {
		return r.another().ApproveProposal(context.Background(), by, req, r.details(p).Shown())
	}
}

// TestWhoApproves: a person at a terminal, who holds the role; and once.
func TestWhoApproves(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	agent := r.by()
	agent.Actor.Ref = "ada" // a name that holds the role makes no person

	// While the settings name no reviewer, the person at the terminal decides, and no other caller.
	r.refusedWith(fault.ProposalForbidden, 1, "an agent approves in a store without reviewers",
		r.approveAs(p, agent, true))
	r.refusedWith(fault.ProposalForbidden, 1, "a person approves from elsewhere",
		r.approveAs(p, r.person("ada"), false))
	r.refusedWith(fault.ProposalForbidden, 1, "an agent overrides",
		r.applyAs(p, agent, func(a *learning.ApplyRequest) { a.Override = true }))
	r.refusedWith(fault.ProposalPending, 3, "without an approval", r.applyAs(p, r.person("ada"), asItIs))

	r.configure("principals", twoReviewers, "roles", leads, "proposalsQuorum", "2")
	r.refusedWith(fault.ProposalForbidden, 1, "an agent by the name of a reviewer", r.approveAs(p, agent, true))
	r.refusedWith(fault.ProposalForbidden, 1, "a reviewer from elsewhere", r.approveAs(p, r.person("ada"), false))
	for _, who := range []string{"cyd", "dan", "ed", "eve", ""} {
		f := r.refusedWith(fault.ProposalForbidden, 1, "no reviewer: "+who, r.approveAs(p, r.person(who), true))
		if f.Details["role"] != "reviewer" || !strings.Contains(f.Message, `"reviewer"`) ||
			strings.Contains(f.Message+f.Suggestion.String()+fmt.Sprint(f.Details), "ada") {
			t.Errorf("%s: %v %v", who, f, f.Details)
		}
	}
	if done, err := r.approveAs(p, r.person("ada"), true)(); err != nil || done.About.Approvals != 1 ||
		done.About.ApprovalsWant != 2 {
		t.Fatalf("%+v, %v", done.About, err)
	}
	// The same approval again is no second one, and leaves nothing.
	before := r.onDisk()
	if done, err := r.approveAs(p, r.person("ada"), true)(); err != nil || done.About.Approvals != 1 {
		t.Errorf("%+v, %v", done.About, err)
	}
	r.same(before, "the same approval again")
	f := r.refusedWith(fault.ProposalPending, 3, "one of two", r.applyAs(p, r.person("ada"), asItIs))
	if f.Details["have"] != int64(1) || f.Details["want"] != int64(2) || f.Details["role"] != "reviewer" {
		t.Errorf("%v", f.Details)
	}
}

// TestApprovalsOfRevisions: an approval is of the bytes that were shown, and of a person who holds
// the role.
func TestApprovalsOfRevisions(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	r.configure("principals", twoReviewers, "proposalsQuorum", "2")
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	for n, who := range []string{"ada", "ben"} {
		if done, err := r.approveAs(p, r.person(who), true)(); err != nil || done.About.Approvals != int64(n+1) {
			t.Errorf("%+v, %v", done.About, err)
		}
	}
	p = r.revise(p, asWorkflow(t, "test.flow", "two"))
	f := r.refusedWith(fault.ProposalPending, 3, "approved before the revision", r.applyAs(p, r.person("ada"), asItIs))
	if !strings.Contains(f.Message, "before revision 2") || f.Details["have"] != int64(0) ||
		len(f.Details["void"].([]proposal.VoidApproval)) != 2 {
		t.Errorf("%v %v", f, f.Details)
	}
	d := r.details(p)
	if d.Gate.Have != 0 || d.Gate.Granted || len(d.Approvals) != 2 ||
		d.Approvals[0].Void != "It was given before revision 2." {
		t.Errorf("%+v %+v", d.Gate, d.Approvals)
	}
	// Revised while it was shown.
	was := d.Shown()
	p = r.revise(p, asWorkflow(t, "test.flow", "three"))
	f = r.refusedWith(fault.ProposalChanged, 1, "revised meanwhile", func() (learning.Proposed, error) {
		return r.another().ApproveProposal(ctx, r.person("ada"), aboutProposal(p, "ada", "fine"), was)
	})
	if f.Details["shown"] != was.Artifact.String() || f.Details["now"] != p.About.ArtifactSHA256.String() {
		t.Errorf("%v", f.Details)
	}
	// An approval by a person who lost the role does not count.
	for _, who := range []string{"ada", "ben"} {
		if _, err := r.approveAs(p, r.person(who), true)(); err != nil {
			t.Fatal(err)
		}
	}
	r.configure("principals", `{"ada":{"roles":["reviewer"],"uid":1},"ben":{"uid":2},"cyd":{"roles":["reviewer"],"uid":3}}`)
	f = r.refusedWith(fault.ProposalPending, 3, "ben was let go", r.applyAs(p, r.person("ada"), asItIs))
	if !strings.Contains(f.Message, "does not hold the role") {
		t.Errorf("%v", f)
	}
	if d := r.details(p); d.Approvals[3].Void == "" || d.Approvals[2].Void != "" {
		t.Errorf("%+v", d.Approvals)
	}
	if _, err := r.approveAs(p, r.person("cyd"), true)(); err != nil {
		t.Fatal(err)
	}
	done, err := r.apply(p, "unlisted")
	if err != nil || done.Proposal.State != proposal.StateApplied || done.Proposal.Activation.ApprovalID == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if d := r.details(p); *done.Proposal.Activation.ApprovalID != d.Approvals[4].ApprovalID {
		t.Errorf("%+v", d.Approvals)
	}
}

// TestOverrides: a person at a terminal, who holds the scope and gives a reason, passes the gate;
// every other check remains.
func TestOverrides(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	r.configure("principals", twoReviewers, "roles", leads)
	override := func(change func(*learning.ApplyRequest)) func(*learning.ApplyRequest) {
		return func(a *learning.ApplyRequest) { a.Override = true; change(a) }
	}
	agent := r.by()
	agent.Actor.Ref = "cyd"
	r.refusedWith(fault.ProposalChanged, 1, "what was not shown",
		r.applyAs(p, r.person("cyd"), override(func(a *learning.ApplyRequest) { a.Shown = learning.Shown{} })))
	f := r.refusedWith(fault.ProposalForbidden, 1, "without the scope", r.applyAs(p, r.person("ada"), override(asItIs)))
	if f.Details["scope"] != "proposals:override" {
		t.Errorf("%v", f.Details)
	}
	r.refusedWith(fault.ProposalForbidden, 1, "from elsewhere",
		r.applyAs(p, r.person("cyd"), override(func(a *learning.ApplyRequest) { a.AtTerminal = false })))
	r.refusedWith(fault.ProposalForbidden, 1, "an agent", r.applyAs(p, agent, override(asItIs)))
	for _, reason := range []string{"", " \t", proposal.NoReason} {
		f := r.refusedWith(fault.ValidationError, 2, "without a reason",
			r.applyAs(p, r.person("cyd"), override(func(a *learning.ApplyRequest) { a.Reason = reason })))
		if f.Details["field"] != "reason" {
			t.Errorf("%v", f.Details)
		}
	}
	f = r.refusedWith(fault.ProposalInvalid, 1, "of what is unsound",
		r.applyAs(p, r.person("cyd"), override(func(a *learning.ApplyRequest) { a.Check = unsound })))
	if found, _ := f.Details["problems"].([]problem.Problem); len(found) != 2 ||
		!strings.Contains(f.Message, "no good") {
		t.Errorf("%v %v", f, f.Details)
	}
	done, err := r.applyAs(p, r.person("cyd"), override(asItIs))()
	if err != nil || done.Proposal.Activation.ApprovalID != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if acts := r.acts(); acts[len(acts)-1] != "override by cyd: we need it" {
		t.Errorf("%q", acts)
	}
	// In the other mode no gate exists that could be passed.
	q := r.propose(asWorkflow(t, "test.other", "one"))
	r.configure("proposalsActivation", "direct-rbac")
	r.refusedWith(fault.ValidationError, 2, "where no gate is", r.applyAs(q, r.person("cyd"), override(asItIs)))
}

// TestDirectRBAC: the scope is sufficient, and without it nothing happens.
func TestDirectRBAC(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	r.configure("proposalsActivation", "direct-rbac")
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	agent := r.by()
	away := func(a *learning.ApplyRequest) { a.AtTerminal = false }
	r.refusedWith(fault.ProposalForbidden, 1, "an agent in a store without reviewers", r.applyAs(p, agent, asItIs))
	r.refusedWith(fault.ProposalForbidden, 1, "a person away from a terminal in a store without reviewers",
		r.applyAs(p, r.person("ada"), away))
	r.configure("principals", `{"ada":{"roles":["reviewer"],"uid":1},"cyd":{"roles":["lead"],"uid":3},"eve":["lead"]}`,
		"roles", leads)
	for _, who := range []string{"ada", "eve", ""} {
		f := r.refusedWith(fault.ProposalForbidden, 1, "without the scope: "+who, r.applyAs(p, r.person(who), asItIs))
		if f.Details["scope"] != "proposals:apply" {
			t.Errorf("%v", f.Details)
		}
	}
	agent.Actor.Ref = "cyd" // a name gives no scope, the account does
	r.refusedWith(fault.ProposalForbidden, 1, "by the name of a principal", r.applyAs(p, agent,
		func(a *learning.ApplyRequest) { a.AtTerminal, a.Account = false, config.AccountOf(99) }))
	r.refusedWith(fault.ProposalChanged, 1, "at a terminal, without a question", r.applyAs(p, r.person("cyd"),
		func(a *learning.ApplyRequest) { a.Shown = learning.Shown{} }))
	done, err := r.applyAs(p, agent, away)()
	if err != nil || done.Proposal.Activation.ApprovalID != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	r.refusedWith(fault.ProposalForbidden, 1, "rolled back without the scope", func() (learning.Proposed, error) {
		return r.another().RollBackProposal(context.Background(), r.person("ada"), aboutProposal(p, "ada", "r"))
	})
	if _, err := r.another().RollBackProposal(context.Background(), r.person("cyd"),
		aboutProposal(p, "cyd", "r")); err != nil {
		t.Error(err)
	}
	// An approval can be given, and is not required.
	q := r.propose(asWorkflow(t, "test.two", "two"))
	if done, err := r.approve(q, "ada"); err != nil || done.About.ApprovalsWant != 0 {
		t.Errorf("%+v, %v", done.About, err)
	}
	if done, err := r.apply(q, "cyd"); err != nil || done.Proposal.Activation.ApprovalID != nil {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestRefusedActivations: a caller that lacks the scope, and a proposal that is malformed for its
// kind (docs/design.md#proposals). State, installations, log and announcements do not change.
func TestRefusedActivations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		code fault.Code
		is   proposal.State
		by   string
		make func(r *review) learning.Proposed
		want func(*learning.ApplyRequest)
	}{
		{"without the scope", fault.ProposalForbidden, "revised", "ada", func(r *review) learning.Proposed {
			return r.revise(r.propose(asWorkflow(r, "test.flow", "one")), asWorkflow(r, "test.flow", "two"))
		}, asItIs},
		{"malformed by the check", fault.ProposalInvalid, "draft", "cyd", func(r *review) learning.Proposed {
			return r.propose(asWorkflow(r, "test.flow", "one"))
		}, func(a *learning.ApplyRequest) { a.Check = unsound }},
		{"without a name", fault.ProposalInvalid, "draft", "cyd", func(r *review) learning.Proposed {
			return r.propose(learning.ProposeRequest{Draft: drafted(r, proposal.AgentPack, `{"x":1}`, "")})
		}, asItIs},
	} {
		r := newReview(t)
		r.configure("proposalsActivation", "direct-rbac", "principals", twoReviewers, "roles",
			leads)
		p := test.make(r)
		r.refusedWith(test.code, 1, test.name, r.applyAs(p, r.person(test.by), test.want))
		if d := r.details(p); d.State != test.is {
			t.Errorf("%s: it is %s", test.name, d.State)
		}
		events, err := r.g.ProposalEvents(context.Background(), "")
		if err != nil || len(events.Events) != 1 || events.Events[0].Type != "proposal.created" ||
			len(r.files("installed")) > 0 {
			t.Errorf("%s: %+v, %v, %q", test.name, events, err, r.files("installed"))
		}
	}
}
