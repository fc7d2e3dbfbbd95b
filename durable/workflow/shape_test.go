package workflow

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// judge lists what a shape says of a JSON text, one line a problem.
func judge(t *testing.T, s shape, text string) string {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out []string
	s.check(problem.Place{Value: v, Pointer: "/at"}, func(p problem.Problem) {
		out = append(out, p.Pointer+": "+p.Message+" | "+p.Fix)
	})
	return strings.Join(out, "\n")
}

// TestShapes pins every word of the messages: they are the interface of whoever
// mends a file.
func TestShapes(t *testing.T) {
	name := text{pattern: pattern.New(`^[a-z]+$`), like: "a lowercase name"}
	pair := object{"a pair", []field{need("left", text{min: 1}), may("right", boolean)}}
	for _, row := range []struct {
		shape      shape
		text, want string
	}{
		{text{}, `""`, ``},
		{text{}, `1`, `/at: expected a string, got number | Write a string.`},
		{text{min: 1}, `""`, `/at: expected a string that is not empty, got 0 characters | Write a string that is not empty.`},
		{text{min: 1}, `"` + strings.Repeat("x", 999) + `"`, ``},
		{text{max: 2}, `"äö"`, ``},
		{text{max: 2}, `"äöü"`, `/at: expected a string of at most 2 characters, got 3 characters | Write a string of at most 2 characters.`},
		{text{min: 2, max: 3}, `"ab"`, ``},
		{text{min: 2, max: 3}, `"abc"`, ``},
		{text{min: 2, max: 3}, `"a"`, `/at: expected a string of 2 to 3 characters, got 1 characters | Write a string of 2 to 3 characters.`},
		{text{min: 2, max: 3}, `"abcd"`, `/at: expected a string of 2 to 3 characters, got 4 characters | Write a string of 2 to 3 characters.`},
		{name, `"abc"`, ``},
		{name, `"Abc"`, `/at: expected a lowercase name, got "Abc" | Write a lowercase name.`},
		{name, `"A` + strings.Repeat("b", 50) + `"`, `/at: expected a lowercase name, got "A` + strings.Repeat("b", 39) + `…" | Write a lowercase name.`},
		{name, `"A` + strings.Repeat("b", 39) + `"`, `/at: expected a lowercase name, got "A` + strings.Repeat("b", 39) + `" | Write a lowercase name.`},
		{name, `"\u001b[2K"`, `/at: expected a lowercase name, got "\x1b[2K" | Write a lowercase name.`},
		{text{min: 1, pattern: name.pattern, like: name.like}, `"?"`, `/at: expected a lowercase name, got "?" | Write a lowercase name.`},

		{oneOf("one"), `"one"`, ``},
		{oneOf("one"), `"two"`, `/at: expected "one", got "two" | Write "one".`},
		{oneOf("one", "two"), `"tow"`, `/at: expected "one" or "two", got "tow" | Did you mean "two"?`},
		{oneOf("one", "two", "three"), `null`, `/at: expected "one", "two" or "three", got null | Write "one", "two" or "three".`},

		{amount{min: 1, max: 3, whole: true}, `1`, ``},
		{amount{min: 1, max: 3, whole: true}, `3.0`, ``},
		{amount{min: 1, max: 3, whole: true}, `2.5`, `/at: expected a whole number from 1 to 3, got 2.5 | Write a whole number from 1 to 3.`},
		{amount{min: 1, max: 3}, `2.5`, ``},
		{amount{min: 1, max: 3}, `0.5`, `/at: expected a number from 1 to 3, got 0.5 | Write a number from 1 to 3.`},
		{amount{min: 1, max: 3}, `3.5`, `/at: expected a number from 1 to 3, got 3.5 | Write a number from 1 to 3.`},
		{amount{min: 1}, `1000000`, ``},
		{amount{min: 1, whole: true}, `1e300`, `/at: expected a whole number from 1, got 1e+300 | Write a whole number from 1.`},
		{amount{min: 1}, `"1"`, `/at: expected a number from 1, got "1" | Write a number from 1.`},

		{boolean, `false`, ``},
		{boolean, `"true"`, `/at: expected true or false, got "true" | Write true or false.`},
		{anyObject, `{"x": 1}`, ``},
		{anyObject, `[]`, `/at: expected an object, got array | Write an object.`},
		{anything{}, `null`, ``},

		{list{of: boolean}, `[]`, ``},
		{list{of: boolean}, `{}`, `/at: expected a list, got object | Write a list.`},
		{list{of: boolean}, `[true, 1]`, `/at/1: expected true or false, got number | Write true or false.`},
		{list{of: boolean, min: 1}, `"x"`, `/at: expected a list that is not empty, got "x" | Write a list that is not empty.`},
		{list{of: boolean, min: 2}, `[true]`, `/at: expected at least 2 items, got 1 | Add what is missing, or leave the key out.`},
		{list{of: boolean, max: 2}, `[true, true]`, ``},
		{list{of: boolean, max: 2}, `[true, true, true]`, `/at: expected at most 2 items, got 3 | Keep 2 of them.`},
		{list{of: anything{}, unique: true}, `[{"a": 1, "b": 2}, [1], {"b": 2.0, "a": 1}]`, `/at/2: item 3 repeats item 1 | Remove or rename one of the two.`},
		{list{of: pair, key: "left"}, `[{"left": "a"}, {"left": "b"}, {"left": "b", "right": true}]`, `/at/2: item 3 repeats item 2 | Remove or rename one of the two.`},
		{list{of: anything{}, key: "left"}, `[{"left": 1}, {"left": 1}, 1, 1, {}, {}]`, ``},

		{pair, `{"left": "x", "right": false}`, ``},
		{pair, `7`, `/at: expected an object that describes a pair, got number | Write an object that describes a pair.`},
		{pair, `{"right": true}`, `/at: a pair lacks "left" | Add "left": a string that is not empty.`},
		{pair, `{"left": "x", "rigth": true}`, `/at/rigth: a pair has no key "rigth" | Did you mean "right"?`},
		{pair, `{"left": "x", "a/b~c": true}`, `/at/a~1b~0c: a pair has no key "a/b~c" | Remove it.`},

		{dictionary{value: boolean}, `{"any key": true}`, ``},
		{dictionary{value: boolean}, `[]`, `/at: expected an object with values of one kind, got array | Write an object with values of one kind.`},
		{dictionary{key: name, value: boolean}, `{"ok": true, "No": 1}`,
			"/at/No: expected a lowercase name, got \"No\" | Write a lowercase name.\n/at/No: expected true or false, got number | Write true or false."},

		{byKind{canon.Bool: boolean, canon.String: name}, `"x"`, ``},
		{byKind{canon.Bool: boolean, canon.String: name}, `"X"`, `/at: expected a lowercase name, got "X" | Write a lowercase name.`},
		{byKind{canon.Bool: boolean, canon.String: name}, `3`, `/at: expected true or false or a lowercase name, got number | Write true or false or a lowercase name.`},

		{byTag{"k", "a thing", map[string]shape{"a": anything{}}}, `{"k": "a"}`, ``},
		{byTag{"k", "a thing", map[string]shape{"a": anything{}}}, `{}`, `/at/k: expected "a", got null | Write "a".`},
		{byTag{"k", "a thing", map[string]shape{"a": anything{}}}, `[]`, `/at: expected a thing, got array | Write a thing.`},
		{byTag{"k", "a thing", map[string]shape{"": anything{}, "abc": anything{}}}, `{}`, ``},
		{byTag{"k", "a thing", map[string]shape{"": anything{}, "abc": anything{}}}, `{"k": "xyz"}`, `/at/k: expected "abc" or no k, got "xyz" | Remove it, or write "abc".`},
		{byTag{"k", "a thing", map[string]shape{"": anything{}, "abc": anything{}}}, `{"k": "abd"}`, `/at/k: expected "abc", got "abd" | Did you mean "abc"?`},
		{byTag{"k", "a thing", map[string]shape{"": anything{}, "abc": anything{}}}, `{"k": 1}`, `/at/k: expected "abc" or no k, got number | Remove it, or write "abc".`},
	} {
		if got := judge(t, row.shape, row.text); got != row.want {
			t.Errorf("%+v of %s:\n got %s\nwant %s", row.shape, row.text, got, row.want)
		}
	}
}

// TestShapesExplainThemselves: every shape of the tables can stand behind "expected".
func TestShapesExplainThemselves(t *testing.T) {
	seen := 0
	var visit func(path string, s shape)
	visit = func(path string, s shape) {
		seen++
		if w := s.want(); w == "" || strings.HasSuffix(w, ".") || strings.TrimSpace(w) != w {
			t.Errorf("%s: wants %q", path, w)
		}
		switch s := s.(type) {
		case object:
			names := map[string]bool{}
			for _, f := range s.fields {
				if names[f.name] {
					t.Errorf("%s: key %q stands twice in the table", path, f.name)
				}
				names[f.name] = true
				visit(path+"."+f.name, f.shape)
			}
		case list:
			visit(path+"[]", s.of)
		case byKind:
			for k, inner := range s {
				visit(path+"("+k.String()+")", inner)
			}
		case byTag:
			for tag, inner := range s.cases {
				visit(path+"("+tag+")", inner)
			}
		case dictionary:
			visit(path+"{}", s.value)
		case loopConfig:
			visit(path, loopConfigShape)
		}
	}
	visit("workflow", workflowShape)
	if seen < 200 {
		t.Errorf("only %d shapes were visited", seen)
	}
}
