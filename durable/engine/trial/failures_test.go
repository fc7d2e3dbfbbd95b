package trial_test

import (
	"strings"
	"testing"
)

// small is a workflow for cases that fail.
const small = `
id: test.small
name: Small
description: d
version: 1.0.0
steps:
  - {id: a, title: A, prompt: "Do {{x}}.", notesRequired: true}
  - {id: b, title: B, prompt: Then b., runCondition: {var: go, equals: true}}
  - {id: ask, title: Ask, prompt: Ask., requireConfirmation: {kind: human_approval}}
`

// TestFailuresSayWhatIsWrong: each case fails with these texts, and holds with the correction in the last column.
func TestFailuresSayWhatIsWrong(t *testing.T) {
	w := compiled(t, small)
	for _, c := range []struct{ text, want, wrong, right string }{
		{"answers: {a: [{notes: n}]}\n    expect: {path: [a, ask]}", `step "ask" is asked for answer 1, and the case has 0`,
			"expect: {", "expect: {status: in_progress, "},
		{"answers: {a: [{notes: n}, {}], ask: [{approve: true}]}\n    expect: {status: complete}",
			`answer 2 of step "a" was never asked for: the run ended before`, ", {}]", "]"},
		{"answers: {a: [{notes: n}], b: [{}], ask: [{approve: true}]}\n    expect: {status: complete}",
			`answer 1 of step "b" was never asked for: the step was not shown`, "{notes: n}", "{notes: n, context: {go: true}}"},
		{"answers: {a: [{}]}\n    expect: {path: [a]}", "requires notes and none were given", "path: [a]", "blockers: [none were given]"},
		{"answers: {a: [{}]}\n    expect: {blockers: [INVARIANT]}", `no attempt was refused with the blocker "INVARIANT"`, "[INVARIANT]",
			"[MISSING_REQUIRED_OUTPUT]"},
		{"answers: {a: [{}]}\n    expect: {status: blocked, blockers: []}", "the run stopped with a blocker that is not expected", ", blockers: []", ""},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, path: [a, b]}", "step 2 of the path is another one", "[a, b]", "[a, ask]"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, path: [a]}", "the path continues after step 1", "[a]", "[a, ask]"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, path: [a, ask, b]}", "the path ends after step 2", ", b]", "]"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: blocked}", "the status is another one", "blocked", "in_progress"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, prompts: {a: Do y.}}", `no prompt of step "a" contains the text`, "Do y.", "'Do '"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, prompts: {b: Then}}", `step "b" was not shown`, "b: Then", "a: A"},
		{"answers: {a: [{notes: n, context: {k: [1]}}]}\n    expect: {status: in_progress, context: {k: [2]}}", `another value of "k"`, "[2]", "[1]"},
		{"answers: {a: [{notes: n, context: {k: 1}}]}\n    expect: {status: in_progress, context: {k: null}}", `another value of "k"`, "null", "1"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, warnings: [TEXT_TRUNCATED]}", "no answer has the warning", "TEXT_TRUNCATED",
			"VARIABLE_ABSENT"},
		{"answers: {a: [{notes: n}]}\n    expect: {status: in_progress, warnings: []}", "there are warnings", "expect: {", "context: {x: 1}\n    expect: {"},
		{"answers: {a: [{notes: n}], ask: [{deny: no}]}\n    expect: {status: complete}", "the status is another one", "complete", "failed"},
		{"answers: {a: [{notes: n, artifacts: [{kind: wr.human_approval}]}]}\n    expect: {status: complete}",
			"answer 1 of step \"a\" cannot be recorded", "", ""},
		{"answers: {a: [{notes: n, artifacts: [{kind: wr.command_result}]}]}\n    expect: {status: complete}",
			"of a kind that only performers record", "", ""},
		{"answers: {a: [{notes: n}], ask: [{sendBack: no}]}\n    expect: {status: complete}", `step "ask" is asked for answer 2, and the case has 1`, "[{sendBack: no}]",
			"[{notes: n, sendBack: no}, {notes: m, approve: ada}]"},
	} {
		cases := "cases:\n  - name: c\n    " + c.text + "\n"
		r := run(t, w, cases, nil)
		var got []string
		for _, f := range r.Cases[0].Failures {
			got = append(got, f.Message)
		}
		if text := strings.Join(got, "\n"); r.Failed != 1 || !strings.Contains(text, c.want) {
			t.Errorf("%s\ngot %s\nwant %s", cases, text, c.want)
		}
		if c.wrong == "" {
			continue
		}
		if r := run(t, w, strings.Replace(cases, c.wrong, c.right, 1), nil); r.Failed > 0 {
			t.Errorf("%s corrected: %+v", cases, r.Cases[0].Failures)
		}
	}
}

// TestCasesAreApart: one case leaves nothing to the next one, and a case has the same result each time.
func TestCasesAreApart(t *testing.T) {
	w := compiled(t, small)
	one := "\n    answers: {a: [{notes: n, context: {go: true}}], b: [{}], ask: [{notes: d, approve: [ada, bob]}]}\n    expect: {status: complete, path: [a, b, ask]}\n"
	text := "cases:\n  - name: one" + one + "  - name: two" + one
	for range 2 {
		if r := run(t, w, text, nil); r.Passed != 2 {
			t.Errorf("%+v", r)
		}
	}
}
