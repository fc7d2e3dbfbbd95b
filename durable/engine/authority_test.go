package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/config"
)

// TestTwoNamesAreOnePerson: approvals under two names from one account are one approval.
func TestTwoNamesAreOnePerson(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	r.configure("principals", twoReviewers, "proposalsQuorum", "2")
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	for _, name := range []string{"ada", "ben", ""} {
		done, err := r.another().ApproveProposal(ctx, r.person(name), aboutProposal(p, "ada", "fine"),
			r.details(p).Shown())
		if err != nil || done.About.Approvals != 1 {
			t.Fatalf("as %q: %+v, %v", name, done.About, err)
		}
	}
	d := r.details(p)
	if len(d.Approvals) != 1 || d.Approvals[0].Principal != "ada" || d.Approvals[0].Account != "uid:1" ||
		d.Approvals[0].Actor.Ref != "ada" {
		t.Errorf("%+v", d.Approvals)
	}
	// The policy changed in another part: the approval is given again, and counts once.
	r.configure("retentionDays", "9")
	done, err := r.another().ApproveProposal(ctx, r.person("ben"), aboutProposal(p, "ada", "fine"),
		r.details(p).Shown())
	if err != nil || done.About.Approvals != 1 || len(r.details(p).Approvals) != 2 {
		t.Errorf("%+v, %v", done.About, err)
	}
	r.refusedWith(fault.ProposalPending, 3, "one person of two", r.applyAs(p, r.person("ben"), asItIs))
	// An account is one person under any name of its principal.
	r.configure("principals", `{"ada":{"roles":["reviewer"],"uid":2},"zoe":{"roles":["reviewer"],"uid":1}}`)
	f := r.refusedWith(fault.ProposalPending, 3, "of another account by the same name",
		r.applyAs(p, r.person("ben"), asItIs))
	if f.Details["have"] != int64(0) || !strings.Contains(f.Message, "bound to now") {
		t.Errorf("%v %v", f, f.Details)
	}
}

// TestQuorumRequiresBoundPrincipals: a quorum above one is neither set nor reached while every caller
// can give every name; and no principal is unbound while it is set.
func TestQuorumRequiresBoundPrincipals(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	refused := func(key, text string) {
		t.Helper()
		before := r.onDisk()
		if _, err := r.g.PlanSet(ctx, key, text); !fault.Is(err, fault.PrincipalsUnbound) ||
			fault.ExitOf(err) != 3 {
			t.Errorf("%s %s: %v", key, text, err)
		}
		r.same(before, "a refused setting")
	}
	refused("proposalsQuorum", "2")
	r.configure("principals", `{"ada":["reviewer"],"ben":["reviewer"]}`)
	refused("proposalsQuorum", "2")
	r.configure("principals", twoReviewers, "proposalsQuorum", "2")
	refused("principals", `{}`)
	refused("principals", `{"ada":["reviewer"],"ben":["reviewer"]}`)
	if _, err := r.g.PlanReset(ctx, "principals"); !fault.Is(err, fault.PrincipalsUnbound) {
		t.Error(err)
	}
	r.configure("proposalsQuorum", "1", "principals", `{}`)
	// Nor is one that was edited into the file confirmed, by itself or with another change.
	r.writeControl("config.json", "config", 1, `{"proposalsQuorum":2}`)
	if _, err := r.g.PlanConfirmation(ctx); !fault.Is(err, fault.PrincipalsUnbound) {
		t.Error(err)
	}
	refused("retentionDays", "30")
	r.configure("principals", twoReviewers)
	if _, err := r.g.Settings.Confirmed(ctx); err != nil {
		t.Error(err)
	}
	r.configure("proposalsQuorum", "1", "principals", `{}`)
	if _, err := r.approve(p, "ada"); err != nil {
		t.Error(err)
	}
}

// TestRemovingApprovalsThatDoNotCount: an approval whose principal has lost the role may count again,
// so a caller without the role cannot remove it either.
func TestRemovingApprovalsThatDoNotCount(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newReview(t)
	r.configure("principals", twoReviewers, "roles", leads)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	if _, err := r.approve(p, "ada"); err != nil {
		t.Fatal(err)
	}
	r.configure("proposalsApproverRole", "lead")
	req := learning.DecideRequest{Presence: learning.Presence{Account: config.AccountOf(accounts["dan"])},
		Ref: p.Proposal.ID.String(), Reason: "r"}
	r.refusedWith(fault.ProposalForbidden, 1, "reject", func() (learning.Proposed, error) {
		return r.another().RejectProposal(ctx, r.by(), req)
	})
}

// TestRemovingApprovalsRequiresTheRole: what has approvals is revised, rejected and archived by callers
// with the approver's role; what has none, by all callers.
func TestRemovingApprovalsRequiresTheRole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, settings := range [][]string{nil, {"principals", twoReviewers, "roles", leads}} {
		r := newReview(t)
		r.configure(settings...)
		agent := r.by()
		agent.Actor = event.Actor{Kind: event.Agent, Ref: "ada"}
		calls := func(by learning.Presence) map[string]func(learning.Proposed) (learning.Proposed, error) {
			about := func(p learning.Proposed) learning.DecideRequest {
				return learning.DecideRequest{Presence: by, Ref: p.Proposal.ID.String(), Reason: "r"}
			}
			return map[string]func(learning.Proposed) (learning.Proposed, error){
				"revise": func(p learning.Proposed) (learning.Proposed, error) {
					req := asWorkflow(t, "test.flow", "another")
					req.Presence = by
					return r.another().ReviseProposal(ctx, agent, p.Proposal.ID.String(), req)
				},
				"reject": func(p learning.Proposed) (learning.Proposed, error) {
					return r.another().RejectProposal(ctx, agent, about(p))
				},
				"archive": func(p learning.Proposed) (learning.Proposed, error) {
					return r.another().ArchiveProposal(ctx, agent, about(p))
				},
			}
		}
		for name := range calls(learning.Presence{}) {
			p := r.propose(asWorkflow(t, "test.flow", "one"))
			if _, err := calls(learning.Presence{})[name](p); err != nil {
				t.Errorf("%s without approvals: %v", name, err)
			}
			p = r.propose(asWorkflow(t, "test.flow", "one"))
			if _, err := r.approve(p, "ada"); err != nil {
				t.Fatal(err)
			}
			call := func() (learning.Proposed, error) {
				return calls(learning.Presence{Account: config.AccountOf(accounts["cyd"])})[name](p)
			}
			r.refusedWith(fault.ProposalForbidden, 1, name+" by a caller without the role", call)
			if settings == nil {
				continue // no program has a role
			}
			if _, err := calls(learning.Presence{Account: config.AccountOf(accounts["ben"])})[name](p); err != nil {
				t.Errorf("%s by a caller with the role: %v", name, err)
			}
		}
	}
}

// TestPolicyOfThenAndNow: an approval counts under the stricter one of the policy when it was given
// and the policy now.
func TestPolicyOfThenAndNow(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	r.configure("principals", twoReviewers, "proposalsQuorum", "2")
	approve := func(p learning.Proposed, who string) {
		t.Helper()
		if _, err := r.approve(p, who); err != nil {
			t.Fatal(err)
		}
	}
	loosened, given := r.propose(asWorkflow(t, "test.one", "one")), r.propose(asWorkflow(t, "test.two", "two"))
	approve(loosened, "ada")
	approve(given, "ada")
	then := r.details(loosened).Approvals[0].Terms
	r.configure("proposalsQuorum", "1")
	f := r.refusedWith(fault.ProposalPending, 3, "loosened after the approval",
		r.applyAs(loosened, r.person("ada"), asItIs))
	if f.Details["have"] != int64(1) || f.Details["want"] != int64(2) {
		t.Errorf("%v", f.Details)
	}
	// The same person approves under the policy in force; or another one does.
	approve(loosened, "ada")
	if done, err := r.apply(loosened, "ada"); err != nil || len(r.details(loosened).Approvals) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	approve(given, "ben")
	if _, err := r.apply(given, "ada"); err != nil {
		t.Error(err)
	}
	now := r.details(given).Approvals[1].Terms
	if then.Quorum != 2 || now.Quorum != 1 || then.PolicyDigest == now.PolicyDigest || then.PolicyDigest.IsZero() {
		t.Errorf("%+v %+v", then, now)
	}
	tightened := r.propose(asWorkflow(t, "test.three", "three"))
	approve(tightened, "ada")
	r.configure("proposalsQuorum", "2")
	f = r.refusedWith(fault.ProposalPending, 3, "tightened after the approval",
		r.applyAs(tightened, r.person("ada"), asItIs))
	if f.Details["have"] != int64(1) || f.Details["want"] != int64(2) {
		t.Errorf("%v", f.Details)
	}
	r.configure("proposalsQuorum", "1", "proposalsApproverRole", "lead")
	f = r.refusedWith(fault.ProposalPending, 3, "another role is required",
		r.applyAs(tightened, r.person("ada"), asItIs))
	if f.Details["have"] != int64(0) || !strings.Contains(f.Message, `does not hold the role "lead" now`) {
		t.Errorf("%v %v", f, f.Details)
	}
}

// TestApprovalsWithoutPolicy: what an earlier version recorded without the policy does not count for
// an open proposal, and what was applied by it stays in use.
func TestApprovalsWithoutPolicy(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	applied, open := r.propose(asWorkflow(t, "test.one", "one")), r.propose(asWorkflow(t, "test.two", "two"))
	ada := r.person("ada")
	for _, p := range []learning.Proposed{applied, open} {
		must(t, r.append(proposal.Table, ada, func(next int64) event.Payload {
			return proposal.Approve(storeOf(r), forgedAt(p, next),
				proposal.Consent{Seen: p.About.ArtifactSHA256, Principal: "ada", Role: "reviewer"})
		}))
	}
	must(t, r.append(proposal.Table, ada, func(next int64) event.Payload {
		a := actOf(applied, ada)
		a.Approvals = append(a.Approvals, r.details(applied).Approvals[0].ApprovalID)
		return proposal.Apply(forgedAt(applied, next), a)
	}))
	f := r.refusedWith(fault.ProposalPending, 3, "approved without the policy",
		r.applyAs(open, r.person("ada"), asItIs))
	if f.Details["have"] != int64(0) || !strings.Contains(f.Message, "without the policy in force") {
		t.Errorf("%v %v", f, f.Details)
	}
	if d := r.details(open); d.Gate.Have != 0 || !strings.Contains(d.Approvals[0].Void, "it has to be given again") {
		t.Errorf("%+v %+v", d.Gate, d.Approvals)
	}
	if d := r.details(applied); d.State != proposal.StateApplied || d.Gate.Have != 1 || d.Approvals[0].Void != "" {
		t.Errorf("%s %+v %+v", d.State, d.Gate, d.Approvals)
	}
	// It is no approval that a caller without the role could not remove either.
	if _, err := r.approve(open, "ada"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.apply(open, "ada"); err != nil {
		t.Error(err)
	}
}

// TestDecisionsAreAboutWhatWasShown: the revision, and what would be replaced, are those that a person
// saw when they answered.
func TestDecisionsAreAboutWhatWasShown(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	about := aboutProposal(p, "ada", "r")
	both := func(what string, shown learning.Shown) {
		t.Helper()
		r.refusedWith(fault.ProposalChanged, 1, what, func() (learning.Proposed, error) {
			return r.another().ApproveProposal(ctx, r.person("ada"), about, shown)
		})
		r.refusedWith(fault.ProposalChanged, 1, what, func() (learning.Proposed, error) {
			req := overrides(r.g, about)
			req.Shown = shown
			return r.another().ApplyProposal(ctx, r.person("ada"), req)
		})
	}
	both("nothing was shown", learning.Shown{})
	was := onScreen(r.g, about)
	r.installs(r.propose(asWorkflow(t, "test.flow", "another")))
	both("something else is installed", was)
	was = onScreen(r.g, about)
	r.revise(p, asWorkflow(t, "test.flow", "one")) // the same bytes, with another reason
	both("revised to the same bytes", was)
	about.Replaced = fileWith("old")
	was = onScreen(r.g, about)
	r.revise(p, inPlaceOf(asWorkflow(t, "test.flow", "one"), "old")) // the same bytes, in place of a file
	both("revised to replace a file", was)
	was = onScreen(r.g, about)
	was.Replaces = proposal.Replaces{}
	both("the file was not shown", was)
	if _, err := r.another().ApplyProposal(ctx, r.person("ada"), overrides(r.g, about)); err != nil {
		t.Error(err)
	}
}

// TestDefaultIdentityNeverApproves: an identity that the caller did not give names no approver, of a
// proposal or of a step, and is no principal; as a second one it is no second person.
func TestDefaultIdentityNeverApproves(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	assumed := func(by engine.Caller, name string) engine.Caller {
		by.Actor.Ref, by.Assumed = name, true
		return by
	}
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	for _, name := range []string{"ada", "ben"} {
		done, err := r.another().ApproveProposal(ctx, assumed(r.person(""), name), aboutProposal(p, "", "fine"),
			r.details(p).Shown())
		if err != nil || done.About.Approvals != 1 {
			t.Fatalf("as %q: %+v, %v", name, done.About, err)
		}
	}
	d := r.details(p)
	if len(d.Approvals) != 1 || d.Approvals[0].Principal != string(event.Human) || d.Approvals[0].Actor.Ref != "" {
		t.Errorf("%+v", d.Approvals)
	}
	// The identity has the name of a principal that is bound to another account.
	r.configure("principals", `{"ada":{"roles":["reviewer"],"uid":1},"zoe":{"roles":["reviewer"],"uid":2}}`)
	q := r.propose(asWorkflow(t, "test.other", "two"))
	if _, err := r.another().ApproveProposal(ctx, assumed(r.person(""), "zoe"), aboutProposal(q, "ada", "fine"),
		r.details(q).Shown()); err != nil {
		t.Fatal(err)
	}
	if d := r.details(q); len(d.Approvals) != 1 || d.Approvals[0].Principal != "ada" {
		t.Errorf("%+v", d.Approvals)
	}

	w := newFixture(t)
	a := w.must(w.start(approving), note("the plan"))
	if _, err := w.g.Approve(ctx, assumed(w.person(""), "ada"), a.Position(), "fine"); err != nil {
		t.Fatal(err)
	}
	events, _, err := w.g.Events(ctx, a.Session.RunID.String())
	must(t, err)
	for _, e := range events {
		if o, ok := e.Data.(event.NodeOutputAppended); ok && o.Payload.ArtifactKind == advance.ApprovalKind && e.Actor.Ref != "" {
			t.Errorf("approved by %q", e.Actor.Ref)
		}
	}
	run, err := w.g.Run(ctx, a.Session.RunID.String())
	must(t, err)
	if len(run.Approvals) != 1 || run.Approvals[0].By != string(event.Human) {
		t.Errorf("%+v", run.Approvals)
	}
}
