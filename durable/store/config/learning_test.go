package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

func TestLearningDefaults(t *testing.T) {
	var c Config
	if !c.Feedback() || !c.Proposals() || c.ProposalsActivation() != ViaApprovalGate ||
		c.ProposalsApproverRole() != "reviewer" || c.ProposalsQuorum() != 1 ||
		len(c.Principals()) != 0 || len(c.Roles()) != 0 {
		t.Errorf("the zero Config gives %v %v %s %s %d %v %v", c.Feedback(), c.Proposals(), c.ProposalsActivation(),
			c.ProposalsApproverRole(),
			c.ProposalsQuorum(), c.Principals(), c.Roles())
	}
}

func TestLearningKeysRoundTrip(t *testing.T) {
	var c Config
	for key, text := range map[string]string{"feedback": "off", "proposals": `"off"`,
		"proposalsActivation": "direct-rbac", "proposalsApproverRole": "team:lead",
		"proposalsQuorum": "100", "principals": `{"Ada Lovelace":["reviewer","lead"],"bob":[]}`,
		"roles": `{"lead":["proposals:apply"]}`} {
		var err error
		if c, err = c.With(key, text); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(c.Data())
	if err != nil || c.Feedback() || c.Proposals() || c.ProposalsActivation() != ViaDirectRBAC ||
		c.ProposalsApproverRole() != "team:lead" || c.ProposalsQuorum() != 100 {
		t.Errorf("%v: %s", err, c.Data().JCS())
	}
	if want := map[string][]string{"Ada Lovelace": {"reviewer", "lead"}, "bob": {}}; !reflect.DeepEqual(c.Principals(),
		want) {
		t.Errorf("principals %v", c.Principals())
	}
	if want := map[string][]string{"lead": {ScopeApply}}; !reflect.DeepEqual(c.Roles(), want) {
		t.Errorf("roles %v", c.Roles())
	}
}

// crowd returns an object of n valid members.
func crowd(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"p%d":[]`, i)
	}
	return "{" + strings.Join(names, ",") + "}"
}

func TestLearningKeyChecks(t *testing.T) {
	long := strings.Repeat("r", limits.ActorRefMax)
	for _, tt := range []struct {
		key, text string
		ok        bool
	}{
		{"feedback", "on", true},
		{"feedback", "yes", false},
		{"feedback", "true", false},
		{"proposals", "", false},
		{"proposalsActivation", "approval-gate", true},
		{"proposalsActivation", "none", false},
		{"proposalsApproverRole", "a" + strings.Repeat("-", 63), true},
		{"proposalsApproverRole", "a" + strings.Repeat("-", 64), false},
		{"proposalsApproverRole", "Reviewer", false},
		{"proposalsApproverRole", "a b", false},
		{"proposalsApproverRole", `"a\n"`, false},
		{"proposalsApproverRole", "", false},
		{"proposalsApproverRole", "1", false},
		{"proposalsQuorum", "1", true},
		{"proposalsQuorum", "0", false},
		{"proposalsQuorum", "101", false},
		{"proposalsQuorum", "1.5", false},
		{"principals", `{}`, true},
		{"principals", `{"` + long + `":["a"]}`, true},
		{"principals", `{"` + long + `x":["a"]}`, false},
		{"principals", `{"":["a"]}`, false},
		{"principals", `{"ada":["Reviewer"]}`, false},
		{"principals", `{"ada":["a","a"]}`, false},
		{"principals", `{"ada":"reviewer"}`, false},
		{"principals", `{"ada":[1]}`, false},
		{"principals", `[]`, false},
		{"principals", `ada`, false},
		{"principals", crowd(limits.PrincipalsMax), true},
		{"principals", crowd(limits.PrincipalsMax + 1), false},
		{"roles", `{"lead":["proposals:apply","anything_else"]}`, true},
		{"roles", `{"The Lead":["proposals:apply"]}`, false},
		{"roles", `{"lead":["proposals apply"]}`, false},
	} {
		_, err := Config{}.With(tt.key, tt.text)
		if (err == nil) != tt.ok {
			t.Errorf("%s = %.60s: %v", tt.key, tt.text, err)
		}
		if err != nil && (!fault.Is(err, fault.ConfigInvalid) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "Give ")) {
			t.Errorf("%s = %.60s: %v", tt.key, tt.text, err)
		}
	}
}

// An invalid stored quorum is refused: continuing with the default could require fewer approvals
// than the user configured.
func TestReadRefusesInvalidQuorum(t *testing.T) {
	if _, err := Read(canon.OfMembers(canon.Member{Name: "proposalsQuorum", Value: canon.OfInt(0)})); !fault.Is(err,
		fault.ConfigInvalid) {
		t.Error(err)
	}
}
