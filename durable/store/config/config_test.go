package config

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

func TestDefaultsAreValid(t *testing.T) {
	for _, row := range Table {
		if row.check(row.Default) != nil || row.Meaning == "" || row.Want == "" {
			t.Errorf("%s: the default is not valid, or meaning or want is missing", row.Key)
		}
	}
	var c Config
	if c.RetentionDays() != 90 || c.TrashDays() != 30 {
		t.Errorf("the zero Config keeps for %d days, and %d in the trash", c.RetentionDays(), c.TrashDays())
	}
	if c.AgentMaxAutonomy() != event.FullAutoStopOnUserDeps || c.LockWaitMs() != 2000 {
		t.Errorf("the zero Config gives %s and %d", c.AgentMaxAutonomy(), c.LockWaitMs())
	}
}

func TestWithReadWithout(t *testing.T) {
	c, err := Config{}.With("lockWaitMs", "50")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(c.Data())
	if err != nil || again.LockWaitMs() != 50 {
		t.Fatalf("read back %d, %v", again.LockWaitMs(), err)
	}
	if s, _ := again.Get("lockWaitMs"); !s.Set {
		t.Error("a key that was set reads as a default")
	}
	again, err = again.Without("lockWaitMs")
	if err != nil || again.LockWaitMs() != 2000 {
		t.Fatalf("after Without: %d, %v", again.LockWaitMs(), err)
	}
}

func TestWithRefusesInvalidValues(t *testing.T) {
	for _, bad := range [][2]string{{"lockWaitMs", "-1"}, {"lockWaitMs", "1.5"}, {"lockWaitMs", "soon"},
		{"lockWaitMs", "600001"}, {"retentionDays", "36501"}, {"trashDays", "-1"}, {"retentionDays", "1.5"},
		{"agentMaxAutonomy", "total"}, {"agentMaxAutonomy", "3"}, {"agentMaxAutonomy", ""},
		{"AgentMaxAutonomy", "guided"}, {"nothing", "1"}} {
		_, err := Config{}.With(bad[0], bad[1])
		f := fault.Of(err)
		if f == nil || f.Code != fault.ConfigInvalid || fault.ExitOf(err) != fault.ExitUsage {
			t.Errorf("%s=%s: %v", bad[0], bad[1], err)
			continue
		}
		if bad[0] == "nothing" &&
			!strings.Contains(f.Suggestion.String(),
				"agentMaxAutonomy, autonomy, feedback, identity, lockWaitMs, notify, principals, proposals, proposalsActivation, "+
					"proposalsApproverRole, proposalsQuorum, retentionDays, riskPolicy, roles, signers, signersRequire and "+
					"trashDays") {
			t.Errorf("the suggestion for an unknown key does not list the keys: %s", f.Suggestion.String())
		}
	}
}

func TestReadKeepsUnknownKeysAndRefusesInvalidValues(t *testing.T) {
	newer := canon.OfMembers(canon.Member{Name: "tomorrow", Value: canon.OfInt(1)})
	c, err := Read(newer)
	if err != nil {
		t.Fatal(err)
	}
	c, _ = c.With("lockWaitMs", "1")
	if v, ok := c.Data().Get("tomorrow"); !ok || v.Float() != 1 {
		t.Error("setting a key removed an unknown key")
	}
	if _, err := Read(canon.OfMembers(canon.Member{Name: "agentMaxAutonomy",
		Value: canon.OfString("total")})); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("an invalid stored value: %v", err)
	}
	if _, err := Read(canon.OfList()); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("a list: %v", err)
	}
}
