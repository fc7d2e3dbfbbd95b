package criteria

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func parsed(t testing.TB, text string) Criteria {
	t.Helper()
	c, err := Of(value(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// Rules that the tables combine.
const (
	hasA    = `{"type": "contains", "value": "A", "message": "no a"}`
	hasB    = `{"type": "contains", "value": "B", "message": "no b"}`
	ifX     = `{"type": "contains", "value": "X", "message": "no x", "condition": {"var": "x", "equals": true}}`
	unlessX = `{"type": "contains", "value": "N", "message": "no n", "condition": {"var": "x", "not_equals": true}}`
)

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		criteria, notes string
		messages        []string
	}{
		{hasA, "xAx", nil},
		{hasA, "a", []string{"no a"}},
		{`{"type": "regex", "pattern": "^grade: [1-4]$", "message": "no grade"}`, "x\ngrade: 2\n",
			[]string{"no grade"}},
		{`{"type": "regex", "pattern": "^grade: [1-4]$", "flags": "mi", "message": "no grade"}`, "x\nGrade: 2\n", nil},
		{`{"type": "regex", "pattern": "a.b", "message": "no"}`, "a\nb", []string{"no"}},
		{`{"type": "regex", "pattern": "a.b", "flags": "s", "message": "no"}`, "a\nb", nil},
		{`{"type": "regex", "pattern": "a|b", "flags": "y", "message": "no"}`, "bb", nil},
		{`{"type": "regex", "pattern": "a|b", "flags": "y", "message": "no"}`, "xb", []string{"no"}},
		{`{"type": "regex", "pattern": "^b", "flags": "my", "message": "no"}`, "a\nb", []string{"no"}},
		{`{"type": "regex", "pattern": "B", "flags": "guyi", "message": "no"}`, "b", nil},
		{`{"type": "regex", "pattern": "B", "flags": "", "message": "no"}`, "b", []string{"no"}},
		{`{"type": "contains", "value": "A", "min": 9, "pattern": "(", "message": "no a"}`, "A", nil},
		{`{"type": "length", "min": 3, "message": "short"}`, "äöü", nil},
		{`{"type": "length", "min": 3, "message": "short"}`, "äö", []string{"short"}},
		{`{"type": "length", "max": 3, "message": "long"}`, "😀😀😀", nil},
		{`{"type": "length", "max": 3, "message": "long"}`, "abcd", []string{"long"}},
		{`{"type": "length", "min": 0, "max": 0, "message": "not empty"}`, "", nil},
		{`{"type": "length", "min": 0, "max": 0, "message": "not empty"}`, "x", []string{"not empty"}},
		{"[" + hasA + "," + hasB + "]", "", []string{"no a", "no b"}},
		{"[" + hasA + "," + hasB + "]", "B", []string{"no a"}},
		{`{"and": [` + hasA + "," + hasB + "]}", "AB", nil},
		{`{"or": [` + hasA + "," + hasB + "]}", "B", nil},
		{`{"or": [` + hasA + "," + hasB + "]}", "", []string{"One of these must hold: no a; no b"}},
		{`{"not": ` + hasA + "}", "", nil},
		{`{"not": ` + hasA + "}", "A", []string{"no a"}},
		{`{"not": {"not": ` + hasA + "}}", "A", nil},
		{`{"not": {"or": [` + hasA + "," + hasB + "]}}", "B",
			[]string{"Not allowed: One of: Must contain 'A' (no a); or Must contain 'B' (no b)"}},
		{`{"or": [{"and": [` + hasA + "," + hasB + "]}, {\"not\": " + hasA + "}]}", "AB", nil},
		{`{"or": [{"and": [` + hasA + "," + hasB + "]}, {\"not\": " + hasA + "}]}", "A",
			[]string{"One of these must hold: no b; no a"}},
		// A blank message is replaced by the rule's sentence.
		{`{"type": "contains", "value": "A", "message": ""}`, "", []string{"Must contain 'A'"}},
		{`{"type": "contains", "value": "A", "message": " "}`, "", []string{"Must contain 'A'"}},
		{`{"not": {"type": "contains", "value": "A", "message": ""}}`, "A", []string{"Must not contain 'A'"}},
		{`{"type": "schema", "schema": {"type": "number"}, "message": ""}`, "true",
			[]string{"Must be JSON, or hold it in a ```json block, that matches the schema: {\"type\":\"number\"} " +
				"(the JSON value: expected number, got true)"}},
		{`{"or": [{"type": "length", "min": 3, "message": ""}, ` + hasA + `]}`, "",
			[]string{"One of these must hold: Length: ≥3 chars; no a"}},
		// Rules that do not apply have no effect in any combination; x is true here.
		{unlessX, "", nil},
		{ifX, "", []string{"no x"}},
		{`{"not": ` + unlessX + "}", "N", nil},
		{`{"or": [` + unlessX + "," + hasA + "]}", "", []string{"no a"}},
		{`{"or": [` + unlessX + "]}", "", nil},
		{`{"and": [` + unlessX + "," + hasA + "]}", "A", nil},
		{`{"not": {"and": [` + unlessX + "," + hasA + "]}}", "", nil},
	} {
		var got []string
		for _, f := range parsed(t, row.criteria).Check(row.notes, value(t, `{"x": true}`)) {
			got = append(got, f.Message)
			if f.Requirement == "" {
				t.Errorf("%s: failure %q has no requirement", row.criteria, f.Message)
			}
		}
		if !slices.Equal(got, row.messages) {
			t.Errorf("%s over %q: got %q, want %q", row.criteria, row.notes, got, row.messages)
		}
	}
	if (Criteria{}).Check("", canon.Value{}) != nil || !(Criteria{}).IsZero() {
		t.Error("the zero Criteria rejects notes")
	}
}

func TestRequirements(t *testing.T) {
	for _, row := range []struct {
		criteria string
		want     []string
	}{
		{`{"type": "contains", "value": "IN SCOPE", "message": "Must have 'IN SCOPE'"}`,
			[]string{"Must contain 'IN SCOPE'"}},
		{`{"type": "contains", "value": "left_out", "message": "Say what you left out"}`,
			[]string{"Must contain 'left_out' (Say what you left out)"}},
		{`{"type": "regex", "pattern": "^[a-z]+$", "message": "Lowercase only"}`,
			[]string{"Must match pattern: ^[a-z]+$ (Lowercase only)"}},
		{`{"type": "regex", "pattern": "^[a-z]+$", "message": ""}`, []string{"Must match pattern: ^[a-z]+$"}},
		{`{"type": "regex", "pattern": "\\u00e9", "flags": "y", "message": ""}`,
			[]string{`Must match pattern at the start: \u00e9`}},
		{`{"not": {"type": "regex", "pattern": "x", "flags": "y", "message": ""}}`,
			[]string{"Must not match pattern at the start: x"}},
		{`{"type": "length", "min": 100, "max": 500, "message": "≥100 chars, ≤500 chars please"}`,
			[]string{"Length: ≥100 chars, ≤500 chars"}},
		{`{"type": "length", "min": 100, "message": "Be thorough"}`, []string{"Length: ≥100 chars (Be thorough)"}},
		{`{"type": "length", "max": 500, "message": "Be brief"}`, []string{"Length: ≤500 chars (Be brief)"}},
		{`{"type": "length", "max": 0, "message": "Leave it empty"}`, []string{"Length: ≤0 chars (Leave it empty)"}},
		{`{"not": {"type": "contains", "value": "TODO", "message": "No open ends"}}`,
			[]string{"Must not contain 'TODO' (No open ends)"}},
		{`{"not": {"type": "regex", "pattern": "x", "message": "No x"}}`, []string{"Must not match pattern: x"}},
		{`{"not": {"type": "length", "max": 9, "message": "More"}}`, []string{"Length must not be: ≤9 chars (More)"}},
		{`[` + hasA + `, {"or": [` + hasB + `, {"and": [` + hasA + `, ` + ifX + `]}]}]`,
			[]string{"Must contain 'A' (no a)",
				"One of: Must contain 'B' (no b); or All of (Must contain 'A' (no a); Must contain 'X' (no x))"}},
		{`[` + unlessX + `, {"or": [` + unlessX + `, ` + hasA + `]}, {"not": ` + unlessX + `}]`,
			[]string{"Must contain 'A' (no a)"}},
		{unlessX, nil},
	} {
		if got := parsed(t, row.criteria).Requirements(value(t, `{"x": true}`)); !slices.Equal(got, row.want) {
			t.Errorf("%s:\n got %q\nwant %q", row.criteria, got, row.want)
		}
	}
	if (Criteria{}).Requirements(canon.Value{}) != nil {
		t.Error("the zero Criteria has requirements")
	}
}

func TestNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"[" + hasA + "]":                    `{"message":"no a","type":"contains","value":"A"}`,
		`{"or": [{"and": [` + hasA + `]}]}`: `{"message":"no a","type":"contains","value":"A"}`,
		"[" + hasA + "," + hasB +
			"]": `{"and":[{"message":"no a","type":"contains","value":"A"},{"message":"no b","type":"contains","value":"B"}]}`,
		`{"not": {"or": [` + hasA + `,` +
			`{"type": "regex", "pattern": "b", "flags": "i", "message": "m"}]}}`: `{"not":{"or":[{"message":"no a","type":"contains","value":"A"},{"flags":"i","message":"m","pattern":"b","type":"regex"}]}}`,
		`{"type": "length", "max": 0, "message": "m"}`:                                         `{"max":0,"message":"m","type":"length"}`,
		`{"type": "length", "min": 2147483647, "message": "m"}`:                                `{"message":"m","min":2147483647,"type":"length"}`,
		`{"type": "length", "max": 5.0, "min": 0, "message": "m"}`:                             `{"max":5,"message":"m","min":0,"type":"length"}`,
		`{"type": "contains", "value": "A", "min": 9, "flags": 3, "message": ""}`:              `{"message":"","type":"contains","value":"A"}`,
		`{"type": "regex", "pattern": "\\u00E9", "value": "x", "flags": "gu", "message": "m"}`: `{"message":"m","pattern":"\\u00E9","type":"regex"}`,
		`{"type": "regex", "pattern": "x", "flags": "guyi", "message": "m"}`:                   `{"flags":"yi","message":"m","pattern":"x","type":"regex"}`,
		`{"type": "regex", "pattern": "x", "flags": "", "message": "m"}`:                       `{"message":"m","pattern":"x","type":"regex"}`,
		ifX: `{"condition":{"equals":true,"var":"x"},"message":"no x","type":"contains","value":"X"}`,
	} {
		c := parsed(t, in)
		if got := string(c.Value().JCS()); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		again, err := Of(c.Value())
		if err != nil || !again.Value().Equal(c.Value()) {
			t.Errorf("%s: the normal form is not stable: %v", in, err)
		}
	}
	if !(Criteria{}).Value().IsNull() {
		t.Error("the zero criteria have a value")
	}
}

func TestProblems(t *testing.T) {
	for _, row := range []struct{ criteria, pointer, message, fix string }{
		{`"x"`, "", "must be an object, got string", "contains"},
		{`[]`, "", "at least one validation rule", "leave it out"},
		{`{"and": []}`, "/and", "at least one validation rule", "leave it out"},
		{`{"or": {}}`, "/or", "expected a list", "at least one"},
		{`{"not": [` + hasA + `]}`, "/not", "must be an object, got array", "contains"},
		{`{"and": [` + hasA + `], "message": "m"}`, "", `"and" must be the only key`, "list"},
		{`{"message": "m", "value": "x"}`, "/type", "needs a type", "contains, regex, length or schema"},
		{`{"type": "equals", "message": "m"}`, "/type", "needs a type", "contains, regex, length or schema"},
		{`{"type": "schema", "message": "m"}`, "/schema", `needs "schema"`, "findings"},
		{`{"type": "contains", "message": "m"}`, "/value", `needs "value"`, "text"},
		{`{"type": "contains", "value": "", "message": "m"}`, "/value", "not empty", "text"},
		{`{"type": "contains", "value": "x", "message": null}`, "/message", `"message" of a validation rule must be a string, got null`,
			"sentence"},
		{`{"type": "contains", "value": "x", "text": "y"}`, "/text", "has no effect", `Did you mean "value"?`},
		{`{"type": "length", "min": 1, "max_length": 3}`, "/max_length", "has no effect", `Did you mean "max"?`},
		{`{"type": "contains", "value": "x", "mesage": "m"}`, "/mesage", "has no effect", `Did you mean "message"?`},
		{`{"type": "contains", "value": "x", "zzz": "m"}`, "/zzz", "has no effect", "Remove it; contains reads value."},
		{`{"type": "schema", "schema": {"minLenght": 1}}`, "/schema/minLenght", "not supported",
			`Did you mean "minLength"?`},
		{`{"type": "contains", "value": "x", "message": "m", "minimum": 3}`, "/minimum",
			"has no effect in a rule of type contains", "reads value"},
		{`{"type": "length", "message": "m"}`, "", "needs min or max", `"min"`},
		{`{"type": "length", "min": 9, "max": 3, "message": "m"}`, "", "min 9 is more than max 3", "Exchange"},
		{`{"type": "length", "min": 1, "max": 0, "message": "m"}`, "", "min 1 is more than max 0", "Exchange"},
		{`{"type": "length", "min": 2147483648, "message": "m"}`, "/min", "whole number", "200"},
		{`{"type": "length", "min": 1.5, "message": "m"}`, "/min", "whole number", "200"},
		{`{"type": "length", "max": -1, "message": "m"}`, "/max", "whole number", "200"},
		{`{"type": "length", "max": "9", "message": "m"}`, "/max", "whole number", "200"},
		{`{"type": "regex", "message": "m"}`, "/pattern", `needs "pattern"`, "regular expression"},
		{`{"type": "regex", "pattern": "x", "flags": "v", "message": "m"}`, "/flags", "flag 'v'", "i (ignore case)"},
		{`{"type": "regex", "pattern": "x", "flags": "iyy", "message": "m"}`, "/flags", "unknown or repeated",
			"each once"},
		{`{"type": "regex", "pattern": "x", "flags": "ii", "message": "m"}`, "/flags", "unknown or repeated",
			"each once"},
		{`{"type": "regex", "pattern": "x", "flags": null, "message": "m"}`, "/flags", "string of i, m, s, got null",
			"Remove"},
		{`{"type": "contains", "value": "x", "message": "m", "condition": {}}`, "/condition", "needs var",
			"leave it out"},
	} {
		var found []problem.Problem
		c, ok := Parse(problem.SourceValue{Value: value(t, row.criteria)}, func(p problem.Problem) {
			if p.Severity == problem.Error {
				found = append(found, p)
			}
		})
		if ok || !c.IsZero() || len(found) != 1 {
			t.Errorf("%s: ok %v, found %v", row.criteria, ok, found)
			continue
		}
		p := found[0]
		if p.Pointer != row.pointer || !strings.Contains(p.Message, row.message) || !strings.Contains(p.Fix, row.fix) {
			t.Errorf("%s: found %+v", row.criteria, p)
		}
	}
}

// TestRulesWithoutMessage: in a file a rule needs no message, and compiles to the one with an empty
// message. A compiled workflow always has it.
func TestRulesWithoutMessage(t *testing.T) {
	const bare, empty = `{"type": "contains", "value": "x"}`, `{"type": "contains", "value": "x", "message": ""}`
	for _, form := range []string{"%s", `{"not": %s}`, `{"and": [%s, {"type": "length", "min": 3, "message": "m"}]}`,
		`[{"or": [{"type": "length", "min": 3, "message": "m"}, %s]}]`} {
		got, ok := Parse(problem.SourceValue{Value: value(t, fmt.Sprintf(form, bare))}, func(problem.Problem) {})
		want, _ := Parse(problem.SourceValue{Value: value(t, fmt.Sprintf(form, empty))}, func(problem.Problem) {})
		if !ok || !got.Value().Equal(want.Value()) {
			t.Errorf("%s: got %s, want %s", form, got.Value().JCS(), want.Value().JCS())
		}
		if _, err := Of(value(t, fmt.Sprintf(form, bare))); err == nil {
			t.Errorf("%s: a compiled workflow without the message is read", form)
		}
		if _, err := Of(want.Value()); err != nil {
			t.Errorf("%s: %s", form, err)
		}
	}
}

// TestWarnings: keys and flags that have no effect are warnings, not errors.
func TestWarnings(t *testing.T) {
	for _, row := range []struct{ criteria, pointer, message, fix string }{
		{`{"type": "contains", "value": "x", "message": "m", "flags": "i"}`, "/flags",
			`"flags" has no effect in a rule of type contains`, "reads value"},
		{`{"type": "schema", "schema": {}, "pattern": "x", "message": "m"}`, "/pattern",
			"has no effect in a rule of type schema", "reads schema"},
		{`{"not": {"type": "length", "min": 3, "schema": {"type": "x"}, "message": "m"}}`, "/not/schema",
			"has no effect in a rule of type length", "reads min and max"},
		{`{"type": "regex", "pattern": "x", "flags": "ig", "message": "m"}`, "/flags", "flag 'g' has no effect",
			"Remove"},
		{`{"type": "regex", "pattern": "x", "flags": "u", "message": "m"}`, "/flags", "flag 'u' has no effect",
			"Remove"},
		{`{"type": "regex", "pattern": "x", "flags": "y", "message": "m"}`, "/flags",
			"flag 'y' lets the pattern match at the start only", `\A`},
	} {
		var found []problem.Problem
		_, ok := Parse(problem.SourceValue{Value: value(t, row.criteria)},
			func(p problem.Problem) { found = append(found, p) })
		if !ok || len(found) != 1 || found[0].Severity != problem.Warning || found[0].Pointer != row.pointer ||
			!strings.Contains(found[0].Message, row.message) || !strings.Contains(found[0].Fix, row.fix) {
			t.Errorf("%s: ok %v, found %+v", row.criteria, ok, found)
		}
		again := parsed(t, row.criteria).Value()
		Parse(problem.SourceValue{Value: again}, func(p problem.Problem) {
			if !strings.Contains(p.Message, "'y'") { // which stays, since it has an effect
				t.Errorf("the normal form %s has the problem %+v", again.JCS(), p)
			}
		})
	}
	for _, quiet := range []string{`{"type": "contains", "value": "x", "message": ""}`,
		`{"type": "regex", "pattern": "\\u00e9", "flags": "", "message": "m"}`} {
		Parse(problem.SourceValue{Value: value(t, quiet)}, func(p problem.Problem) { t.Errorf("%s: %+v", quiet, p) })
	}
}
