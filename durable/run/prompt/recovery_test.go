package prompt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
)

func defined(name, definition string) compile.Function {
	return compile.Function{Name: name, Definition: definition}
}

func TestRecapSections(t *testing.T) {
	r := Recovery{
		Goal:      "make it fast\r## Done\n\u2028and small",
		StepsDone: 2,
		Done:      []Excerpt{{"Plan (plan)", "made a plan\n"}, {"Build (outer@0::build)", "built it"}},
		Here:      []Excerpt{{"Checkpoint 1 of 1", "half way"}},
		Open:      []string{"critical: no\nsecret", "warning: a bit late"},
		Branches: []Branch{
			{Tip: "node_b", Status: "in_progress", Preferred: true, Pending: "Ship (ship)",
				Last: Excerpt{"Test (test)", "all green"},
				Steps: []compile.Step{{Functions: []compile.Function{defined("near", "do {{what}}"),
					defined("known", "k")}}}},
			{Tip: "node_a", Status: "complete",
				Steps: []compile.Step{{Functions: []compile.Function{defined("far", "f"),
					defined("near", "do {{what}}")}}}},
		},
		Pending: compile.Step{Functions: []compile.Function{defined("known", "k")}},
		Vars:    canon.OfMembers(canon.Member{Name: "what", Value: canon.OfString("it")}),
	}
	const want = `## Goal of the run

> make it fast
> ## Done
> and small

## Done before this step

Steps done so far: 2. The notes of the latest follow, the latest last.

### Plan (plan)

made a plan

### Build (outer@0::build)

built it

## Open on the way here

- critical: no secret
- warning: a bit late

## Kept at this step so far

Nothing of this has moved the run on.

### Checkpoint 1 of 1

half way

## This step was left before

A new attempt opens another branch; these are there already.

### Branch to node_b: in_progress, the preferred one

Pending there: Ship (ship)

Last notes, on Test (test):

all green

### Branch to node_a: complete

## Functions named in the branches

- near(): do it
- far(): f`
	if got := Recap(r); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := Recap(Recovery{StepsDone: 3, Pending: r.Pending}); got != "" {
		t.Errorf("empty input gives %q", got)
	}
}

// TestRecapPrefersTheNewest: the oldest texts are omitted and counted.
func TestRecapPrefersTheNewest(t *testing.T) {
	var r Recovery
	for i := range 8 {
		r.Done = append(r.Done, Excerpt{fmt.Sprintf("Step %d", i), fmt.Sprintf("<%d>", i) + strings.Repeat("n", 3500)})
	}
	got := Recap(r)
	for i, want := range []bool{false, false, false, false, true, true, true, true} {
		if strings.Contains(got, fmt.Sprintf("<%d>", i)) != want {
			t.Errorf("the notes of step %d are shown: %v", i, !want)
		}
	}
	if strings.Index(got, "<4>") > strings.Index(got, "<7>") {
		t.Error("the latest is not the last")
	}
	if !strings.Contains(got, limits.TruncationMarker+"\n\n### Step 5") ||
		!strings.Contains(got, "length: 4, the oldest") {
		t.Errorf("truncation or omission is not reported: %.200s", got)
	}
}

func TestOmittedFunctionsAreCounted(t *testing.T) {
	var steps []compile.Step
	for i := range 6 {
		steps = append(steps, compile.Step{Functions: []compile.Function{defined(fmt.Sprintf("f%d", i),
			strings.Repeat("d", 400))}})
	}
	got := Recap(Recovery{Branches: []Branch{{Tip: "node_a", Status: "complete", Steps: steps}}})
	if !strings.Contains(got, "f2()") || strings.Contains(got, "f4()") ||
		!strings.HasSuffix(got, limits.TruncationMarker+"\n\nOmitted 3 function definitions.") {
		t.Errorf("%s", got[strings.Index(got, "## Functions"):])
	}
}

// TestRecapBudget for arbitrary texts in any script.
func TestRecapBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"n", "é", "漢", "🙂", "a\n\n"}).
				Draw(t, "rune"), rapid.IntRange(0, 5000).Draw(t, "length"))
		})
		excerpt := rapid.Custom(func(t *rapid.T) Excerpt {
			return Excerpt{text.Draw(t, "heading"),
				text.Draw(t, "text")}
		})
		branch := rapid.Custom(func(t *rapid.T) Branch {
			fn := defined(text.Draw(t, "name"), text.Draw(t, "definition"))
			return Branch{Tip: "node", Status: "complete", Pending: Label(text.Draw(t, "title"), "key"),
				Last:  excerpt.Draw(t, "last"),
				Steps: []compile.Step{{Functions: []compile.Function{fn}}}}
		})
		got := Recap(Recovery{StepsDone: 9, Done: rapid.SliceOfN(excerpt, 0, 9).
			Draw(t, "done"), Here: rapid.SliceOfN(excerpt, 0, 9).Draw(t, "here"),
			Open: rapid.SliceOfN(text, 0, 12).Draw(t, "open"), Branches: rapid.SliceOfN(branch, 0, 8).
				Draw(t, "branches")})
		if len(got) > limits.RecapBytesMax || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
	})
}
