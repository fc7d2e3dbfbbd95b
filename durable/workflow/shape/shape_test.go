package shape

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// checkText returns the problems of a JSON text, one per line.
func checkText(t *testing.T, s Shape, text string) string {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out []string
	s.Check(problem.SourceValue{Value: v, Pointer: "/at"}, func(p problem.Problem) {
		out = append(out, p.Pointer+": "+p.Message+" | "+p.Fix)
	})
	return strings.Join(out, "\n")
}

// TestShapes checks the full text of the messages, which authors of files rely on.
func TestShapes(t *testing.T) {
	name := Text{Pattern: pattern.New(`^[a-z]+$`), Like: "a lowercase name"}
	pair := Object{What: "a pair", Fields: []Field{{"left", Text{Min: 1}, Required}, {"right", Boolean, Optional}}}
	for _, row := range []struct {
		shape      Shape
		text, want string
	}{
		{Text{}, `""`, ``},
		{Text{}, `1`, `/at: expected a string, got number | Write a string.`},
		{Text{Min: 1}, `""`, `/at: expected a string that is not empty, got 0 characters | Write a string that is not empty.`},
		{Text{Min: 1}, `"` + strings.Repeat("x", 999) + `"`, ``},
		{Text{Max: 2}, `"äö"`, ``},
		{Text{Max: 2}, `"äöü"`,
			`/at: expected a string of at most 2 characters, got 3 characters | Write a string of at most 2 characters.`},
		{Text{Min: 2, Max: 3}, `"ab"`, ``},
		{Text{Min: 2, Max: 3}, `"abc"`, ``},
		{Text{Min: 2, Max: 3}, `"a"`,
			`/at: expected a string of 2 to 3 characters, got 1 characters | Write a string of 2 to 3 characters.`},
		{Text{Min: 2, Max: 3}, `"abcd"`,
			`/at: expected a string of 2 to 3 characters, got 4 characters | Write a string of 2 to 3 characters.`},
		{name, `"abc"`, ``},
		{name, `"Abc"`, `/at: expected a lowercase name, got "Abc" | Write a lowercase name.`},
		{name, `"A` + strings.Repeat("b", 50) + `"`, `/at: expected a lowercase name, got "A` +
			strings.Repeat("b", 39) + `…" | Write a lowercase name.`},
		{name, `"A` + strings.Repeat("b", 39) + `"`, `/at: expected a lowercase name, got "A` +
			strings.Repeat("b", 39) + `" | Write a lowercase name.`},
		{name, `"\u001b[2K"`, `/at: expected a lowercase name, got "\x1b[2K" | Write a lowercase name.`},
		{Text{Min: 1, Pattern: name.Pattern, Like: name.Like}, `"?"`,
			`/at: expected a lowercase name, got "?" | Write a lowercase name.`},

		{Words{"one"}, `"one"`, ``},
		{Words{"one"}, `"two"`, `/at: expected "one", got "two" | Write "one".`},
		{Words{"one", "two"}, `"tow"`, `/at: expected "one" or "two", got "tow" | Did you mean "two"?`},
		{Words{"one", "two", "three"}, `null`,
			`/at: expected "one", "two" or "three", got null | Write "one", "two" or "three".`},

		{Amount{Min: 1, Max: 3, Whole: true}, `1`, ``},
		{Amount{Min: 1, Max: 3, Whole: true}, `3.0`, ``},
		{Amount{Min: 1, Max: 3, Whole: true}, `2.5`,
			`/at: expected a whole number from 1 to 3, got 2.5 | Write a whole number from 1 to 3.`},
		{Amount{Min: 1, Max: 3}, `2.5`, ``},
		{Amount{Min: 1, Max: 3}, `0.5`, `/at: expected a number from 1 to 3, got 0.5 | Write a number from 1 to 3.`},
		{Amount{Min: 1, Max: 3}, `3.5`, `/at: expected a number from 1 to 3, got 3.5 | Write a number from 1 to 3.`},
		{Amount{Min: 1}, `1000000`, ``},
		{Amount{Min: 1, Whole: true}, `1e300`,
			`/at: expected a whole number from 1, got 1e+300 | Write a whole number from 1.`},
		{Amount{Min: 1}, `"1"`, `/at: expected a number from 1, got "1" | Write a number from 1.`},

		{Boolean, `false`, ``},
		{Boolean, `"true"`, `/at: expected true or false, got "true" | Write true or false.`},
		{AnyObject, `{"x": 1}`, ``},
		{AnyObject, `[]`, `/at: expected an object, got array | Write an object.`},
		{Anything{}, `null`, ``},

		{List{Of: Boolean}, `[]`, ``},
		{List{Of: Boolean}, `{}`, `/at: expected a list, got object | Write a list.`},
		{List{Of: Boolean}, `[true, 1]`, `/at/1: expected true or false, got number | Write true or false.`},
		{List{Of: Boolean, Min: 1}, `"x"`,
			`/at: expected a list that is not empty, got "x" | Write a list that is not empty.`},
		{List{Of: Boolean, Min: 2}, `[true]`,
			`/at: expected at least 2 items, got 1 | Add what is missing, or leave the key out.`},
		{List{Of: Boolean, Max: 2}, `[true, true]`, ``},
		{List{Of: Boolean, Max: 2}, `[true, true, true]`, `/at: expected at most 2 items, got 3 | Keep 2 of them.`},
		{List{Of: Anything{}, Unique: true}, `[{"a": 1, "b": 2}, [1], {"b": 2.0, "a": 1}]`,
			`/at/2: item 3 repeats item 1 | Remove or rename one of the two.`},
		{List{Of: pair, Key: "left"}, `[{"left": "a"}, {"left": "b"}, {"left": "b", "right": true}]`,
			`/at/2: item 3 repeats item 2 | Remove or rename one of the two.`},
		{List{Of: Anything{}, Key: "left"}, `[{"left": 1}, {"left": 1}, 1, 1, {}, {}]`, ``},

		{pair, `{"left": "x", "right": false}`, ``},
		{pair, `7`, `/at: expected an object that describes a pair, got number | Write an object that describes a pair.`},
		{pair, `{"right": true}`, `/at: a pair lacks "left" | Add "left": a string that is not empty.`},
		{pair, `{"left": "x", "rigth": true}`, `/at/rigth: a pair has no key "rigth" | Did you mean "right"?`},
		{pair, `{"left": "x", "a/b~c": true}`, `/at/a~1b~0c: a pair has no key "a/b~c" | Remove it; known keys: left, right.`},

		{Object{What: "a note", Open: true, Fields: pair.Fields}, `{"left": "x", "more": {"deep": 1}}`, ``},
		{Object{What: "a note", Open: true, Fields: pair.Fields}, `{"right": 1, "more": 2}`,
			"/at: a note lacks \"left\" | Add \"left\": a string that is not empty.\n" +
				"/at/right: expected true or false, got number | Write true or false."},

		{Dictionary{Value: Boolean}, `{"any key": true}`, ``},
		{Dictionary{Value: Boolean}, `[]`,
			`/at: expected an object with values of one kind, got array | Write an object with values of one kind.`},
		{Dictionary{Key: name, Value: Boolean}, `{"ok": true, "No": 1}`,
			"/at/No: expected a lowercase name, got \"No\" | Write a lowercase name.\n" +
				"/at/No: expected true or false, got number | Write true or false."},

		{ByKind{canon.Bool: Boolean, canon.String: name}, `"x"`, ``},
		{ByKind{canon.Bool: Boolean, canon.String: name}, `"X"`,
			`/at: expected a lowercase name, got "X" | Write a lowercase name.`},
		{ByKind{canon.Bool: Boolean, canon.String: name}, `3`,
			`/at: expected true or false or a lowercase name, got number | Write true or false or a lowercase name.`},

		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"a": Anything{}}}, `{"k": "a"}`, ``},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"a": Anything{}}}, `{}`,
			`/at/k: expected "a", got null | Write "a".`},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"a": Anything{}}}, `[]`,
			`/at: expected a thing, got array | Write a thing.`},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"": Anything{}, "abc": Anything{}}}, `{}`, ``},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"": Anything{}, "abc": Anything{}}}, `{"k": "xyz"}`,
			`/at/k: expected "abc" or no k, got "xyz" | Remove it, or write "abc".`},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"": Anything{}, "abc": Anything{}}}, `{"k": "abd"}`,
			`/at/k: expected "abc", got "abd" | Did you mean "abc"?`},
		{ByTag{Key: "k", Text: "a thing", Cases: map[string]Shape{"": Anything{}, "abc": Anything{}}}, `{"k": 1}`,
			`/at/k: expected "abc" or no k, got number | Remove it, or write "abc".`},
	} {
		if got := checkText(t, row.shape, row.text); got != row.want {
			t.Errorf("%+v of %s:\n got %s\nwant %s", row.shape, row.text, got, row.want)
		}
	}
}

// TestSchemas: a schema has the keywords with a value, and zeros that are canon values.
func TestSchemas(t *testing.T) {
	describe := func(what, key string) string {
		return map[string]string{"a pair.left": "The left one"}[what+"."+key]
	}
	pair := Object{What: "a pair", Fields: []Field{{"left", Text{Min: 1, Like: "a name"}, Required},
		{"right", Amount{Max: 3, Whole: true}, Optional}}}
	for _, row := range []struct {
		schema canon.Value
		want   string
	}{
		{Keywords{}.Value(), `{}`},
		{Keywords{"type": "", "minItems": 0, "uniqueItems": false, "enum": []string(nil)}.Value(), `{}`},
		{Keywords{"minimum": canon.OfInt(0), "maxItems": 2, "required": []string{"a"}}.Value(),
			`{"maxItems":2,"minimum":0,"required":["a"]}`},
		{Closed(map[string]canon.Value{}).Value(), `{"additionalProperties":false,"properties":{},"type":"object"}`},
		{pair.Schema(describe), `{"additionalProperties":false,"properties":{"left":{"description":"The left one",` +
			`"minLength":1,"type":"string"},"right":{"maximum":3,"minimum":0,"type":"integer"}},"required":["left"],` +
			`"title":"a pair","type":"object"}`},
		{Object{What: "a note", Open: true, Fields: []Field{{"right", Boolean, Optional}}}.Schema(describe),
			`{"properties":{"right":{"type":"boolean"}},"title":"a note","type":"object"}`},
		{List{Of: Words{"a", "b"}, Min: 1, Unique: true}.Schema(describe),
			`{"items":{"enum":["a","b"]},"minItems":1,"type":"array","uniqueItems":true}`},
		{canon.OfList(Combinations(JSONOf("$ref", "#"))...), `[{"additionalProperties":false,"properties":{"and":` +
			`{"items":{"$ref":"#"},"minItems":1,"type":"array"}},"required":["and"],"type":"object"},` +
			`{"additionalProperties":false,"properties":{"or":{"items":{"$ref":"#"},"minItems":1,"type":"array"}},` +
			`"required":["or"],"type":"object"},{"additionalProperties":false,"properties":{"not":{"$ref":"#"}},` +
			`"required":["not"],"type":"object"}]`},
	} {
		if got := string(row.schema.JCS()); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}
