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
	want := map[string]Principal{"Ada Lovelace": {Roles: []string{"reviewer", "lead"}}, "bob": {Roles: []string{}}}
	if !reflect.DeepEqual(c.Principals(), want) || c.Bound() {
		t.Errorf("principals %v, bound %v", c.Principals(), c.Bound())
	}
	if want := map[string][]string{"lead": {ScopeApply}}; !reflect.DeepEqual(c.Roles(), want) {
		t.Errorf("roles %v", c.Roles())
	}
}

// aKey is the fingerprint of an SSH key.
var aKey = "SHA256:" + strings.Repeat("A", 43)

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
		{"principals", `{"ada":{}}`, true},
		{"principals", `{"ada":{"roles":["a"],"uid":0,"keys":["` + aKey + `"]},"bob":["a"]}`, true},
		{"principals", `{"ada":{"uid":4294967294}}`, true},
		{"principals", `{"ada":{"uid":4294967295}}`, false},
		{"principals", `{"ada":{"uid":-1}}`, false},
		{"principals", `{"ada":{"uid":1.5}}`, false},
		{"principals", `{"ada":{"uid":"1000"}}`, false},
		{"principals", `{"ada":{"uid":null}}`, false},
		{"principals", `{"ada":{"roles":"reviewer"}}`, false},
		{"principals", `{"ada":{"roles":["a","a"]}}`, false},
		{"principals", `{"ada":{"role":["a"]}}`, false},
		{"principals", `{"ada":{"keys":"` + aKey + `"}}`, false},
		{"principals", `{"ada":{"keys":["` + aKey[7:] + `"]}}`, false},
		{"principals", `{"ada":{"keys":["MD5:` + aKey[7:] + `"]}}`, false},
		{"principals", `{"ada":{"keys":["` + aKey + `="]}}`, false},
		{"principals", `{"ada":{"keys":["` + aKey[:49] + `"]}}`, false},
		// The last character has two bits that no byte uses: another spelling of the same key.
		{"principals", `{"ada":{"keys":["` + aKey[:49] + `B"]}}`, false},
		{"principals", `{"ada":{"keys":["` + aKey + `","` + aKey + `"]}}`, false},
		{"principals", `{"ada":{"uid":5},"bob":{"uid":5}}`, false},
		{"principals", `{"ada":{"uid":5},"bob":{"uid":5.0}}`, false},
		{"principals", `{"ada":{"keys":["` + aKey + `"]},"bob":{"keys":["` + aKey + `"]}}`, false},
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

// A refusal says where the value is wrong, what is expected there and what came.
func TestPrincipalsRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`{"ada":{"uid":"root"}}`: `principals/ada/uid: expected the numeric id of an account, a whole number from 0 to ` +
			`4294967294, got "root"`,
		`{"ada":{"keys":["x"]}}`: `principals/ada/keys/0: expected the fingerprint of an SSH key, SHA256: and 43 ` +
			`characters of base64, got "x"`,
		`{"ada":{"uids":1}}`:                `principals/ada: expected only the members roles, uid and keys, got "uids"`,
		`{"ada":7}`:                         `principals/ada: expected a list of roles, or an object of roles, uid and keys, got 7`,
		`{"ada":{"uid":5},"bob":{"uid":5}}`: `principals/bob/uid: expected one that no other principal has, got 5, which "ada" has`,
		`{"ada":{"uid":"ghp_0123456789abcdefghijklmnopqrstuvwxyz"}}`: `got "[REDACTED:`,
	} {
		_, err := Config{}.With("principals", text)
		if f := fault.Of(err); f == nil || f.Code != fault.ConfigInvalid || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestPrincipalsAreBound(t *testing.T) {
	for text, bound := range map[string]bool{`{}`: false, `{"ada":["reviewer"]}`: false, `{"ada":{"roles":["a"]}}`: false,
		`{"ada":{"uid":0}}`: true, `{"ada":["a"],"bob":{"keys":["` + aKey + `"]}}`: true} {
		c, err := Config{}.With("principals", text)
		if err != nil || c.Bound() != bound {
			t.Errorf("%s: bound %v, %v", text, c.Bound(), err)
		}
		c, _ = c.With("proposalsQuorum", "2")
		err = c.CheckQuorum()
		if (err == nil) != bound || err != nil && (!fault.Is(err, fault.PrincipalsUnbound) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "config set principals")) {
			t.Errorf("%s: a quorum of 2: %v", text, err)
		}
		if c, _ = c.With("proposalsQuorum", "1"); c.CheckQuorum() != nil {
			t.Errorf("%s: a quorum of 1: %v", text, c.CheckQuorum())
		}
	}
	c, _ := Config{}.With("principals", `{"root":{"uid":0,"roles":["a"]},"bob":{"uid":12}}`)
	if p := c.Principals(); p["root"].Account != "uid:0" || p["bob"].Account != AccountOf(12) || len(p["bob"].Roles) != 0 {
		t.Errorf("%+v", c.Principals())
	}
}

func TestAccounts(t *testing.T) {
	for a, valid := range map[Account]bool{AccountOf(0): true, AccountOf(1000): true, AccountOf(-1): false, "": false,
		"uid:": false, "uid:01": false, "uid:-1": false, "1000": false, "uid:4294967295": false} {
		if a.Valid() != valid {
			t.Errorf("%q: valid %v", a, a.Valid())
		}
	}
}
