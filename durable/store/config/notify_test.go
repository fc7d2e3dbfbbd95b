package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

func TestNotify(t *testing.T) {
	c, err := Config{}.With("notify", `["/opt/tell","a b","$(x)"]`)
	if want := []string{"/opt/tell", "a b", "$(x)"}; err != nil || !slices.Equal(c.Notify(), want) {
		t.Errorf("%q, %v", c.Notify(), err)
	}
	if c.PolicyDigest() == (Config{}).PolicyDigest() || len((Config{}).Notify()) != 0 {
		t.Error("the command is no setting of the policy, or has a default")
	}
	if !IsPolicyChange(Notify, c, Config{}) {
		t.Error("the command is removed without a person")
	}
	for _, good := range []string{`[]`, `["notify-send"]`, `["C:\\tell.exe"]`, `["\\\\host\\tell.exe"]`} {
		if _, err := (Config{}).With("notify", good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	long, many := strings.Repeat("x", 1025), strings.Repeat(`"x",`, 32)
	for bad, want := range map[string]string{
		`notify-send`:       "expected a list",
		`{"0":"x"}`:         "expected a list",
		`[""]`:              "notify/0: expected a text that is not empty",
		`["x",7]`:           "notify/1: expected a text",
		`["x","a\u0000"]`:   "without the character NUL",
		`["` + long + `"]`:  "at most 1024 bytes",
		`[` + many + `"x"]`: "at most 32 texts, got 33",
		`["./tell"]`:        "absolute path",
		`["bin/tell"]`:      "absolute path",
		`["..\\tell"]`:      "absolute path",
		`["tell","ghp_` + strings.Repeat("a1", 18) + `"]`: "no secret",
	} {
		_, err := Config{}.With("notify", bad)
		if !fault.Is(err, fault.ConfigInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", bad, err, want)
		}
		if v, parse := canon.Parse([]byte(bad)); parse == nil {
			if _, err := Read(canon.OfMembers(canon.Member{Name: "notify", Value: v})); !fault.Is(err, fault.ConfigInvalid) {
				t.Errorf("stored %.60s: %v", bad, err)
			}
		}
	}
}
