package criteria

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

// anyRule draws a rule about the letters a to c, sometimes with a condition on x.
func anyRule() *rapid.Generator[canon.Value] {
	return rapid.Custom(func(t *rapid.T) canon.Value {
		v := rapid.SampledFrom([]string{
			`{"type": "contains", "value": "a", "message": "a"}`,
			`{"type": "contains", "value": "bc", "message": "letters"}`,
			`{"type": "regex", "pattern": "^[ab]+$", "message": "only a, b"}`,
			`{"type": "regex", "pattern": "C", "flags": "i", "message": "c"}`,
			`{"type": "schema", "schema": {"maximum": 11, "type": "number"}, "message": "a number"}`,
			`{"type": "length", "min": 2, "message": "two"}`,
			`{"type": "length", "min": 1, "max": 3, "message": "bounds"}`,
		}).Draw(t, "rule")
		rule, err := canon.Parse([]byte(v))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 2).Draw(t, "conditional") == 0 {
			when, _ := canon.Parse([]byte(`{"var": "x", "equals": true}`))
			rule = rule.With("condition", when)
		}
		return rule
	})
}

func anyCriteria(depth int) *rapid.Generator[canon.Value] {
	if depth == 0 {
		return anyRule()
	}
	inner := anyCriteria(depth - 1)
	return rapid.OneOf(anyRule(), inner, rapid.Custom(func(t *rapid.T) canon.Value {
		name := rapid.SampledFrom([]string{"and", "or"}).Draw(t, "list")
		return composed(name, rapid.SliceOfN(inner, 1, 3).Draw(t, "parts")...)
	}), rapid.Map(inner, func(v canon.Value) canon.Value {
		return canon.OfMembers(canon.Member{Name: "not", Value: v})
	}))
}

func composed(name string, parts ...canon.Value) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(parts...)})
}

func must(t *rapid.T, v canon.Value) Criteria {
	c, err := Of(v)
	if err != nil {
		t.Fatalf("%s: %v", v.JCS(), err)
	}
	return c
}

func anyNotes() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("abcC1")), 0, 5, -1)
}

func anyContext(t *rapid.T) canon.Value {
	return canon.OfMembers(canon.Member{Name: "x", Value: canon.OfBool(rapid.Bool().Draw(t, "x"))})
}

// TestCombinationLaws: an "and" is the conjunction of its parts, an "or" the disjunction of
// those that apply, and a double negation changes nothing.
func TestCombinationLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyCriteria(2).Draw(t, "a"), anyCriteria(2).Draw(t, "b")
		notes, vars := anyNotes().Draw(t, "notes"), anyContext(t)
		accepts := func(v canon.Value) bool { return len(must(t, v).Check(notes, vars)) == 0 }
		applies := func(v canon.Value) bool { return len(must(t, v).Requirements(vars)) > 0 }

		if accepts(composed("and", a, b)) != (accepts(a) && accepts(b)) {
			t.Fatal("and is not both")
		}
		either := accepts(a) && applies(a) || accepts(b) && applies(b) || !applies(a) && !applies(b)
		if accepts(composed("or", a, b)) != either {
			t.Fatal("or is not one of those that apply")
		}
		not := canon.OfMembers(canon.Member{Name: "not", Value: a})
		if applies(a) && accepts(not) == accepts(a) {
			t.Fatal("not does not invert the verdict")
		}
		if !applies(a) && !accepts(not) {
			t.Fatal("the negation of a rule that does not apply fails")
		}
		if accepts(canon.OfMembers(canon.Member{Name: "not", Value: not})) != accepts(a) {
			t.Fatal("a double negation changes the verdict")
		}
	})
}

// TestFailuresMatchRequirements: the Requirement of every failure is among Requirements, and
// failures are in the same order.
func TestFailuresMatchRequirements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfN(anyRule(), 1, 5).Draw(t, "rules")
		notes, vars := anyNotes().Draw(t, "notes"), anyContext(t)
		c := must(t, canon.OfList(rules...))
		shown, at := c.Requirements(vars), 0
		for _, f := range c.Check(notes, vars) {
			i := slices.Index(shown[at:], f.Requirement)
			if i < 0 {
				t.Fatalf("%q fails, shown were %q", f.Requirement, shown)
			}
			at += i + 1
		}
	})
}

// TestNormalFormIsStable: the normal form gives the same failures and is its own normal form.
func TestNormalFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, anyCriteria(3).Draw(t, "criteria"))
		again := must(t, c.Value())
		notes, vars := anyNotes().Draw(t, "notes"), anyContext(t)
		if !again.Value().Equal(c.Value()) || !slices.Equal(again.Check(notes, vars), c.Check(notes, vars)) ||
			!slices.Equal(again.Requirements(vars), c.Requirements(vars)) || again.FlagOnly() != c.FlagOnly() {
			t.Fatalf("%s and %s differ", c.Value().JCS(), again.Value().JCS())
		}
	})
}
