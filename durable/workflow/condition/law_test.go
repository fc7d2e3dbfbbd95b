package condition

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

func anyValue() *rapid.Generator[canon.Value] {
	return rapid.OneOf(
		rapid.Just(canon.Value{}),
		rapid.Map(rapid.Bool(), canon.OfBool),
		rapid.Map(rapid.Int64Range(-3, 3), canon.OfInt),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "ab", "b", "3", "A ", " aB", "3.0", "yes", "True", " ", "-1e0"}),
			canon.OfString),
		rapid.Map(rapid.SliceOfN(rapid.Map(rapid.Int64Range(-3, 3), canon.OfInt), 0, 3),
			func(l []canon.Value) canon.Value { return canon.OfList(l...) }),
	)
}

func anyCondition(depth int) *rapid.Generator[canon.Value] {
	comparison := rapid.Custom(func(t *rapid.T) canon.Value {
		name := rapid.SampledFrom([]string{"x", "y", "z", "x.0", "w.y"}).Draw(t, "var")
		v := canon.OfMembers(canon.Member{Name: "var", Value: canon.OfString(name)})
		for range rapid.IntRange(0, 2).Draw(t, "tests") {
			op := rapid.SampledFrom(operators).Draw(t, "operator")
			operand := anyValue().Filter(func(v canon.Value) bool {
				ok := len(op.want) == 0
				for _, k := range op.want {
					ok = ok || v.Kind() == k && (k != canon.Array || v.Len() > 0)
				}
				return ok
			}).Draw(t, "operand")
			v = v.With(op.name, operand)
		}
		return v
	})
	if depth == 0 {
		return comparison
	}
	inner := anyCondition(depth - 1)
	under := func(name string) *rapid.Generator[canon.Value] {
		return rapid.Map(rapid.SliceOfN(inner, 1, 3), func(l []canon.Value) canon.Value {
			return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(l...)})
		})
	}
	return rapid.OneOf(comparison, under("and"), under("or"), rapid.Map(inner, negated))
}

func negated(v canon.Value) canon.Value {
	return canon.OfMembers(canon.Member{Name: "not", Value: v})
}

func anyVars() *rapid.Generator[canon.Value] {
	return rapid.Custom(func(t *rapid.T) canon.Value {
		out := canon.OfMembers()
		for _, name := range []string{"x", "y", "z"} {
			if rapid.Bool().Draw(t, "has "+name) {
				out = out.With(name, anyValue().Draw(t, name))
			}
		}
		return out
	})
}

func must(t *rapid.T, v canon.Value) Condition {
	c, err := Of(v)
	if err != nil {
		t.Fatalf("%s: %v", v.JCS(), err)
	}
	return c
}

// TestDeMorgan: negation distributes over lists.
func TestDeMorgan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(anyCondition(1), 1, 3).Draw(t, "parts")
		vars := anyVars().Draw(t, "vars")
		nots := make([]canon.Value, len(parts))
		for i, p := range parts {
			nots[i] = negated(p)
		}
		list := func(name string, items []canon.Value) canon.Value {
			return canon.OfMembers(canon.Member{Name: name, Value: canon.OfList(items...)})
		}
		for _, names := range [][2]string{{"and", "or"}, {"or", "and"}} {
			left := must(t, negated(list(names[0], parts)))
			right := must(t, list(names[1], nots))
			if left.Eval(vars) != right.Eval(vars) {
				t.Fatalf("%s and %s differ over %s", left, right, vars.JCS())
			}
		}
	})
}

// TestNormalFormIsStable: the normal form is equivalent and is its own normal form.
func TestNormalFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyCondition(3).Draw(t, "condition")
		vars := anyVars().Draw(t, "vars")
		c := must(t, v)
		again := must(t, c.Value())
		if !again.Value().Equal(c.Value()) {
			t.Fatalf("%s becomes %s, then %s", v.JCS(), c, again)
		}
		if c.Eval(vars) != again.Eval(vars) {
			t.Fatalf("%s and its normal form %s differ over %s", v.JCS(), again, vars.JCS())
		}
		if len(c.Missing(vars)) != len(again.Missing(vars)) {
			t.Fatalf("%s and its normal form miss different variables", v.JCS())
		}
	})
}

// TestMissingEqualsNull: setting every missing variable to null does not change the result.
func TestMissingEqualsNull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, anyCondition(2).Draw(t, "condition"))
		vars := anyVars().Draw(t, "vars")
		before := c.Eval(vars)
		for _, name := range c.Missing(vars) {
			vars = vars.With(name, canon.Value{})
		}
		if c.Eval(vars) != before || len(c.Missing(vars)) != 0 {
			t.Fatalf("%s changed with its missing variables as null: %s", c, vars.JCS())
		}
	})
}

// FuzzCondition checks that nothing panics, that the normal form of an accepted condition is
// accepted and equivalent, and that a rejected one has a problem.
func FuzzCondition(f *testing.F) {
	for _, seed := range []string{
		`{"var": "a.b.0", "equals": {"x": [1]}}`,
		`{"not": {"and": [{"var": "x", "gt": 1, "lte": 3}, {"or": [{"var": "y", "in": ["a", null]}]}]}}`,
		`{"var": "x"}`, `{"not": {"var": "a.b"}}`, `{"and": [], "or": 1}`, `{"var": "x", "contains": true}`, `[]`,
		`{"var": "a..b", "lt": "x"}`,
	} {
		f.Add(seed, vars)
	}
	f.Fuzz(func(t *testing.T, text, over string) {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			return
		}
		context, _ := canon.Parse([]byte(over))
		reports := 0
		c, ok := Parse(problem.SourceValue{Value: v}, func(problem.Problem) { reports++ })
		if ok != (reports == 0) {
			t.Fatalf("ok is %v with %d problems", ok, reports)
		}
		if !ok {
			return
		}
		again, err := Of(c.Value())
		if err != nil || again.Eval(context) != c.Eval(context) || !again.Value().Equal(c.Value()) {
			t.Fatalf("normal form %s of %s: %v", c.Value().JCS(), text, err)
		}
	})
}
