package runs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// foreignEvent returns an event of a kind that is not in the table.
func foreignEvent(t *testing.T, kind, data string) event.Event {
	t.Helper()
	e, err := event.Domain.DecodeLine(fmt.Appendf(nil,
		`{"data":%s,"eventId":"7","eventIndex":3,"kind":%q,"scope":{"runId":%q},"sessionId":"s","v":1}`, data, kind,
		id.NewRun(id.Seed{1})))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTimelineDescribesForeignKinds(t *testing.T) {
	for _, tt := range []struct{ kind, data, want string }{
		{"validation_performed", `{"contractRef":"tea","result":{"valid":false,"issues":["too weak","cold"]}}`,
			"Submitted outputs were checked against tea: too weak (and 1 more)"},
		{"validation_performed", `{"contractRef":"none","result":{"valid":true,"issues":[]}}`,
			"Submitted outputs were checked: valid"},
		{"validation_performed", `{}`, "Submitted outputs were checked: not valid"},
		{"assessment_recorded",
			`{"assessmentId":"taste","dimensions":[{"dimensionId":"heat","level":"low"},{"dimensionId":"body","level":"high"}],"summary":"Fine."}`,
			"Assessment “taste”: heat low, body high. Fine."},
		{"assessment_consequence_applied",
			`{"assessmentId":"taste","trigger":{"dimensionId":"heat","level":"low"},"effect":{"kind":"require_followup","guidance":"Heat it."}}`,
			"Assessment “taste” has “heat” at “low”, so a follow-up is required: Heat it."},
		{"run_completed", `{"durationMs":2450,"agentCommitShas":["a","b"]}`,
			"The run ended after 2.5 s, with 2 commits"},
		{"run_completed", `{}`, "The run ended"},
		{"delivery_recorded", `{"shas":["a"],"prUrl":"https://example.org/1"}`,
			"The result was delivered, with 1 commit: https://example.org/1"},
		{"review_draft_submitted", `{"reviewId":1,"prUrl":"https://example.org/2","submittedAt":"now"}`,
			"The draft of the review was submitted: https://example.org/2"},
		{"usage_recorded", `{"client":"kettle","model":null,"inputTokens":1,"outputTokens":20,"turns":3}`,
			"Usage of kettle: 1 token in, 20 tokens out, 3 turns"},
		{"token_checkpoint", `{"phase":"start","inputTokens":5,"outputTokens":0,"turns":1}`,
			"Usage so far, at the start: 5 tokens in, 0 tokens out, 1 turn"},
		{"git_start_recorded", `{"repoRoot":"/x","stagedFiles":1,"unstagedFiles":2}`,
			"Working tree at the start: 1 staged file, 2 unstaged files"},
		{"git_metrics_recorded",
			`{"filesChanged":2,"linesAdded":1,"linesRemoved":null,"commitShas":["a"],"truncated":true}`,
			"Changes in the repository: 2 files, 1 line added, 1 commit (truncated)"},
		{"git_metrics_recorded", `{"filesChanged":"two","commitShas":7}`,
			"Changes in the repository: no known values"},
		{"tea_served", `{}`, "Event of kind “tea_served”, unknown to this version"},
	} {
		m := runs.Timeline([]event.Event{foreignEvent(t, tt.kind, tt.data)},
			func(id.Node) runs.StepInfo { return runs.StepInfo{} })[0]
		if m.Text != tt.want || !m.Foreign || m.Kind != tt.kind {
			t.Errorf("%s is described as %q, want %q", tt.kind, m.Text, tt.want)
		}
	}
	for _, kind := range []string{"validation_performed", "assessment_recorded", "usage_recorded"} {
		for _, data := range []string{`null`, `[]`, `"x"`, `{"result":[],"dimensions":{},"issues":[1]}`} {
			if m := runs.Timeline([]event.Event{foreignEvent(t, kind, data)},
				func(id.Node) runs.StepInfo { return runs.StepInfo{} })[0]; m.Text == "" {
				t.Errorf("%s of %s: no description", kind, data)
			}
		}
	}
}

// asForeign returns e as another program would write it: an id in its data has another form.
func asForeign(t *testing.T, e event.Event, changes ...string) event.Event {
	t.Helper()
	line, err := event.Domain.AppendLine(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(changes...).Replace(strings.TrimSuffix(string(line), "\n"))
	out, err := event.Domain.DecodeLine([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, unknown := out.Data.(event.Unknown); !unknown {
		t.Fatalf("%s is not foreign", text)
	}
	return out
}

// The known part of another program's events is folded; ignorable events are not, since a log with
// such events may be healthy and written to.
func TestFoldReadsKnownPartsOfForeignEvents(t *testing.T) {
	for _, ignorable := range []bool{false, true} {
		d := newDriver(t, gated)
		root := d.r().Root
		origin := id.FromAttempt(id.NextAttempt(root, id.OpAck, 7), id.OpAck)
		at := event.Scope{RunID: d.run, NodeID: root}
		add := func(p event.Payload, changes ...string) {
			e := event.New(d.fold.ID, d.fold.Next, at, event.Actor{Kind: event.Engine}, 0, p)
			e.Ignorable = ignorable
			d.fold.Apply(asForeign(t, e, changes...))
		}
		add(event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
			Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "hot"}}, origin.Output(0).
			String(), "out_1")
		add(event.PreferencesChanged{ChangeID: origin.Change(0), Source: event.FromUser,
			Delta:     []event.PreferenceChange{{Key: "autonomy", Value: "full_auto_never_stop"}},
			Effective: event.Preferences{Autonomy: event.FullAutoNeverStop, RiskPolicy: event.Conservative}},
			origin.Change(0).String(), "chg_1")
		gap := event.GapRecorded{GapID: origin.Gap(0), Severity: event.Critical, Summary: "s",
			Resolution: event.Resolution{Kind: event.Unresolved}}
		add(gap, origin.Gap(0).String(), "gap_1")
		add(gap, origin.Gap(0).String(), "gap_2")
		first := origin.Gap(1)
		add(event.GapRecorded{GapID: origin.Gap(0), Severity: event.Info, Summary: "s",
			Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: &first}},
			origin.Gap(0).String(), "gap_3", first.String(), "gap_1")

		n := d.r().Node(root)
		recap, has := n.Recap()
		if has == ignorable || has && recap.Payload.NotesMarkdown != "hot" ||
			(n.Preferences.Autonomy == event.FullAutoNeverStop) == ignorable {
			t.Errorf("ignorable %v: recap %+v, %+v", ignorable, recap, n.Preferences)
		}
		if open := len(n.OpenGaps); ignorable && open != 0 || !ignorable &&
			(open != 1 || n.OpenGaps[0].IDText() != "gap_2") {
			t.Errorf("ignorable %v: open %+v", ignorable, n.OpenGaps)
		}
		// A log with such an event is never written to, so its fold is not saved.
		if _, err := json.Marshal(n); (err == nil) != ignorable {
			t.Errorf("ignorable %v: marshals with %v", ignorable, err)
		}
	}
}
