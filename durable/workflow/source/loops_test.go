package source

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
)

func everything(t *testing.T) Source {
	t.Helper()
	data, err := os.ReadFile("testdata/valid/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	src, found := Parse("everything.yaml", SourceProject, data)
	if !src.Valid {
		t.Fatal(found)
	}
	return src
}

func placedIDs(steps []PlacedStep) (out []string) {
	for _, s := range steps {
		out = append(out, s.ID)
		if s.At.Member("id").Value.Text() != s.ID {
			out = append(out, "which is elsewhere")
		}
	}
	return out
}

// TestSequences: a step that a loop names as its body is in that body only.
func TestSequences(t *testing.T) {
	src := everything(t)
	main := src.Steps
	if got := placedIDs(main); !slices.Equal(got, []string{"look", "rounds", "retries", "counted", "refine", "routine",
		"judge", "build"}) {
		t.Errorf("the main sequence is %q", got)
	}
	rounds := main[1].Body
	if got := placedIDs(rounds); !slices.Equal(got, []string{"work", "files", "decide"}) {
		t.Errorf("the body is %q", got)
	}
	taken := rounds[1].Body
	if got := placedIDs(taken); !slices.Equal(got, []string{"one-file"}) || taken[0].At.Pointer != "/steps/2" ||
		taken[0].FunctionReferences[0] != "ask()" {
		t.Errorf("the named body is %q", got)
	}
	if len(main[0].Body) > 0 || main[0].Loop != nil {
		t.Error("a plain step has a body")
	}
}

// TestLoopAt: both spellings of a loop give the same Loop.
func TestLoopAt(t *testing.T) {
	src := everything(t)
	loops := map[string]string{}
	eachLoop(src.Root.Member("steps"), problem.SourceValue{}, func(at, _ problem.SourceValue) {
		l, ok := src.LoopAt(at)
		if !ok {
			t.Fatal("no loop")
		}
		control := "-"
		if c := l.Control; c != nil {
			control = strings.Join([]string{string(c.Kind), c.ContractRef, c.LoopID, c.ConditionID}, " ")
		}
		loops[at.Member("id").Value.Text()] = fmt.Sprint(l.Kind, " ", l.MaxIterations, " ", control, " ",
			string(l.Count.JCS()), " ", l.Items, " ", l.variables())
	})
	for id, want := range map[string]string{
		"rounds": "while 5 artifact_contract wr.contracts.loop_control rounds more_rounds null  [{iterationVar " +
			"currentIteration}]",
		"files":   "forEach 20 - null changed.files [{iterationVar fileNumber} {indexVar fileIndex} {itemVar file}]",
		"retries": "for 3 - 3  [{iterationVar attempt}]",
		"counted": `for 9 - "wanted"  [{iterationVar currentIteration}]`,
		"refine": "until 2 artifact_contract wr.contracts.loop_control refining  null  [{iterationVar " +
			"currentIteration}]",
	} {
		if loops[id] != want {
			t.Errorf("%s: got %s\nwant %s", id, loops[id], want)
		}
	}
	if len(loops) != 5 {
		t.Errorf("%d loops", len(loops))
	}
	if _, ok := src.LoopAt(src.Steps[0].At); ok {
		t.Error("a plain step has a loop")
	}
	for config, want := range map[string]string{
		`"condition": {"var": "x", "equals": 1}`:                                                  "/steps/1/loop/condition",
		`"conditionSource": {"kind": "context_variable", "condition": {"var": "x", "equals": 1}}`: "/steps/1/loop/conditionSource/condition",
		`"condition": {"kind": "condition_ref", "conditionId": "open"}`:                           "/conditions/0/condition",
		`"conditionSource": {"kind": "condition_ref", "conditionId": "open"}`:                     "/conditions/0/condition",
	} {
		src, _ := parse(file(`, "conditions": [{"id": "open", "kind": "context_variable", "condition": {"var": "x", "equals": 1}}]`,
			`, {"id": "l", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 2, `+config+
				`}, "body": [{"id": "b", "title": "B", "prompt": "x"}]}`))
		l, _ := src.LoopAt(src.Root.Member("steps").Item(1))
		if !src.Valid || l.Control.Kind != ByContext || l.Control.Condition.Pointer != want {
			t.Errorf("%s: got %+v", config, l.Control)
		}
	}
	for config, want := range map[string]string{ // a default gives way to a name that was written
		``: "[{iterationVar currentIteration} {indexVar currentIndex} {itemVar " +
			"currentItem}]",
		`, "iterationVar": "currentIndex"`:                                                         "[{iterationVar currentIndex} {itemVar currentItem}]",
		`, "iterationVar": "currentItem"`:                                                          "[{iterationVar currentItem} {indexVar currentIndex}]",
		`, "itemVar": "currentIteration"`:                                                          "[{indexVar currentIndex} {itemVar currentIteration}]",
		`, "itemVar": "currentIndex", "indexVar": "currentItem"`:                                   "[{iterationVar currentIteration} {indexVar currentItem} {itemVar currentIndex}]",
		`, "itemVar": "currentIndex", "indexVar": "currentIteration"`:                              "[{indexVar currentIteration} {itemVar currentIndex}]",
		`, "itemVar": "currentIteration", "indexVar": "currentItem", "iterationVar": "n"`:          "[{iterationVar n} {indexVar currentItem} {itemVar currentIteration}]",
		`, "itemVar": "currentItem", "indexVar": "currentIndex", "iterationVar": "currentIndex_2"`: "[{iterationVar currentIndex_2} {indexVar currentIndex} {itemVar currentItem}]",
	} {
		src, found := parse(file("",
			`, {"id": "l", "type": "loop", "title": "L", "loop": {"type": "forEach", "items": "x", "maxIterations": 2`+
				config+`}, "body": [{"id": "b", "title": "B", "prompt": "x"}]}`))
		if l, _ := src.LoopAt(src.Root.Member("steps").Item(1)); len(found) > 0 || fmt.Sprint(l.variables()) != want {
			t.Errorf("%s: got %v, %v", config, l.variables(), found)
		}
	}
	if c := src.Conditions[0]; c.Name() != "more_rounds" || (NamedCondition{ConditionID: "x"}).Name() != "x" {
		t.Errorf("the condition is called %q", c.Name())
	}
}

func TestBindingTokens(t *testing.T) {
	fill := func(slot string) (string, bool) { return "<" + slot + ">", slot != "unknown" }
	for in, want := range map[string]string{
		"a {{wr.bindings.x_1}} b {{wr.bindings.y}}": "a <x_1> b <y>",
		"{{x}} {{ wr.bindings.x }}":                 "{{x}} {{ wr.bindings.x }}", "{{wr.bindings.x": "{{wr.bindings.x",
		"{{wr.bindings.unknown}} {{wr.bindings.y}}": "{{wr.bindings.unknown}} <y>",
	} {
		if got := ReplaceBindings(in, fill); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	if BindingSlot("{{wr.bindings.a}}") != "a" || BindingSlot("wr.bindings.a") != "" ||
		BindingSlot("{{wr.bindings.a}} ") != "" {
		t.Error("a token without a slot has a slot")
	}
}

// TestDeepLoops: nesting is bounded for both kinds of bodies, and a long chain of named
// bodies is checked in little time.
func TestDeepLoops(t *testing.T) {
	nested := func(depth int) string {
		text := `{"id": "in", "title": "In", "prompt": "p"}`
		for i := range depth {
			text = fmt.Sprintf(
				`{"id": "l%d", "type": "loop", "title": "L", "loop": {"type": "for", "count": 1, "maxIterations": 1}, "body": [%s]}`, i, text)
		}
		return ", " + text
	}
	if _, found := parse(file("", nested(limits.LoopDepthMax))); len(found) > 0 {
		t.Errorf("the deepest loops: %v", found)
	}
	if _, found := parse(file("", nested(limits.LoopDepthMax+1))); len(found) != 1 ||
		!strings.Contains(found[0].Message, "at most 8 deep") {
		t.Errorf("one more: %v", found)
	}
	// A chain of loops in which each names the next one costs a step as much in a long file as
	// in a short one.
	chained := func(n int) string {
		var chain strings.Builder
		for i := range n {
			fmt.Fprintf(&chain,
				`, {"id": "c%d", "type": "loop", "title": "L", "loop": {"type": "while", "maxIterations": 1, "condition": {"var": "x", "equals": 1}}, "body": "c%d"}`, i, i+1)
		}
		fmt.Fprintf(&chain, `, {"id": "c%d", "title": "C", "prompt": "p", "guidance": [%q]}`, n,
			strings.Repeat("y", 3<<20))
		return file("", chain.String())
	}
	if _, found := parse(chained(1900)); len(found) == 0 || !HasErrors(found) {
		t.Errorf("a chain of loops: %v", found)
	}
	growsLinearly(t, 190, 1900, chained)
	many := strings.TrimSuffix(strings.Repeat(`{"id": "x", "kind": "loop_control"},`, limits.ConditionsMax+1), ",")
	if _, found := parse(file(`, "conditions": [`+many+`]`, "")); len(found) != 1 || found[0].Pointer != "/conditions" {
		t.Errorf("too many conditions: %v", found)
	}
}

// TestErrorSupersedesWarning: an error hides the warnings at its place and above it.
func TestErrorSupersedesWarning(t *testing.T) {
	checkRows(t, "error", []row{
		{`, "assessments": [{"id": "a", "purpose": "p", "dimensions": []}]`, "", "/assessments/0/dimensions",
			"at least 1", "Add"},
		{`, "conditions": [{"id": "a", "kind": "context_variable"}]`, "", "/conditions/0", `lacks "condition"`, "Add"},
	})
}
