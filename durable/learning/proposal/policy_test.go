package proposal_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
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

func named(t testing.TB) proposal.Policy {
	return policy(t, "principals",
		`{"ada":["reviewer"],"bob":["lead","reviewer"],"eve":[],"human":["reviewer"],"robot":["lead"]}`,
		"roles", `{"lead":["proposals:apply","proposals:override"],"reviewer":["other"]}`, "proposalsQuorum", "2")
}

func person(ref string) proposal.Principal {
	return proposal.Principal{Ref: ref, Human: true, AtTerminal: true}
}

func TestRolesAndScopes(t *testing.T) {
	unnamed, some := policy(t), named(t)
	agent := func(ref string) proposal.Principal {
		return proposal.PrincipalOf(event.Actor{Kind: event.Agent, Ref: ref}, true)
	}
	for _, tt := range []struct {
		name       string
		policy     proposal.Policy
		who        proposal.Principal
		holds, may bool
	}{
		{"the person at a terminal, no principals named", unnamed, person("ada"), true, true},
		{"without a name, no principals named", unnamed, person(""), true, true},
		{"a person elsewhere, no principals named", unnamed, proposal.Principal{Ref: "ada", Human: true}, false, false},
		{"an agent at a terminal, no principals named", unnamed, agent("ada"), false, false},
		{"named with the role", some, person("ada"), true, false},
		{"named with both", some, person("bob"), true, true},
		{"named with nothing", some, person("eve"), false, false},
		{"not named", some, person("mallory"), false, false},
		{"without a name", some, person(""), true, false}, // as "human"
		{"an agent without a name", some, agent(""), false, false},
		{"an agent with the scope", some, agent("robot"), false, true},
	} {
		if holds, may := tt.policy.Holds(tt.who, "reviewer"),
			tt.policy.May(tt.who, config.ScopeApply); holds != tt.holds || may != tt.may {
			t.Errorf("%s: holds %v, may %v", tt.name, holds, may)
		}
	}
}

func TestRefusalsNameRoleAndHolders(t *testing.T) {
	unnamed, some := policy(t), named(t)
	elsewhere := proposal.Principal{Ref: "bob", Human: true}
	lonely := policy(t, "principals", `{"ada":["reviewer"]}`)
	for _, tt := range []struct {
		name    string
		err     error
		details map[string]any
		suggest string
	}{
		{"approve", some.CheckApprove(person("eve")), map[string]any{"role": "reviewer", "principal": "eve",
			"holders": []string{"ada", "bob", "human"}, "roles": []string{"reviewer"}}, "Ask ada or bob or human."},
		{"approve from elsewhere", some.CheckApprove(elsewhere), map[string]any{"role": "reviewer", "principal": "bob"},
			"Ask ada"},
		{"approve, no principals named", unnamed.CheckApprove(elsewhere),
			map[string]any{"role": "reviewer", "holders": []string{}}, "at the terminal"},
		{"apply", some.CheckScope(person("ada"), config.ScopeApply),
			map[string]any{"scope": "proposals:apply", "principal": "ada", "holders": []string{"bob", "robot"},
				"roles": []string{"lead"}}, "Ask bob or robot."},
		{"apply without a name", some.CheckScope(person(""), config.ScopeApply), map[string]any{"principal": "human"},
			"--as"},
		{"apply, no principal may", lonely.CheckScope(person("ada"), config.ScopeApply),
			map[string]any{"holders": []string{}, "roles": []string{}}, "waybill config set"},
		{"override", some.CheckOverride(person("ada"), "r"),
			map[string]any{"scope": "proposals:override", "principal": "ada", "roles": []string{"lead"}}, "Ask bob"},
		{"override from elsewhere", some.CheckOverride(elsewhere, "r"),
			map[string]any{"scope": "proposals:override", "principal": "bob"}, ""},
	} {
		f := fault.Of(tt.err)
		if f == nil || f.Code != fault.ProposalForbidden || !strings.Contains(f.Suggestion.String(), tt.suggest) {
			t.Errorf("%s: %v, %v", tt.name, tt.err, f)
			continue
		}
		for name, want := range tt.details {
			if !reflect.DeepEqual(f.Details[name], want) {
				t.Errorf("%s: %s is %v, want %v", tt.name, name, f.Details[name], want)
			}
		}
		if _, err := canon.Marshal(f.Details); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for name, err := range map[string]error{"approve": some.CheckApprove(person("ada")),
		"apply":               some.CheckScope(person("bob"), config.ScopeApply),
		"override":            some.CheckOverride(person("bob"), "it burns"),
		"no principals named": unnamed.CheckOverride(person(""), "it burns")} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := some.CheckOverride(person("bob"), " "); !fault.Is(err, fault.ValidationError) ||
		fault.Of(err).Details["field"] != "reason" {
		t.Error(err)
	}
}

func approvalBy(principal string, n byte) proposal.Approval {
	return proposal.Approval{ID: id.EventOf("log", principal+string(n)), ArtifactSHA256: digest, Principal: principal,
		Role: "reviewer"}
}

func TestGate(t *testing.T) {
	other := approvalBy("bob", 1)
	other.ArtifactSHA256 = canon.Sum(nil)
	revised := approvalBy("bob", 1)
	revised.Void = "It was given before revision 2."
	twice := other // void, and of other bytes as well: the recorded reason counts
	twice.Void = revised.Void
	one := policy(t)
	for _, tt := range []struct {
		name   string
		policy proposal.Policy
		given  []proposal.Approval
		have   int64
		grants bool
		void   []string // a word of each
	}{
		{"nothing", named(t), nil, 0, false, nil},
		{"too few", named(t), []proposal.Approval{approvalBy("ada", 1)}, 1, false, nil},
		{"enough", named(t), []proposal.Approval{approvalBy("ada", 1), approvalBy("bob", 1)}, 2, true, nil},
		{"one twice", named(t), []proposal.Approval{approvalBy("ada", 1), approvalBy("ada", 2)}, 1, false,
			[]string{"counts once"}},
		{"of other bytes", named(t), []proposal.Approval{approvalBy("ada", 1), other}, 1, false,
			[]string{"another artifact"}},
		{"void already", named(t), []proposal.Approval{approvalBy("ada", 1), revised}, 1, false,
			[]string{"revision 2"}},
		{"void already, of other bytes", named(t), []proposal.Approval{twice}, 0, false, []string{"revision 2"}},
		{"role lost since", named(t), []proposal.Approval{approvalBy("ada", 1), approvalBy("eve", 1)}, 1, false,
			[]string{"does not hold"}},
		{"not named any more", named(t), []proposal.Approval{approvalBy("ada", 1), approvalBy("mallory", 1)}, 1, false,
			[]string{"mallory"}},
		{"no principals named", one, []proposal.Approval{approvalBy("human", 1)}, 1, true, nil},
	} {
		g := tt.policy.Gate(digest, tt.given)
		if g.Have != tt.have || g.Granted() != tt.grants || len(g.Approvals) != int(tt.have) ||
			len(g.Void) != len(tt.void) || (g.Err(about) == nil) != tt.grants {
			t.Errorf("%s: %+v, %v", tt.name, g, g.Err(about))
			continue
		}
		for i, word := range tt.void {
			if !strings.Contains(g.Void[i].Void, word) || !strings.Contains(g.Err(about).Error(), word) {
				t.Errorf("%s: %q, %v", tt.name, g.Void[i].Void, g.Err(about))
			}
		}
	}
	if tt := (proposal.Policy{}); tt.Gate(digest, nil).Granted() {
		t.Error("the zero policy permits everything")
	}
}

func TestGateErrListsMissingApprovals(t *testing.T) {
	err := named(t).Gate(digest, []proposal.Approval{approvalBy("eve", 1)}).Err(about)
	f := fault.Of(err)
	if !fault.Is(err, fault.ProposalPending) || f.Details["have"] != int64(0) || f.Details["want"] != int64(2) ||
		f.Details["role"] != "reviewer" ||
		len(f.Details["void"].([]proposal.Approval)) != 1 ||
		!strings.Contains(f.Suggestion.String(), "waybill proposals approve "+about.String()) {
		t.Errorf("%v, %+v", err, f)
	}
	if _, err := canon.Marshal(f.Details); err != nil {
		t.Error(err)
	}
}

func TestPolicyOf(t *testing.T) {
	p := policy(t, "proposalsActivation", "direct-rbac", "proposalsApproverRole", "lead", "proposalsQuorum", "3")
	if p.Mode != proposal.DirectRBAC || p.ApproverRole != "lead" || p.Quorum != 3 {
		t.Errorf("%+v", p)
	}
	if d := policy(t); d.Mode != proposal.ApprovalGate || d.Quorum != 1 {
		t.Errorf("%+v", d)
	}
}
