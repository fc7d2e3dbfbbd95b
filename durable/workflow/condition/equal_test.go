package condition

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

// TestLooseEquality: each row is compared in both directions, by equals, not_equals and in.
func TestLooseEquality(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want relation
	}{
		{`"High"`, `"High"`, identical}, {`true`, `true`, identical}, {`3`, `3.0`, identical}, {`null`, `null`, identical},
		{`[1,{"a":"b"}]`, `[1,{"a":"b"}]`, identical}, {`" "`, `" "`, identical}, {`"3"`, `"3"`, identical},

		{`"High"`, `"high"`, alike}, {`"High"`, `"  HIGH\n"`, alike}, {`"High"`, `"\u00a0High\u2003"`, alike},
		{`"ÄRGER"`, `"ärger"`, alike}, {`"\u212a"`, `"k"`, alike}, {`""`, `" \t "`, alike},
		{`true`, `"true"`, alike}, {`true`, `" TRUE "`, alike}, {`true`, `"Yes"`, alike}, {`true`, `"YES\t"`, alike},
		{`false`, `"False"`, alike}, {`false`, `"no"`, alike}, {`false`, `" No"`, alike},
		{`3`, `"3"`, alike}, {`3`, `" 3 "`, alike}, {`3`, `"3.0"`, alike}, {`3`, `"30e-1"`, alike}, {`3`, `"0.3E1"`, alike},
		{`0`, `"0"`, alike}, {`0`, `"-0"`, alike}, {`-1.5`, `"-1.5"`, alike}, {`1e21`, `"1000000000000000000000"`, alike},
		{`0.1`, `"0.1000000000000000055511151231257827"`, alike},

		{`"High"`, `"Higher"`, different}, {`"a b"`, `"a  b"`, different}, {`"straße"`, `"STRASSE"`, different},
		{`"high"`, `"h\u200bigh"`, different}, {`"true"`, `"yes"`, different}, {`"3"`, `"3.0"`, different},
		{`true`, `"no"`, different}, {`true`, `"1"`, different}, {`true`, `"on"`, different}, {`true`, `"y"`, different},
		{`true`, `1`, different}, {`false`, `0`, different}, {`false`, `""`, different}, {`false`, `null`, different},
		{`3`, `"03"`, different}, {`3`, `"+3"`, different}, {`3`, `"3."`, different}, {`3`, `"three"`, different},
		{`3`, `"0x3"`, different}, {`3`, `"3 4"`, different}, {`3`, `"3_0"`, different}, {`0`, `""`, different},
		{`0`, `" "`, different}, {`0.5`, `".5"`, different}, {`30`, `"3_0"`, different}, {`1`, `"1e400"`, different},
		{`3`, `"３"`, different}, {`0`, `"NaN"`, different}, {`1e21`, `"Infinity"`, different},
		{`null`, `"null"`, different}, {`null`, `""`, different}, {`[1]`, `"[1]"`, different}, {`[1]`, `["1"]`, different},
		{`{"a":"B"}`, `{"a":"b"}`, different}, {`["A"]`, `["a"]`, different}, {`{}`, `"{}"`, different},
	} {
		for _, pair := range [][2]string{{row.a, row.b}, {row.b, row.a}} {
			vars := canon.OfMembers(canon.Member{Name: "x", Value: value(t, pair[0])})
			for test, negated := range map[string]bool{
				`"equals": ` + pair[1]: false, `"not_equals": ` + pair[1]: true, `"in": [[], ` + pair[1] + `]`: false,
			} {
				c := parsed(t, `{"var": "x", `+test+`}`)
				d := c.Decide(vars)
				if d.Held != (row.want != different) != negated || (len(d.Loose) > 0) != (row.want == alike) {
					t.Errorf("x is %s, %s: %+v", pair[0], test, d)
				}
				if row.want == alike && (d.Loose[0].Path != "x" || string(d.Loose[0].Expected.JCS()) != string(value(t, pair[1]).JCS()) ||
					string(d.Loose[0].Got.JCS()) != string(value(t, pair[0]).JCS())) {
					t.Errorf("x is %s, %s: match %+v", pair[0], test, d.Loose)
				}
				if s := c.Strictly().Decide(vars); s.Held != (row.want == identical) != negated || s.Loose != nil {
					t.Errorf("strictly, x is %s, %s: %+v", pair[0], test, s)
				}
			}
		}
	}
}

// TestLooseElsewhere: the other operators do not use the loose rule.
func TestLooseElsewhere(t *testing.T) {
	over := value(t, `{"text": "Three", "number": "3", "list": ["High", "3"], "flag": "no"}`)
	for _, c := range []string{
		`{"var": "text", "contains": "three"}`, `{"var": "list", "contains": "high"}`, `{"var": "list", "contains": 3}`,
		`{"var": "number", "gt": 2}`, `{"var": "number", "gte": 3}`, `{"var": "number", "lt": 4}`, `{"var": "number", "lte": 3}`,
		`{"not": {"var": "flag"}}`,
	} {
		if d := parsed(t, c).Decide(over); d.Held || d.Loose != nil {
			t.Errorf("%s: %+v", c, d)
		}
	}
}

// TestLooseMatches: which comparisons of a tree are reported.
func TestLooseMatches(t *testing.T) {
	const a, b, no = `{"var": "a", "equals": "Yes"}`, `{"var": "b", "equals": 3}`, `{"var": "c", "equals": "other"}`
	over := value(t, `{"a": true, "b": "3", "c": "strict"}`)
	for c, want := range map[string]string{
		a:                                  `a="Yes":true`,
		`{"not": ` + a + `}`:               `a="Yes":true`,
		`{"and": [` + a + `, ` + b + `]}`:  `a="Yes":true b=3:"3"`,
		`{"and": [` + a + `, ` + a + `]}`:  `a="Yes":true`,
		`{"and": [` + no + `, ` + b + `]}`: ``, // no is false, and b is not evaluated
		`{"or": [` + a + `, ` + b + `]}`:   `a="Yes":true`,
		`{"or": [` + no + `, ` + b + `]}`:  `b=3:"3"`,
		`{"or": [{"var": "gone", "not_equals": 1}, ` + b + `]}`: `b=3:"3"`, // gone does not decide
		`{"var": "c", "in": ["STRICT", "strict"]}`:              ``,        // strictly first
		`{"var": "c", "in": ["STRICT", "Strict"]}`:              `c="STRICT":"strict"`,
		`{"var": "b", "in": [4, 3], "not_equals": "4"}`:         `b=3:"3"`,
		`{"var": "b", "not_equals": 3, "in": [3]}`:              `b=3:"3"`, // not_equals is false
		`{"var": "gone", "in": ["", false, 0]}`:                 ``,
	} {
		var got []string
		for _, m := range parsed(t, c).Decide(over).Loose {
			got = append(got, fmt.Sprintf("%s=%s:%s", m.Path, m.Expected.JCS(), m.Got.JCS()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", c, got, want)
		}
	}
}

// TestLooseMatchesAreBounded: the first ones are reported, and the result is that of all comparisons.
func TestLooseMatchesAreBounded(t *testing.T) {
	const n = 20_000
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = fmt.Sprintf(`{"var": "a", "equals": "0e%d"}`, i)
	}
	over := value(t, `{"a": 0}`)
	d := parsed(t, `{"and": [`+strings.Join(numbers, ", ")+`]}`).Decide(over)
	if !d.Held || !d.Decided || len(d.Loose) != matchesMax || d.Loose[63].Expected.Text() != "0e63" {
		t.Errorf("%d matches, held %t, decided %t", len(d.Loose), d.Held, d.Decided)
	}
	if d := parsed(t, `{"and": [`+strings.Join(numbers, ", ")+`, {"var": "a", "equals": 1}]}`).Decide(over); d.Held {
		t.Error("a comparison after the reported ones does not count")
	}
}

// alikeTexts are texts of which many are alike, with values to which some are.
func alikeValue() *rapid.Generator[canon.Value] {
	text := rapid.SampledFrom([]string{"", "a", "A", "ä", "Ä", "yes", "YES", "no", "true", "False", "3", "3.0", "30e-1", "-3", "0", "1e400"})
	blank := rapid.SampledFrom([]string{"", " ", "\t", "\u00a0"})
	return rapid.OneOf(anyValue(), rapid.Custom(func(t *rapid.T) canon.Value {
		return canon.OfString(blank.Draw(t, "before") + text.Draw(t, "text") + blank.Draw(t, "after"))
	}))
}

// TestLooseLaws: loose equality is symmetric and contains the strict one; not_equals is the
// negation of equals, and in is equals of one member; a condition without a loose match has its
// strict result.
func TestLooseLaws(t *testing.T) {
	loose := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := alikeValue().Draw(t, "a"), alikeValue().Draw(t, "b")
		r := loosely(a)(b)
		if r != loosely(b)(a) || (r == identical) != a.Equal(b) || (r == identical) != (strictly(a)(b) == identical) {
			t.Fatalf("%s and %s: %v, %v in the other direction", a.JCS(), b.JCS(), r, loosely(b)(a))
		}
		if r == alike {
			loose++
		}
		with := func(name string, operand canon.Value) Condition {
			return must(t, canon.OfMembers(canon.Member{Name: "var", Value: canon.OfString("x")}, canon.Member{Name: name, Value: operand}))
		}
		over := canon.OfMembers(canon.Member{Name: "x", Value: a})
		equals, others := with("equals", b).Decide(over), with("not_equals", b).Decide(over)
		if equals.Held != (r != different) || others.Held == equals.Held || len(others.Loose) != len(equals.Loose) ||
			with("in", canon.OfList(b)).Eval(over) != equals.Held || with("equals", b).Strictly().Eval(over) != a.Equal(b) {
			t.Fatalf("%s and %s: %+v, not_equals %+v", a.JCS(), b.JCS(), equals, others)
		}
		c := must(t, anyCondition(3).Draw(t, "condition"))
		vars := anyVars().Draw(t, "vars")
		if d, s := c.Decide(vars), c.Strictly().Decide(vars); len(d.Loose) == 0 && (d.Held != s.Held || d.Decided != s.Decided) {
			t.Fatalf("%s over %s: %+v, strictly %+v", c, vars.JCS(), d, s)
		}
	})
	if loose == 0 && !testing.Short() {
		t.Error("no two values were alike")
	}
}
