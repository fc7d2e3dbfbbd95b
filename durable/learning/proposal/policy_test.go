package proposal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
)

// policy returns a policy from alternating keys and values of the configuration.
func policy(t testing.TB, settings ...string) proposal.Policy {
	t.Helper()
	var c config.Config
	for i := 0; i < len(settings); i += 2 {
		var err error
		if c, err = c.With(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return proposal.PolicyOf(c)
}

// bound is a policy whose principals are bound to the accounts 1 (ada) to 4, but for carol.
func bound(t testing.TB, more ...string) proposal.Policy {
	return policy(t, append([]string{"principals", `{"ada":{"roles":["reviewer"],"uid":1},
		"bob":{"roles":["lead","reviewer"],"uid":2},"eve":{"uid":3},"human":{"roles":["reviewer"],"uid":4},
		"carol":["reviewer","lead"]}`, "roles",
		`{"lead":["proposals:apply","proposals:override"],"reviewer":["other"]}`, "proposalsQuorum", "2"}, more...)...)
}

// person is a person at a terminal, whose process runs as an account.
func person(uid int) proposal.Caller {
	return proposal.Caller{Human: true, AtTerminal: true, Account: config.AccountOf(uid)}
}

func TestRolesAndScopes(t *testing.T) {
	unbound, some := policy(t), bound(t)
	named := policy(t, "principals", `{"ada":["reviewer"],"human":["lead"]}`, "roles", `{"lead":["proposals:apply"]}`)
	keys := policy(t, "principals", `{"ada":{"roles":["reviewer"],"keys":["SHA256:`+strings.Repeat("A", 43)+`"]}}`)
	program := func(uid int) proposal.Caller { return proposal.Caller{Account: config.AccountOf(uid)} }
	for _, tt := range []struct {
		name       string
		policy     proposal.Policy
		who        proposal.Caller
		is         string // the principal
		holds, may bool
	}{
		{"a person at a terminal, no principal bound", unbound, person(1), "human", true, true},
		{"on a platform without accounts, no principal bound", unbound, person(-1), "human", true, true},
		{"a person elsewhere, no principal bound", unbound, proposal.Caller{Human: true, Account: "uid:1"}, "human", false,
			false},
		{"an agent, no principal bound", unbound, program(1), "agent", false, false},
		{"an agent that says it is at a terminal, no principal bound", unbound, proposal.Caller{AtTerminal: true}, "agent",
			false, false},
		{"a person at a terminal, principals only named", named, person(1), "human", true, true},
		{"an agent, principals only named", named, program(1), "agent", false, false},
		{"an account with the role", some, person(1), "ada", true, false},
		{"an account with both", some, person(2), "bob", true, true},
		{"an account with nothing", some, person(3), "eve", false, false},
		{"an account that is not bound", some, person(5), "human", false, false},
		{"no account", some, person(-1), "human", false, false},
		{"an agent of an account with both", some, program(2), "bob", true, true},
		{"an agent of an account that is not bound", some, program(5), "agent", false, false},
		{"a person, principals bound to keys alone", keys, person(1), "human", false, false},
		{"root, principals bound to others", some, person(0), "human", false, false},
	} {
		if holds, may := tt.policy.Holds(tt.who, "reviewer"), tt.policy.May(tt.who, config.ScopeApply); holds != tt.holds ||
			may != tt.may || tt.policy.Principal(tt.who) != tt.is {
			t.Errorf("%s: %s holds %v, may %v", tt.name, tt.policy.Principal(tt.who), holds, may)
		}
	}
}

// TestRefusalsNameNoPrincipal: a refusal says which role or scope is missing, and not who has it.
func TestRefusalsNameNoPrincipal(t *testing.T) {
	unbound, some := policy(t), bound(t)
	elsewhere := proposal.Caller{Human: true, Account: "uid:2"}
	for _, tt := range []struct {
		name, needs, suggest string
		err                  error
	}{
		{"approve", `"reviewer"`, "config set principals", some.CheckApprove(person(3))},
		{"approve as an account that is not bound", `"reviewer"`, "accounts", some.CheckApprove(person(9))},
		{"approve from elsewhere", `"reviewer"`, "accounts", some.CheckApprove(proposal.Caller{Human: true})},
		{"approve, no principal bound", `"reviewer"`, "at the terminal", unbound.CheckApprove(elsewhere)},
		{"apply", `"proposals:apply"`, "accounts", some.CheckScope(person(3), config.ScopeApply)},
		{"apply, no principal bound", `"proposals:apply"`, "at the terminal",
			unbound.CheckScope(elsewhere, config.ScopeApply)},
		{"override", `"proposals:override"`, "accounts", some.CheckOverride(person(3), "r")},
		{"override from elsewhere", `"proposals:override"`, "accounts",
			some.CheckOverride(proposal.Caller{Account: "uid:9"}, "r")},
		{"discard", `"reviewer"`, "accounts", some.CheckDiscard(person(3), about)},
	} {
		f := fault.Of(tt.err)
		if f == nil || f.Code != fault.ProposalForbidden || !strings.Contains(f.Message, tt.needs) ||
			!strings.Contains(f.Suggestion.String(), tt.suggest) {
			t.Errorf("%s: %v, %v", tt.name, tt.err, f)
			continue
		}
		details, err := canon.Marshal(f.Details)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		all := f.Message + f.Suggestion.String() + string(details)
		for _, name := range []string{"ada", "bob", "carol", "lead", "holders", "uid:"} {
			if strings.Contains(all, name) {
				t.Errorf("%s: names %s: %s", tt.name, name, all)
			}
		}
	}
	for name, err := range map[string]error{"approve": some.CheckApprove(person(1)),
		"apply":               some.CheckScope(person(2), config.ScopeApply),
		"override":            some.CheckOverride(person(2), "it burns"),
		"no principal bound":  unbound.CheckOverride(person(1), "it burns"),
		"discard by the role": some.CheckDiscard(person(1), about),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := some.CheckOverride(person(2), " "); !fault.Is(err, fault.ValidationError) ||
		fault.Of(err).Details["field"] != "reason" {
		t.Error(err)
	}
}

// TestQuorumRequiresAccounts: no approval is accepted, and nothing is granted, while a quorum above one could
// be reached by one person under several names.
func TestQuorumRequiresAccounts(t *testing.T) {
	p := policy(t, "principals", `{"ada":["reviewer"],"bob":["reviewer"]}`, "proposalsQuorum", "2")
	if err := p.CheckApprove(person(1)); !fault.Is(err, fault.PrincipalsUnbound) {
		t.Error(err)
	}
	var given []proposal.Approval
	for n := range byte(2) {
		a := approvalBy("human", "", 2, n)
		given = append(given, a)
	}
	if g := p.Gate(digest, given); g.Granted() || g.Have != 1 || !fault.Is(g.Err(about), fault.PrincipalsUnbound) {
		t.Errorf("%+v, %v", g, g.Err(about))
	}
}

// approvalBy is an approval under a policy that requires so many.
func approvalBy(principal string, account config.Account, quorum int64, n byte) proposal.Approval {
	return proposal.Approval{ID: id.EventOf("log", principal+string(rune('a'+n))), ArtifactSHA256: digest,
		Principal: principal, Role: "reviewer",
		Terms: proposal.Terms{Account: account, PolicyDigest: canon.Sum([]byte("then")), Quorum: quorum}}
}

func TestGate(t *testing.T) {
	ada, bob, eve := approvalBy("ada", "uid:1", 2, 1), approvalBy("bob", "uid:2", 2, 1), approvalBy("eve", "uid:3", 2, 1)
	but := func(a proposal.Approval, change func(*proposal.Approval)) proposal.Approval { change(&a); return a }
	other := but(bob, func(a *proposal.Approval) { a.ArtifactSHA256 = canon.Sum(nil) })
	revised := but(bob, func(a *proposal.Approval) { a.Void = "It was given before revision 2." })
	twice := but(other, func(a *proposal.Approval) { a.Void = revised.Void }) // the recorded reason counts
	legacy := but(bob, func(a *proposal.Approval) { a.Terms = proposal.Terms{} })
	moved := but(bob, func(a *proposal.Approval) { a.Account = "uid:1" })
	human := approvalBy("human", "", 1, 1) // given while no principal was bound
	one := policy(t)
	single := bound(t, "proposalsQuorum", "1")
	type given = []proposal.Approval
	for _, tt := range []struct {
		name       string
		policy     proposal.Policy
		given      given
		have, want int64
		grants     bool
		void       []string // a word of each
	}{
		{"nothing", bound(t), nil, 0, 2, false, nil},
		{"too few", bound(t), given{ada}, 1, 2, false, nil},
		{"enough", bound(t), given{ada, bob}, 2, 2, true, nil},
		{"one twice", bound(t), given{ada, approvalBy("ada", "uid:1", 2, 2)}, 1, 2, false, []string{"counts once"}},
		{"of other bytes", bound(t), given{ada, other}, 1, 2, false, []string{"another artifact"}},
		{"void already", bound(t), given{ada, revised}, 1, 2, false, []string{"revision 2"}},
		{"void already, of other bytes", bound(t), given{twice}, 0, 2, false, []string{"revision 2"}},
		{"role lost since", bound(t), given{ada, eve}, 1, 2, false, []string{"does not hold"}},
		{"not named any more", bound(t), given{ada, approvalBy("mallory", "uid:8", 2, 1)}, 1, 2, false,
			[]string{"bound to now"}},
		{"from the account of another", bound(t), given{ada, moved}, 1, 2, false, []string{"bound to now"}},
		{"while no principal was bound, by the name of one", bound(t), given{ada, human}, 1, 2, false,
			[]string{"bound to now"}},
		{"without the policy", bound(t), given{ada, legacy}, 1, 2, false, []string{"without the policy"}},
		{"without the policy, one is enough", one, given{legacy}, 0, 1, false, []string{"without the policy"}},
		{"no principal bound", one, given{human}, 1, 1, true, nil},
		{"no principal bound, two names", one, given{human, but(human, func(a *proposal.Approval) {
			a.Principal, a.ID = "agent", bob.ID
		})}, 1, 1, true, []string{"counts once"}},
		// Loosened: what was required when it was given is required still.
		{"one, when two were required", single, given{ada}, 1, 2, false, nil},
		{"two, when two were required", single, given{ada, bob}, 2, 2, true, nil},
		{"two, when two were required, and no principal is bound now", one, given{ada, bob}, 1, 2, false,
			[]string{"counts once"}},
		{"again, when one is required", single, given{ada, approvalBy("ada", "uid:1", 1, 2)}, 1, 1, true,
			[]string{"counts once"}},
		{"one when three were required, one now", single, given{approvalBy("bob", "uid:2", 3, 1),
			approvalBy("ada", "uid:1", 1, 2)}, 1, 1, true, []string{"3 approvals were required"}},
		{"three of different times", bound(t), given{approvalBy("ada", "uid:1", 3, 1), approvalBy("bob", "uid:2", 1, 1),
			approvalBy("human", "uid:4", 2, 1)}, 3, 3, true, nil},
		// Tightened: what is required now is required.
		{"one, when one was required", bound(t), given{approvalBy("ada", "uid:1", 1, 1)}, 1, 2, false, nil},
		{"another role is required now", bound(t, "proposalsApproverRole", "lead"), given{ada, bob}, 1, 2, false,
			[]string{`"lead" now`}},
	} {
		g := tt.policy.Gate(digest, tt.given)
		if g.Have != tt.have || g.Want != tt.want || g.Granted() != tt.grants || len(g.Approvals) != int(tt.have) ||
			len(g.Void) != len(tt.void) || (g.Err(about) == nil) != tt.grants {
			t.Errorf("%s: %+v, %v", tt.name, g, g.Err(about))
			continue
		}
		for i, word := range tt.void {
			if !strings.Contains(g.Void[i].Void, word) || !tt.grants && !strings.Contains(g.Err(about).Error(), word) {
				t.Errorf("%s: %q, %v", tt.name, g.Void[i].Void, g.Err(about))
			}
		}
	}
	if tt := (proposal.Policy{}); tt.Gate(digest, nil).Granted() {
		t.Error("the zero policy permits everything")
	}
}

func TestGateErrListsMissingApprovals(t *testing.T) {
	err := bound(t).Gate(digest, []proposal.Approval{approvalBy("eve", "uid:3", 2, 1)}).Err(about)
	f := fault.Of(err)
	if !fault.Is(err, fault.ProposalPending) || f.Details["have"] != int64(0) || f.Details["want"] != int64(2) ||
		f.Details["role"] != "reviewer" || len(f.Details["void"].([]proposal.VoidApproval)) != 1 ||
		!strings.Contains(f.Suggestion.String(), "waybill proposals approve "+about.String()) {
		t.Errorf("%v, %+v", err, f)
	}
	details, err := canon.Marshal(f.Details)
	if err != nil || strings.Contains(string(details), "eve") {
		t.Errorf("%s, %v", details, err)
	}
}

// TestConsent: a record names the account and the policy, not the name that the caller gave.
func TestConsent(t *testing.T) {
	p := bound(t)
	r := proposal.Approve(store, at(2), p.Consent(person(2), digest))
	if want := (proposal.Terms{Account: "uid:2", PolicyDigest: p.Digest, Quorum: 2}); r.Terms != want ||
		r.Principal != "bob" || r.Role != "reviewer" || r.ArtifactSHA256 != digest {
		t.Errorf("%+v", r)
	}
	unbound := policy(t)
	if c := unbound.Consent(person(2), digest); c.Principal != "human" || c.Terms.Account != "" ||
		c.Terms.PolicyDigest != (config.Config{}).PolicyDigest() || c.Terms.Quorum != 1 {
		t.Errorf("%+v", c)
	}
}

func TestPolicyOf(t *testing.T) {
	p := policy(t, "proposalsActivation", "direct-rbac", "proposalsApproverRole", "lead", "proposalsQuorum", "3")
	if p.Mode != proposal.DirectRBAC || p.ApproverRole != "lead" || p.Quorum != 3 {
		t.Errorf("%+v", p)
	}
	if d := policy(t); d.Mode != proposal.ApprovalGate || d.Quorum != 1 || d.Digest == p.Digest || d.Digest.IsZero() {
		t.Errorf("%+v", d)
	}
	// The order in which principals are listed has no effect.
	if a, b := bound(t), bound(t); !slices.Equal([]canon.Digest{a.Digest}, []canon.Digest{b.Digest}) {
		t.Error("equal settings have different digests")
	}
}
