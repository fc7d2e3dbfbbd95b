package engine_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/cron"
)

// scheduled is a store with one automation, which starts test.long every day at three.
type scheduled struct {
	*review
	key string // of the latest time
}

func newScheduled(t *testing.T, automationID string) scheduled {
	w := scheduled{review: newReview(t)}
	w.installs(w.propose(learning.ProposeRequest{Draft: drafted(t, proposal.Automation,
		fmt.Sprintf(`{"automationId":%q,"schedule":{"cron":"0 3 * * *"},"workflowId":"test.long"}`, automationID), "")}))
	w.clock += 1000 * 60 * 60 * 24 * 3
	w.key = w.row().StartKey
	return w
}

// row evaluates the automation three days later.
func (w scheduled) row() learning.AutomationRow {
	w.Helper()
	list, err := w.process().Automations(context.Background(), cron.Schedules{}, "", w.clock)
	if err != nil || len(list.Automations) != 1 {
		w.Fatalf("%+v, %v", list, err)
	}
	return list.Automations[0]
}

func TestAutomationsDueAreStartedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nightly", "n" + strings.Repeat("i", 127)} {
		w := newScheduled(t, name)
		if row := w.row(); !row.Due || row.Problem != "" || !row.SessionID.IsZero() {
			t.Fatalf("%+v", row)
		}
		a, err := w.keyed(longOne, w.key)
		if err != nil {
			t.Fatal(err)
		}
		if row := w.row(); row.Due || row.SessionID != a.Session.SessionID {
			t.Errorf("%+v", row)
		}
		// Deleted, it was started nevertheless.
		w.discard(a.Session.SessionID.String())
		if row := w.row(); row.Due || row.SessionID != a.Session.SessionID {
			t.Errorf("deleted: %+v", row)
		}
	}
}

// What an older version started for the time, under a key without the workflow, is not started again.
func TestAutomationsStartedByAnOlderVersion(t *testing.T) {
	t.Parallel()
	w := newScheduled(t, "nightly")
	old := strings.Replace(w.key, "/workflow:test.long", "", 1)
	if old == w.key {
		t.Fatalf("the key %q has no workflow", w.key)
	}
	a, err := w.keyed(longOne, old)
	if err != nil {
		t.Fatal(err)
	}
	if row := w.row(); row.Due || row.SessionID != a.Session.SessionID || row.Problem != "" {
		t.Errorf("%+v", row)
	}
}

// Another workflow that took a key does not pass for a run of the automation.
func TestAutomationsWhoseKeyIsTaken(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(scheduled){
		"by start": func(w scheduled) {
			if _, err := w.keyed(twoSteps, w.key); err != nil {
				t.Fatal(err)
			}
		},
		"by import": func(w scheduled) {
			attacker := w.counterpart()
			a, err := attacker.keyed(longOne, w.key)
			if err != nil {
				t.Fatal(err)
			}
			take(t, w.process(), export(t, attacker.g, a.Session.SessionID, 1), false)
		},
	} {
		w := newScheduled(t, "nightly")
		take(w)
		if row := w.row(); !row.Due || !row.SessionID.IsZero() || !strings.Contains(row.Problem, "start key") {
			t.Errorf("%s: %+v", name, row)
		}
		before := w.sessions()
		if _, err := w.keyed(longOne, w.key); !fault.Is(err, fault.StartKeyTaken) || w.sessions() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A key of the old form is not used again: nothing is prevented by taking it.
	w := newScheduled(t, "nightly")
	if _, err := w.keyed(twoSteps, strings.Replace(w.key, "/workflow:test.long", "", 1)); err != nil {
		t.Fatal(err)
	}
	if row := w.row(); !row.Due || row.Problem != "" {
		t.Errorf("%+v", row)
	}
	// A session of another workflow in the trash is no start either.
	w = newScheduled(t, "nightly")
	a, err := w.keyed(twoSteps, w.key)
	if err != nil {
		t.Fatal(err)
	}
	w.discard(a.Session.SessionID.String())
	if row := w.row(); !row.Due || row.Problem != "" {
		t.Errorf("%+v", row)
	}
}

// discard moves a session to the trash.
func (w scheduled) discard(ref string) {
	w.Helper()
	if _, err := w.process().DeleteSessions(context.Background(), w.by(),
		upkeep.DeleteRequest{Refs: []string{ref}, Reason: "r"}); err != nil {
		w.Fatal(err)
	}
}

// TestAutomationKeysAreReserved: no caller starts a run under a key of automations before the
// automation does; a run that is recorded under one is answered.
func TestAutomationKeysAreReserved(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	start := func(key string) (engine.Answer, error) {
		w.seeds++
		return w.process().Start(context.Background(), w.by(), id.Seed{w.seeds}, engine.Start{Key: key,
			Workflow: w.compiled(longOne), SourceKind: event.SourceProject, SourceRef: "w.json"})
	}
	const key = "automation/nightly/2026-01-01T03:00:00Z/workflow:test.long"
	if _, err := start(key); !fault.Is(err, fault.UsageError) || fault.ExitOf(err) != fault.ExitUsage {
		t.Errorf("%v", err)
	}
	if found, err := os.ReadDir(w.dir); err == nil && len(found) > 0 {
		t.Errorf("the refused start left %v", found)
	}
	a, err := w.keyed(longOne, key) // by the automation, or by an older version
	if err != nil {
		t.Fatal(err)
	}
	if b, err := start(key); err != nil || b.Session.RunID != a.Session.RunID {
		t.Errorf("a recorded key: %v", err)
	}
	if _, err := start("automations/x"); err != nil {
		t.Errorf("a key that only looks alike: %v", err)
	}
}
