package runs_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/runs"
)

var updateTimeline = flag.Bool("update-timeline", false, "rewrite testdata/timeline.golden")

// samples returns the stored lines of package event's test data, at least one of each kind.
func samples(t *testing.T) (names []string, events []event.Event) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/events/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.Domain.DecodeLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		names, events = append(names, filepath.Base(f)), append(events, e)
	}
	return names, events
}

func TestTimelineDescribesEveryKind(t *testing.T) {
	names, events := samples(t)
	titles := map[string]string{}
	moments := runs.Timeline(events, func(n id.Node) runs.StepInfo {
		if titles[n.String()] == "" {
			titles[n.String()] = fmt.Sprintf("Step %d", len(titles)+1)
		}
		return runs.StepInfo{Title: titles[n.String()]}
	})
	var got strings.Builder
	var kinds []string
	for i, m := range moments {
		fmt.Fprintf(&got, "%-38s %s\n", names[i], m.Text)
		kinds = append(kinds, m.Kind)
		if strings.Contains(m.Text, "does not know") || strings.Contains(m.Text, "\n") || m.Text == "" ||
			m.Index != events[i].Index {
			t.Errorf("%s: %+v", names[i], m)
		}
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); !slices.Equal(kinds, event.Domain.Kinds()) {
		t.Errorf("kinds of the samples: %v, of the table: %v", kinds, event.Domain.Kinds())
	}
	const golden = "testdata/timeline.golden"
	if *updateTimeline {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != got.String() {
		t.Errorf("the texts changed (go test -update-timeline rewrites them):\n%s\nwant\n%s", got.String(), want)
	}
}

func TestTimelineDescribesUnknownKinds(t *testing.T) {
	line := `{"data":{"x":1},"eventId":"7","eventIndex":3,"kind":"tea_served","sessionId":"s","v":1}`
	e, err := event.Domain.DecodeLine([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	m := runs.Timeline([]event.Event{e}, func(id.Node) runs.StepInfo { return runs.StepInfo{} })[0]
	if m.Kind != "tea_served" || !strings.Contains(m.Text, "tea_served") || m.NodeID != nil {
		t.Errorf("got %+v", m)
	}
}

func TestTimelineSurvivesEmptyPayloads(t *testing.T) {
	for _, p := range []event.Payload{event.SessionCreated{}, event.RunStarted{}, event.NodeCreated{},
		event.EdgeCreated{}, event.AdvanceRecorded{},
		event.ContextSet{}, event.PreferencesChanged{}, event.NodeOutputAppended{}, event.GapRecorded{},
		event.DecisionTraceAppended{},
		event.CapabilityObserved{}, event.DivergenceRecorded{}, event.ObservationRecorded{}, event.GuardNoted{},
		event.RunCancelRequested{}, event.RunClosed{}, event.RunPaused{}, event.RunResumed{}, event.SessionHandedOver{}, event.SessionReclaimed{}} {
		if m := runs.Timeline([]event.Event{{Data: p}},
			func(id.Node) runs.StepInfo { return runs.StepInfo{} })[0]; m.Text == "" {
			t.Errorf("%s: no description", p.Kind())
		}
	}
}

// TestTimelineNamesLooseMatches: an attempt and a start say which values were taken for equal.
func TestTimelineNamesLooseMatches(t *testing.T) {
	warnings := []event.DecisionWarning{event.LooseMatch("risk", canon.OfString("High"), canon.OfString("high")),
		event.LooseMatch("n", canon.OfInt(3), canon.OfString("3"))}
	for _, data := range []event.Payload{
		event.RunStarted{WorkflowID: "w", Warnings: warnings},
		event.AdvanceRecorded{Outcome: event.AdvancedTo(id.Node{}), Warnings: warnings},
		event.AdvanceRecorded{Outcome: event.BlockedBy(reason.Report{Blockers: []reason.Blocker{{Message: "m"}}}),
			Warnings: warnings},
	} {
		entries := runs.Timeline([]event.Event{{Data: data}}, func(id.Node) runs.StepInfo { return runs.StepInfo{} })
		const want = ` (loosely: risk="high" matches risk="High"; n="3" matches n=3)`
		if len(entries) != 1 || !strings.HasSuffix(entries[0].Text, want) {
			t.Errorf("%+v", entries)
		}
	}
}
