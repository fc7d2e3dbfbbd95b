package condition

import (
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

func parsed(t testing.TB, text string) Condition {
	t.Helper()
	c, err := Of(value(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

const vars = `{
	"risk": "High", "count": 3, "zero": 0, "yes": true, "no": false, "nothing": null, "text": "12",
	"tags": ["a", "b", 3, null, {"x": [1]}], "empty": [], "bare": {}, "blank": "", "space": " ", "word": "false", "minus": -0.0, "review": {"open": 2, "by": ["ann", "bob"]},
	"a.b": "whole", "a": {"b": "inner", "c": "deep"}, "obj": {"x": [1, {"y": 2}]}
}`

// TestEval: evaluation by the strict rule, from which the loose one differs by its matches only.
func TestEval(t *testing.T) {
	over := value(t, vars)
	for _, row := range []struct {
		condition string
		want      bool
	}{
		{`{"var": "risk", "equals": "High"}`, true},
		{`{"var": "risk", "equals": "high"}`, false},
		{`{"var": "count", "equals": 3.0}`, true},
		{`{"var": "count", "equals": "3"}`, false},
		{`{"var": "yes", "equals": true}`, true},
		{`{"var": "zero", "equals": false}`, false},
		{`{"var": "obj", "equals": {"x": [1, {"y": 2}]}}`, true},
		{`{"var": "obj", "equals": {"x": [1, {"y": 3}]}}`, false},
		{`{"var": "nothing", "equals": null}`, true},
		{`{"var": "absent", "equals": null}`, true},
		{`{"var": "absent.deep", "equals": null}`, true},
		{`{"var": "absent", "equals": false}`, false},
		{`{"var": "absent", "not_equals": "x"}`, true},
		{`{"var": "risk", "not_equals": "High"}`, false},
		{`{"var": "count", "gt": 2}`, true},
		{`{"var": "count", "gt": 3}`, false},
		{`{"var": "count", "gte": 3}`, true},
		{`{"var": "count", "gte": 3.5}`, false},
		{`{"var": "count", "lt": 4}`, true},
		{`{"var": "count", "lt": 3}`, false},
		{`{"var": "count", "lte": 3}`, true},
		{`{"var": "count", "lte": 2}`, false},
		{`{"var": "text", "gt": 1}`, false},
		{`{"var": "text", "lt": 100}`, false},
		{`{"var": "absent", "lt": 1}`, false},
		{`{"var": "nothing", "lte": 0}`, false},
		{`{"var": "yes", "gte": 0}`, false},
		{`{"var": "risk", "contains": "ig"}`, true},
		{`{"var": "risk", "contains": "IG"}`, false},
		{`{"var": "text", "contains": 1}`, false},
		{`{"var": "tags", "contains": "a"}`, true},
		{`{"var": "tags", "contains": 3}`, true},
		{`{"var": "tags", "contains": "3"}`, false},
		{`{"var": "empty", "contains": "a"}`, false},
		{`{"var": "absent", "contains": "a"}`, false},
		{`{"var": "obj", "contains": "x"}`, false},
		{`{"var": "risk", "in": ["Low", "High"]}`, true},
		{`{"var": "risk", "in": ["Low"]}`, false},
		{`{"var": "absent", "in": [null]}`, true},
		{`{"var": "obj", "in": [{"x": [1, {"y": 2}]}]}`, true},
		{`{"var": "count", "gte": 1, "lt": 4}`, true},
		{`{"var": "count", "gte": 1, "lt": 3}`, false},
		{`{"var": "count", "not_equals": 2, "in": [1, 2, 3]}`, true},
		{`{"and": [{"var": "yes", "equals": true}, {"var": "count", "gt": 1}]}`, true},
		{`{"and": [{"var": "yes", "equals": true}, {"var": "count", "gt": 5}]}`, false},
		{`{"or": [{"var": "no", "equals": true}, {"var": "count", "gt": 1}]}`, true},
		{`{"or": [{"var": "no", "equals": true}, {"var": "count", "gt": 5}]}`, false},
		{`{"not": {"var": "no", "equals": true}}`, true},
		{`{"not": {"not": {"var": "no", "equals": true}}}`, false},
		{`{"var": "review.open", "equals": 2}`, true},
		{`{"var": "review.by.1", "equals": "bob"}`, true},
		{`{"var": "tags.4.x.0", "equals": 1}`, true},
		{`{"var": "a.b", "equals": "whole"}`, true},
		{`{"var": "a.c", "equals": "deep"}`, true},
		{`{"var": "absent"}`, false},
		{`{"var": "nothing"}`, false},
		{`{"var": "no"}`, false},
		{`{"var": "zero"}`, false},
		{`{"var": "blank"}`, false},
		{`{"var": "minus"}`, false},
		{`{"var": "yes"}`, true},
		{`{"var": "count"}`, true},
		{`{"var": "space"}`, true},
		{`{"var": "word"}`, true},
		{`{"var": "empty"}`, true},
		{`{"var": "bare"}`, true},
		{`{"var": "obj.x"}`, true},
		{`{"not": {"var": "absent"}}`, true},
		{`{"and": [{"var": "yes"}, {"var": "zero"}]}`, false},
		{`{"or": [{"var": "zero"}, {"var": "yes"}]}`, true},
	} {
		c := parsed(t, row.condition)
		if got := c.Strictly().Eval(over); got != row.want {
			t.Errorf("%s: got %v", row.condition, got)
		}
		if d := c.Decide(over); d.Held != row.want && len(d.Loose) == 0 {
			t.Errorf("%s: got %v without a loose match", row.condition, d.Held)
		}
	}
	if !(Condition{}).Eval(over) {
		t.Error("the zero Condition is not true")
	}
}

func TestLookup(t *testing.T) {
	over := value(t, vars)
	for path, want := range map[string]string{
		"tags.0": `"a"`, "tags.3": "null", "tags.5": "", "tags.-1": "", "tags.01": "", "tags.+1": "", "tags.x": "",
		"review.by": `["ann","bob"]`, "review.by.2": "", "risk.0": "", "": "", "review.": "", ".review": "",
		"nothing": "null", "nothing.x": "", "a.b": `"whole"`, "tags.99999999999999999999": "",
	} {
		v, ok := Lookup(over, path)
		if ok != (want != "") || ok && string(v.JCS()) != want {
			t.Errorf("%q: got %s, %v; want %q", path, v.JCS(), ok, want)
		}
	}
}

func TestMissing(t *testing.T) {
	c := parsed(t, `{"or": [{"var": "z", "equals": 1}, {"not": {"var": "nothing", "equals": 1}},
		{"and": [{"var": "review.closed", "gt": 0}, {"var": "z", "lt": 5}, {"var": "a", "equals": 1}]}]}`)
	if got := c.Missing(value(t, vars)); !slices.Equal(got, []string{"z", "review.closed"}) {
		t.Errorf("got %q", got)
	}
	if got := (Condition{}).Missing(value(t, vars)); got != nil {
		t.Errorf("the zero Condition misses %q", got)
	}
}

func TestNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		`{"lt": 4, "var": "x", "gte": 1.0}`:                                            `{"gte":1,"lt":4,"var":"x"}`,
		`{"and": [{"var": "x", "equals": null}]}`:                                      `{"equals":null,"var":"x"}`,
		`{"or": [{"and": [{"var": "x", "equals": 1}]}]}`:                               `{"equals":1,"var":"x"}`,
		`{"and": [{"var": "x"}]}`:                                                      `{"var":"x"}`,
		`{"not": {"or": [{"var": "b"}, {"var": "c", "not_equals": ""}]}}`:              `{"not":{"or":[{"var":"b"},{"not_equals":"","var":"c"}]}}`,
		`{"not": {"or": [{"var": "b", "in": [2, 1]}, {"var": "a", "contains": "x"}]}}`: `{"not":{"or":[{"in":[2,1],"var":"b"},{"contains":"x","var":"a"}]}}`,
	} {
		c := parsed(t, in)
		if got := string(c.Value().JCS()); got != want || c.String() != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if zero := (Condition{}); !zero.IsZero() || !zero.Value().IsNull() || zero.String() != "always" {
		t.Error("the zero condition has a value")
	}
}

func TestProblems(t *testing.T) {
	for _, row := range []struct{ condition, pointer, message, fix string }{
		{`"ready"`, "", "must be an object, got string", "var"},
		{`[]`, "", "must be an object, got array", "var"},
		{`{}`, "", "needs var, and, or, or not", "leave it out"},
		{`{"equals": 1}`, "", "needs var", "var"},
		{`{"var": "x", "equal": 1}`, "/equal", `unknown condition key "equal"`, "equals, not_equals"},
		{`{"var": "x", "equal": 1}`, "/equal", `unknown condition key "equal"`, `Did you mean "equals"?`},
		{`{"var": "x", "greater_than": 1}`, "/greater_than", "unknown condition key", `Did you mean "gt"?`},
		{`{"var": "x", "exists": true}`, "/exists", "unknown condition key", "whether the variable is set"},
		{`{"var": "x", "zzz": true}`, "/zzz", "unknown condition key", "Use var"},
		{`{"var": 1, "equals": 1}`, "/var", "path of names", "riskLevel"},
		{`{"var": "", "equals": 1}`, "/var", "path of names", "riskLevel"},
		{`{"var": "a..b", "equals": 1}`, "/var", "path of names", "riskLevel"},
		{`{"var": "a. b", "equals": 1}`, "/var", "path of names", "riskLevel"},
		{`{"var": "x", "gt": "1"}`, "/gt", "gt takes a value of kind number, got string", "equals"},
		{`{"var": "x", "in": "a"}`, "/in", "kind array", "that kind"},
		{`{"var": "x", "in": []}`, "/in", "never be true", "List"},
		{`{"var": "x", "contains": null}`, "/contains", "string or number or boolean, got null", "that kind"},
		{`{"and": []}`, "/and", "at least one condition", "and: [ … ] with at least one condition, or leave it out"},
		{`{"or": []}`, "/or", "at least one condition", "or: [ … ]"},
		{`{"var": ""}`, "/var", "path of names", "riskLevel"},
		{`{"or": {"var": "x", "equals": 1}}`, "/or", "or must be a list", "or: ["},
		{`{"and": [{"var": "x", "equals": 1}], "var": "y"}`, "", `and, var in one object`, "Nest"},
		{`{"or": [{"var": "x", "equals": 1}], "equals": 2}`, "", "comparisons need var", "separate object"},
		{`{"not": []}`, "/not", "must be an object", "var"},
		{`{"and": [{"var": "x", "equals": 1}, {"or": [{"not": {"var": " "}}]}]}`, "/and/1/or/0/not/var",
			"path of names", "riskLevel"},
	} {
		var found []problem.Problem
		c, ok := Parse(problem.SourceValue{Value: value(t, row.condition)},
			func(p problem.Problem) { found = append(found, p) })
		if ok || !c.IsZero() || len(found) != 1 {
			t.Errorf("%s: ok %v, found %v", row.condition, ok, found)
			continue
		}
		p := found[0]
		if p.Pointer != row.pointer || p.Severity != problem.Error || !strings.Contains(p.Message, row.message) ||
			!strings.Contains(p.Fix, row.fix) {
			t.Errorf("%s: found %+v", row.condition, p)
		}
		if _, err := Of(value(t, row.condition)); err == nil || !strings.Contains(err.Error(), row.message) {
			t.Errorf("%s: Of fails with %v", row.condition, err)
		}
	}
}

// TestAllProblemsAtOnce: a problem in one part does not hide those of other parts.
func TestAllProblemsAtOnce(t *testing.T) {
	var lines []int
	text := "{\"and\": [\n{\"var\": \"x \"},\n{\"var\": \"\", \"gt\": \"a\"},\n" +
		"{\"is\": 1, \"var\": \"y\", \"equals\": 1}]}"
	Parse(problem.SourceValue{Value: value(t, text)}, func(p problem.Problem) { lines = append(lines, p.Line) })
	if !slices.Equal(lines, []int{2, 3, 3, 4}) {
		t.Errorf("problems on lines %v", lines)
	}
}
