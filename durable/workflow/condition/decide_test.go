package condition

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

func TestDecide(t *testing.T) {
	const yes, no, lacks = `{"var": "yes", "equals": true}`, `{"var": "no", "equals": true}`,
		`{"var": "gone", "equals": true}`
	over := value(t, vars)
	for _, row := range []struct {
		condition     string
		held, decided bool
	}{
		{yes, true, true},
		{no, false, true},
		{lacks, false, false},
		{`{"var": "gone", "not_equals": true}`, true, false},
		{`{"var": "nothing", "equals": null}`, true, true},
		{`{"var": "gone", "equals": null}`, true, false},
		{`{"var": "gone"}`, false, false},
		{`{"var": "nothing"}`, false, true},
		{`{"var": "yes"}`, true, true},
		{`{"not": {"var": "gone"}}`, true, false},
		{`{"and": [{"var": "gone"}, {"var": "zero"}]}`, false, true},
		{`{"var": "review.by.7", "equals": "x"}`, false, false},
		{`{"not": ` + lacks + `}`, true, false},
		{`{"not": ` + yes + `}`, false, true},
		{`{"and": [` + lacks + `, ` + no + `]}`, false, true},
		{`{"and": [` + no + `, ` + lacks + `]}`, false, true},
		{`{"and": [` + yes + `, ` + lacks + `]}`, false, false},
		{`{"and": [` + yes + `, {"not": ` + lacks + `}]}`, true, false},
		{`{"or": [` + lacks + `, ` + yes + `]}`, true, true},
		{`{"or": [` + no + `, ` + lacks + `]}`, false, false},
		{`{"or": [` + no + `, ` + no + `]}`, false, true},
		{`{"and": [` + lacks + `, ` + yes + `]}`, false, false},
		{`{"or": [` + lacks + `, ` + no + `]}`, false, false},
		{`{"not": {"or": [` + lacks + `, ` + yes + `]}}`, false, true},
		{`{"and": [{"or": [` + lacks + `, ` + yes + `]}, ` + yes + `]}`, true, true},
	} {
		if d := parsed(t, row.condition).Decide(over); d.Held != row.held || d.Decided != row.decided {
			t.Errorf("%s: got %+v", row.condition, d)
		}
	}
	if d := (Condition{}).Decide(over); !d.Held || !d.Decided {
		t.Error("the zero Condition is not true and decided")
	}
}

// TestDecisionIsStable: no value of an absent variable changes a decided result, and an
// undecided result equals that of Eval.
func TestDecisionIsStable(t *testing.T) {
	decisions := 0
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, anyCondition(3).Draw(t, "condition"))
		over := anyVars().Draw(t, "vars")
		d := c.Decide(over)
		held, decided := d.Held, d.Decided
		missing := c.Missing(over)
		if held != c.Eval(over) || !decided && len(missing) == 0 {
			t.Fatalf("%s over %s: held %v, decided %v", c, over.JCS(), held, decided)
		}
		if decided && len(missing) > 0 {
			decisions++
		}
		for _, name := range missing {
			if rapid.Bool().Draw(t, "given") {
				over = over.With(name, anyValue().Draw(t, name))
			}
		}
		if decided && c.Eval(over) != held {
			t.Fatalf("%s was decided as %v and changes over %s", c, held, over.JCS())
		}
	})
	if decisions == 0 {
		t.Error("nothing was decided while a variable was absent")
	}
}

func TestNever(t *testing.T) {
	const a, b, alone = `{"var": "x", "equals": "a"}`, `{"var": "x", "equals": "b"}`, `{"var": "x"}`
	for condition, want := range map[string]bool{
		a:                                 false,
		`{"and": [` + a + `, ` + b + `]}`: true,
		`{"and": [` + a + `, ` + a + `]}`: false,
		`{"or": [` + a + `, ` + b + `]}`:  false,
		`{"and": [` + a + `, {"var": "y", "equals": "b"}]}`:                                                    false,
		`{"and": [` + a + `, {"not": ` + a + `}]}`:                                                             true,
		`{"and": [` + a + `, {"not": ` + b + `}]}`:                                                             false,
		`{"and": [` + a + `, {"and": [{"var": "y", "gt": 1}, ` + b + `]}]}`:                                    true,
		`{"and": [` + a + `, {"or": [` + b + `, {"var": "x", "gt": 1}]}]}`:                                     true,
		`{"and": [` + a + `, {"or": [` + b + `, {"var": "y", "gt": 1}]}]}`:                                     false,
		`{"or": [{"and": [` + a + `, ` + b + `]}, {"var": "x", "gt": 3, "lt": 2}]}`:                            true,
		`{"var": "x", "equals": 3, "gt": 3}`:                                                                   true,
		`{"var": "x", "equals": 3, "gte": 3}`:                                                                  false,
		`{"var": "x", "gt": 3, "lt": 3.5}`:                                                                     false,
		`{"var": "x", "gt": 3, "lt": 3}`:                                                                       true,
		`{"var": "x", "gte": 3, "lte": 3}`:                                                                     false,
		`{"var": "x", "gte": 3, "lte": 3, "not_equals": 3}`:                                                    true,
		`{"var": "x", "gt": 3, "lte": 3}`:                                                                      true,
		`{"var": "x", "gt": 1, "contains": "a"}`:                                                               true,
		`{"var": "x", "in": ["a", "b"], "not_equals": "a"}`:                                                    false,
		`{"and": [{"var": "x", "in": ["a", "b"]}, {"var": "x", "in": ["c"]}]}`:                                 true,
		`{"and": [{"var": "x", "in": ["ab", "b"]}, {"var": "x", "contains": "c"}]}`:                            true,
		`{"not": {"or": [` + a + `, {"not": ` + a + `}]}}`:                                                     true,
		`{"not": {"var": "x", "gt": 1, "lt": 5}}`:                                                              false,
		`{"not": {"and": [{"or": [` + a + `, {"not": ` + a + `}]}, {"not": {"var": "x", "gt": 3, "lt": 2}}]}}`: true,
		`{"and": [{"var": "x", "equals": 3}, {"not": {"var": "x", "gt": 1, "lt": 5}}]}`:                        false, // "3" is no number
		`{"and": [{"var": "x", "equals": [3]}, {"not": {"var": "x", "equals": [3]}}]}`:                         true,
		`{"and": [{"var": "x", "equals": null}, {"var": "x", "not_equals": "a"}]}`:                             false,
		`{"and": [{"not": {"var": "x", "not_equals": 1}}, {"var": "x", "gt": 1}]}`:                             true,
		`{"and": [{"var": "x", "not_equals": 1}, {"var": "x", "not_equals": 2}]}`:                              false,
		// Of values that are alike, those that no other comparison excludes remain.
		`{"var": "x", "equals": "Yes", "in": ["TRUE"]}`:                                                                  false, // true
		`{"var": "x", "equals": "yes", "not_equals": true}`:                                                              true,
		`{"var": "x", "equals": "yes", "not_equals": " YES "}`:                                                           true,
		`{"var": "x", "equals": true, "in": ["no", "false", 1]}`:                                                         true,
		`{"var": "x", "equals": true, "not_equals": "yes"}`:                                                              false, // "true"
		`{"and": [{"var": "x", "equals": true}, {"var": "x", "not_equals": "yes"}, {"var": "x", "not_equals": "true"}]}`: true,
		`{"var": "x", "equals": 3, "not_equals": "3"}`:                                                                   false, // "3.0"
		`{"var": "x", "equals": 3, "in": ["3.0", "4"]}`:                                                                  false,
		`{"var": "x", "equals": 3, "in": ["4", "three"]}`:                                                                true,
		`{"var": "x", "equals": "3", "gt": 2}`:                                                                           false, // 3
		`{"var": "x", "equals": "3", "gt": 3}`:                                                                           true,
		`{"var": "x", "equals": 1e21, "contains": "e"}`:                                                                  false,
		`{"var": "x", "equals": "High", "contains": "IGH"}`:                                                              false,
		`{"var": "x", "equals": "High", "contains": "h "}`:                                                               false,
		`{"var": "x", "equals": "High", "contains": "low"}`:                                                              true,
		`{"var": "x", "equals": "High", "contains": "h l"}`:                                                              true,
		`{"and": [{"var": "x", "equals": "high"}, {"not": {"var": "x", "contains": "high"}}]}`:                           false,
		`{"and": [` + alone + `, {"var": "x", "equals": ""}]}`:                                                           false, // " "
		alone:                    false,
		`{"not": ` + alone + `}`: false,
		`{"and": [` + alone + `, {"not": ` + alone + `}]}`:            true,
		`{"and": [` + alone + `, ` + a + `]}`:                         false,
		`{"and": [` + alone + `, {"var": "x", "equals": 0}]}`:         false, // "0" is truthy
		`{"and": [` + alone + `, {"var": "x", "in": [0, "", null]}]}`: false,
		`{"and": [` + alone + `, {"var": "x", "equals": null}]}`:      true,
		`{"and": [{"not": ` + alone + `}, {"var": "x", "gt": 0}]}`:    true,
		`{"and": [{"not": ` + alone + `}, {"var": "x", "gte": 0}]}`:   false,
		`{"and": [` + alone + `, {"var": "x", "gte": 0, "lte": 0}]}`:  true,
		`{"and": [` + alone + `, {"var": "y", "equals": 0}]}`:         false,
	} {
		if got := parsed(t, condition).Never(); got != want {
			t.Errorf("%s: got %v", condition, got)
		}
	}
	if (Condition{}).Never() || !(Condition{}).Always() {
		t.Error("the zero Condition is not always true")
	}
	if c := parsed(t, `{"or": [`+a+`, {"not": `+a+`}]}`); !c.Always() || c.Never() {
		t.Error("a tautology is not always true")
	}
	if c := parsed(t, `{"or": [`+alone+`, {"not": `+alone+`}]}`); !c.Always() {
		t.Error("a variable is truthy or not")
	}
	if parsed(t, a).Always() || parsed(t, alone).Always() {
		t.Error("a comparison holds always")
	}
}

// TestNeverIsSound: a condition that Never or Always reports has that result in every context.
func TestNeverIsSound(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, anyCondition(3).Draw(t, "condition"))
		never, surely := c.Never(), c.Always()
		if never || surely {
			found++
		}
		for range 20 {
			if held := c.Eval(anyVars().Draw(t, "vars")); held && never || !held && surely {
				t.Fatalf("%s: held %v, never %v, always %v", c, held, never, surely)
			}
		}
	})
	if found == 0 && !testing.Short() {
		t.Error("no condition was reported")
	}
}

// TestSchema: the schema is JSON and contains every operator and form.
func TestSchema(t *testing.T) {
	schema := Schema("#/$defs/condition")
	var out struct {
		AnyOf []struct {
			Properties map[string]canon.Value
			Required   []string
		}
	}
	if err := json.Unmarshal(schema.JCS(), &out); err != nil || len(out.AnyOf) != 4 {
		t.Fatalf("%s: %v", schema.JCS(), err)
	}
	for _, op := range operators {
		if _, ok := out.AnyOf[0].Properties[op.name]; !ok || op.text == "" {
			t.Errorf("operator %s is not in the schema, or has no description", op.name)
		}
	}
	// type, properties, required, additionalProperties
	if comparison, _ := schema.Get("anyOf"); comparison.Item(0).Len() != 4 {
		t.Errorf("a var alone is rejected by %s", comparison.Item(0).JCS())
	}
	for i, form := range []string{"var", "and", "or", "not"} {
		if !slices.Equal(out.AnyOf[i].Required, []string{form}) {
			t.Errorf("form %d requires %q", i, out.AnyOf[i].Required)
		}
	}
}
