package engine_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// base is a scenario that has one of everything; its last line is replaced by the line that is
// tried.
const base = `workflow
  recommendedPreferences: {recommendedAutonomy: guided}
  inputs:
  - {contextKey: ticket, reason: needs_user_artifact, description: The ticket.}
  steps:
  - id: one
    prompt: Look at {{ticket}}.
    requireConfirmation: true
  - id: two
scenario s
when start
call it A
when ack
  notes half
  artifact {"kind":"wr.capability_observation","capability":"delegation","result":"success"}
  context {"area":"x"}
  preferences riskPolicy=balanced
then blocked
  USER_ONLY_DEPENDENCY context_key:ticket
call it B
when again
then blocked
  USER_ONLY_DEPENDENCY context_key:ticket
`

// each word that a then line can begin with, a line that is right after base, and one that is
// wrong.
var sayings = []struct{ right, wrong string }{
	{"pending one", "pending two"},
	{"blocked\n  USER_ONLY_DEPENDENCY context_key:ticket | The ticket.",
		"blocked\n  USER_ONLY_DEPENDENCY context_key:tickets"},
	{"blocked\n  USER_ONLY_DEPENDENCY context_key:ticket",
		"blocked\n  USER_ONLY_DEPENDENCY context_key:ticket | absent"},
	{"blocked\n  USER_ONLY_DEPENDENCY context_key:ticket", "blocked none"},
	{"status blocked", "status in_progress"},
	{"run blocked openCriticalGaps=1", "run blocked"},
	{"gaps\n  critical user_only_dependency:needs_user_artifact context_key:ticket",
		"gaps\n  warning user_only_dependency:needs_user_artifact context_key:ticket"},
	{"gaps on the path\n  critical user_only_dependency:needs_user_artifact context_key:ticket",
		"gaps on the path none"},
	{"events none", "events gap_recorded"},
	{"trace none", "trace\n  selected_next_step step:one"},
	{"warnings\n  VARIABLE_ABSENT | ticket", "warnings none"},
	{"intent await_user_confirmation", "intent complete"},
	{`context {"area":"x"}`, `context {"area":"y"}`},
	{"preferences guided balanced", "preferences guided conservative"},
	{"capabilities delegation=available", "capabilities none"},
	{"prompt has {{ticket}}", "prompt lacks {{ticket}}"},
	{"prompt has {{ticket}}", "prompt has T-1"},
	{"recap lacks half", "recap has half"}, // an attempt's answer brings none
	{`answer has "ackToken"`, "answer lacks ticket"},
	{"outputs\n  notes | half\n  wr.capability_observation", "outputs\n  notes | whole\n  wr.capability_observation"},
	{"outputs at A\n  notes\n  wr.capability_observation", "outputs at A none"},
	{"completed none", "completed one"},
	{"progress 0 of 2", "progress 1 of 2"},
	{"asks ticket", "asks none"},
	{"same as B", "same as A"},
	{"phases decide", "phases read decide"}, // of a store in memory, whose reads are not measured
	{"settings as at A", "settings as at nothing"},
	{"settings none", "settings\n  retentionDays 90 -> 30"},
	{"settings\n  agentMaxAutonomy \"full_auto_stop_on_user_deps\" -> \"guided\"", "settings none"},
	// These are about the call before.
	{"cause intentional_fork by advance_recorded", "cause non_tip_advance by advance_recorded"},
	{`event advance_recorded "kind":"advanced"`, `event advance_recorded "kind":"blocked"`},
	{"event node_created \"nodeKind\":\"step\"", "event run_closed \"outcome\""},
	{"trace\n  selected_next_step step:two", "trace\n  selected_next_step step:one"},
	{"events advance_recorded context_set decision_trace_appended gap_recorded node_created edge_created",
		"events advance_recorded"},
	{"complete", "pending two"},
	{"refused VALIDATION_ERROR | reserved", "refused VALIDATION_ERROR | too long"},
	{"refused VALIDATION_ERROR", "refused SESSION_LOCKED"},
	{"refused VALIDATION_ERROR", "pending two"},
}

// before is what has to precede a line for it to be right.
func before(right string) string {
	advance := "when ack context {\"ticket\":\"T-1\"}\n"
	switch word, _, _ := strings.Cut(right, " "); {
	case word == "complete":
		return advance + "when ack\n"
	case strings.HasPrefix(right, "settings\n"):
		return "when set agentMaxAutonomy guided\n"
	case word == "refused":
		return "when ack context {\"prototype\":1}\n"
	case word == "cause", word == "event", strings.HasPrefix(right, "trace\n"), strings.HasPrefix(right, "events adv"):
		return advance
	}
	return ""
}

// TestAScenarioCanFail: each sort of line, right and wrong; the failure names the line.
func TestAScenarioCanFail(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range sayings {
		word, _, _ := strings.Cut(strings.ReplaceAll(s.right, "\n", " "), " ")
		seen[word] = true
		head := base + before(s.right)
		at := strings.Count(head, "\n") + 1
		for _, say := range []string{s.right, s.wrong} {
			all, err := parseScenarios(head + "then " + say + "\n")
			if err != nil {
				t.Fatal(err)
			}
			failed := playScenario(t, all[0])
			if say == s.right && len(failed) > 0 {
				t.Errorf("then %s: %v", say, failed)
			}
			if say == s.wrong &&
				(len(failed) == 0 ||
					!slices.ContainsFunc(failed,
						func(f string) bool { return strings.HasPrefix(f, fmt.Sprintf("line %d: ", at)) })) {
				t.Errorf("then %s: should have failed on line %d: %v", say, at, failed)
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(checks)) {
		if !seen[word] {
			t.Errorf("no line that begins with 'then %s' is tried", word)
		}
	}
}

// TestScenarioMistakes: a mistake in a scenario is reported with its line.
func TestScenarioMistakes(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]string{
		"scenario s\nwhen start\n":                                       "line 1: the scenario states nothing",
		"scenario s\nwhen start\nwhen dance\nthen pending one\n":         "line 3: when dance: no such move",
		"scenario s\nwhen start\nthen glitter\n":                         "line 3: then glitter: no such expectation",
		"scenario s\nwhen start\nwhen ack\n  note x\nthen pending one\n": "line 4: want notes",
		"scenario s\nwhen start\nwhen ack context {\"prototype\":1}\n": "line 3: the call failed and no line " +
			"expects it",
		"scenario s\nwhen start\nwhen ack context {\"prototype\":1}\nthen status in_progress\n" +
			"then refused VALIDATION_ERROR\n": "line 4: then status in_progress: the call failed",
		"scenario s\nwhen start\nwhen ack preferences autonomy=guided\nwhen ack\nthen pending one\n": "line 3: the attempt was blocked and no line expects it",
		"scenario s\ngiven luck\nwhen start\nthen pending one\n":                                     "line 2: given luck: want context",
		"scenario s\nwhen start\nwhen look at Z\nthen pending one\n":                                 `line 3: when look at Z: no answer is called "Z"`,
	} {
		all, err := parseScenarios("workflow\n  steps:\n  - {id: one, notesRequired: true}\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		// The three lines of the workflow come first.
		line, rest, _ := strings.Cut(strings.TrimPrefix(wrong, "line "), ":")
		var n int
		_, _ = fmt.Sscan(line, &n)
		want := fmt.Sprintf("line %d:%s", n+3, rest)
		failed := playScenario(t, all[0])
		if !slices.ContainsFunc(failed, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("%q: %v, want %s", text, failed, want)
		}
	}
	for text, wrong := range map[string]string{
		"then pending one\n":                  `line 1: "then" comes before the first scenario`,
		"\nscenario s\nsometimes x\n":         "line 3: want workflow, scenario",
		"workflow\n  steps:\n  - id: One a\n": "line 1: the workflow does not compile",
		"workflow\n  steps: [\n":              "line 1: ",
	} {
		if _, err := parseScenarios(text); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %s", text, err, wrong)
		}
	}
}

// TestReadmeNamesEveryWord: the README describes every word that a scenario can use.
func TestReadmeNamesEveryWord(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(scenariosDir + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for word := range moves {
		if !strings.Contains(string(page), "`when "+word) {
			t.Errorf("the README does not describe 'when %s'", word)
		}
	}
	for word := range checks {
		if !strings.Contains(string(page), "`then "+word) {
			t.Errorf("the README does not describe 'then %s'", word)
		}
	}
}
