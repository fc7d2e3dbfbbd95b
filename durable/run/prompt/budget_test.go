package prompt

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// TestPromptHasBudget: the text of a step is counted before it is built. 40,000 placeholders of
// a value of 250,000 bytes would be ten gigabytes.
func TestPromptHasBudget(t *testing.T) {
	big := strings.Repeat("v", 250_000)
	for name, c := range map[string]struct {
		step compile.Step
		want string // is in the prompt in any case
	}{
		"a prompt":  {compile.Step{Prompt: strings.Repeat("{{big}}", 40_000) + " the end"}, " the end"},
		"an object": {compile.Step{Prompt: strings.Repeat("{{o}}", 40_000) + " the end"}, " the end"},
		"fragments": {compile.Step{PromptFragments: []compile.Fragment{{Text: strings.Repeat("{{big}}", 40_000)},
			{Text: "last fragment"}}}, "last fragment"},
		"guidance":  {compile.Step{Guidance: []string{"{{big}}", "{{o}}", "{{big}}", "mind {{small}}"}}, "mind the gap"},
		"a role":    {compile.Step{AgentRole: "A {{big}}", Prompt: "Do {{big}}.", NotesRequired: true}, "Notes are required"},
		"functions": {compile.Step{Functions: []compile.Function{{Name: "f", Definition: "{{big}} {{big}}"}}}, "Omitted 1"},
		"no values": {compile.Step{Prompt: strings.Repeat("long ", 100_000), NotesRequired: true}, "Notes are required"},
	} {
		vars := canon.OfMembers(canon.Member{Name: "big", Value: canon.OfString(big)},
			canon.Member{Name: "small", Value: canon.OfString("the gap")},
			canon.Member{Name: "o", Value: canon.OfMembers(canon.Member{Name: "k", Value: canon.OfString(big)})})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Render(compile.Compiled{}, c.step, vars, Surroundings{})
		runtime.ReadMemStats(&after)
		if n := len(got.Prompt); n > limits.PromptBytesMax || n < limits.FunctionsBytesMax/2 {
			t.Errorf("%s: the prompt has %d bytes", name, n)
		}
		if !got.Truncated || !strings.Contains(got.Prompt, c.want) {
			t.Errorf("%s: truncated %v, without %q", name, got.Truncated, c.want)
		}
		if name != "a prompt" && name != "an object" && name != "fragments" &&
			!strings.Contains(got.Prompt, limits.TruncationMarker) {
			t.Errorf("%s: no marker", name)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 40<<20 {
			t.Errorf("%s: %d bytes were allocated", name, spent)
		}
	}
}

// TestPromptOfFortyValuesHasBudget is TestPromptHasBudget with a prompt that a build without a
// budget completes as well.
func TestPromptOfFortyValuesHasBudget(t *testing.T) {
	vars := canon.OfMembers(canon.Member{Name: "big", Value: canon.OfString(strings.Repeat("v", 250_000))})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := Render(compile.Compiled{}, compile.Step{Prompt: strings.Repeat("{{big}}", 40)}, vars, Surroundings{})
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 5<<20 || !got.Truncated {
		t.Errorf("%d bytes were allocated, truncated %v", spent, got.Truncated)
	}
}

// TestPromptTruncatesLongestValues: a short value stays whole beside a long one, and a prompt
// within its budget is unchanged.
func TestPromptTruncatesLongestValues(t *testing.T) {
	vars := canon.OfMembers(canon.Member{Name: "log", Value: canon.OfString(strings.Repeat("é", 200_000))},
		canon.Member{Name: "ticket", Value: canon.OfString("T-1")})
	got := Render(compile.Compiled{}, compile.Step{Prompt: "Read {{log}}. Then close {{ticket}}, {{gone}}."}, vars, Surroundings{})
	if !strings.HasSuffix(got.Prompt, limits.TruncationMarker+". Then close T-1, {{gone}}.") || !got.Truncated {
		t.Errorf("it ends with %q", got.Prompt[len(got.Prompt)-80:])
	}
	if n := len(got.Prompt); n > limits.PromptBytesMax || n < limits.PromptBytesMax-2 {
		t.Errorf("it has %d bytes", n)
	}
	if len(got.Warnings) != 1 {
		t.Errorf("warnings %q", got.Warnings)
	}
	fits := strings.Repeat("v", limits.PromptBytesMax-len("Read ."))
	vars = canon.OfMembers(canon.Member{Name: "log", Value: canon.OfString(fits)})
	if got := Render(compile.Compiled{}, compile.Step{Prompt: "Read {{log}}."}, vars, Surroundings{}); got.Truncated ||
		got.Prompt != "Read "+fits+"." {
		t.Errorf("a prompt within its budget is cut to %d bytes", len(got.Prompt))
	}
}

// TestAbsentValuesAreCounted: the list of warnings does not grow with the prompt.
func TestAbsentValuesAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "{{k%d}} {{k0}}", i)
	}
	got := Render(compile.Compiled{}, compile.Step{Prompt: b.String()}, canon.OfMembers(), Surroundings{})
	if n := len(got.Warnings); n != limits.AbsentShownMax+1 {
		t.Fatalf("%d warnings", n)
	}
	if last := got.Warnings[limits.AbsentShownMax]; !strings.Contains(last, "39980 more") {
		t.Errorf("the last warning is %q", last)
	}
}

// TestShare: values within the budget are not bounded; otherwise the bound uses all of it.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		budget int
		want   int
	}{{nil, 10, 10}, {[]int{10}, 10, 10}, {[]int{60}, 100, 100}, {[]int{1, 100, 100}, 101, 50}, {[]int{5, 5}, 0, 0},
		{[]int{100, 1, 3}, 10, 6}} {
		if got := share(c.sizes, c.budget); got != c.want {
			t.Errorf("%v in %d: %d, want %d", c.sizes, c.budget, got, c.want)
		}
	}
}
