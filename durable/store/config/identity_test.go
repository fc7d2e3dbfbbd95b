package config

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

func TestIdentityIsTheFirstThatCanBeRecorded(t *testing.T) {
	long := strings.Repeat("x", 120)
	for _, c := range []struct {
		machine Names
		want    string
	}{
		{Names{"Ada", "ada@example.org", "root"}, "Ada <ada@example.org>"},
		{Names{"", "ada@example.org", "root"}, "<ada@example.org>"},
		{Names{"Ada", "", "root"}, "Ada"},
		{Names{"", "", "root"}, "root"},
		{Names{}, ""},
		{Names{" Ada\n\tLovelace\u202e\x1b ", "", "root"}, "Ada Lovelace"},
		{Names{long, "ada@example.org", "root"}, long}, // too long together
		{Names{long + long, "", "root"}, "root"},
		{Names{"Ada \xff", "", "root"}, "Ada"},
		{Names{"ghp_" + strings.Repeat("a1", 18), "", "root"}, "root"},
		{Names{"", "", "\x07"}, ""},
	} {
		if got := (Config{}).Identity(func() Names { return c.machine }); got != c.want {
			t.Errorf("%+q: %q, want %q", c.machine, got, c.want)
		}
	}
	c, err := Config{}.With("identity", "Build host")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Identity(func() Names { t.Error("the machine was asked"); return Names{} }); got != "Build host" {
		t.Error(got)
	}
	for _, bad := range []string{"a\nb", " a", strings.Repeat("x", 129), "\u200b", "7", "ghp_" + strings.Repeat("a1", 18)} {
		if _, err := (Config{}).With("identity", bad); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestStorePreferences(t *testing.T) {
	read := func(members ...canon.Member) Config {
		c, err := Read(canon.OfMembers(members...))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	text := func(key Key, v string) canon.Member { return canon.Member{Name: string(key), Value: canon.OfString(v)} }
	never := text(Autonomy, "full_auto_never_stop")
	for _, c := range []struct {
		config  Config
		byAgent bool
		want    event.Preferences
	}{
		{read(), false, event.DefaultPreferences()},
		{read(never, text(RiskPolicy, "balanced")), false, event.Preferences{Autonomy: event.FullAutoNeverStop,
			RiskPolicy: event.Balanced}},
		{read(never), true, event.Preferences{Autonomy: event.FullAutoStopOnUserDeps, RiskPolicy: event.Conservative}},
		{read(never, text(AgentMaxAutonomy, "guided")), true, event.DefaultPreferences()},
		{read(never, text(AgentMaxAutonomy, "full_auto_never_stop")), true, event.Preferences{
			Autonomy: event.FullAutoNeverStop, RiskPolicy: event.Conservative}},
	} {
		if got := c.config.Preferences(c.byAgent); got != c.want {
			t.Errorf("%s, by an agent %v: %v, want %v", c.config.Data().JCS(), c.byAgent, got, c.want)
		}
	}
	// Only the level that does not wait for a person belongs to the policy.
	stops := read(text(Autonomy, "full_auto_stop_on_user_deps"), text(RiskPolicy, "aggressive"), text(Identity, "x"))
	if stops.PolicyDigest() != read().PolicyDigest() || read(never).PolicyDigest() == read().PolicyDigest() {
		t.Error("the policy has the wrong settings")
	}
	if !IsPolicyChange(Autonomy, read(never), read()) || !IsPolicyChange(Autonomy, read(), read(never)) ||
		IsPolicyChange(Autonomy, read(), stops) || !IsPolicyChange(Roles, read(), read()) {
		t.Error("the wrong changes concern the policy")
	}
}
