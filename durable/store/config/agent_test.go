package config

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

func TestAgentMayRefusesAutonomyAboveMaximum(t *testing.T) {
	tests := []struct {
		most    string // "" is the default
		wanted  event.Autonomy
		refused bool
	}{
		{"", "guided", false},
		{"", "full_auto_stop_on_user_deps", false},
		{"", "full_auto_never_stop", true},
		{"guided", "guided", false},
		{"guided", "full_auto_stop_on_user_deps", true},
		{"full_auto_never_stop", "full_auto_never_stop", false},
		{"guided", "", false},
		{"guided", "reckless", false}, // refused where preferences are applied
	}
	for _, tt := range tests {
		var c Config
		if tt.most != "" {
			var err error
			if c, err = Read(canon.OfMembers(canon.Member{Name: "agentMaxAutonomy",
				Value: canon.OfString(tt.most)})); err != nil {
				t.Fatal(err)
			}
		}
		err := c.CheckAgentAutonomy(tt.wanted)
		if (err != nil) != tt.refused {
			t.Errorf("most %q, wanted %q: %v", tt.most, tt.wanted, err)
		}
		if tt.refused && (!fault.Is(err, fault.ValidationError) ||
			!strings.Contains(err.Error(), string(c.AgentMaxAutonomy())) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "the user")) {
			t.Errorf("most %q, wanted %q: %v; %s", tt.most, tt.wanted, err, fault.Of(err).Suggestion.String())
		}
	}
}
