package canon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// refused is a text with the location and the reason of its error.
type refused struct {
	name, text, pointer string
	line                int
	reason              string
}

func refuseAll(t *testing.T, tests []refused) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := canon.Parse([]byte(tt.text))
			var got *canon.ParseError
			if !errors.As(err, &got) {
				t.Fatalf("accepted as %s (error %v)", v.JCS(), err)
			}
			want := canon.ParseError{Pointer: tt.pointer, Line: tt.line, Reason: tt.reason, Column: got.Column}
			if *got != want {
				t.Errorf("got  %+v\nwant %+v", *got, want)
			}
		})
	}
}

// TestParseErrorColumn: the column is that at which reading stopped, in characters of its line.
func TestParseErrorColumn(t *testing.T) {
	for text, want := range map[string]int{"/": 1, "{\"é\": /}": 7, "[1,\n  2,\n  x]": 3} {
		_, err := canon.Parse([]byte(text))
		var got *canon.ParseError
		if !errors.As(err, &got) || got.Column != want {
			t.Errorf("%q: %+v, want column %d", text, got, want)
		}
	}
}

// Texts that are JSON, and that Parse refuses (docs/design.md#json-from-outside).
func TestParseRefuses(t *testing.T) {
	nested := func(n int, inside string) string {
		return strings.Repeat("[", n) + inside + strings.Repeat("]", n)
	}
	deep := strings.Repeat("/0", limits.JSONDepthMax)
	const inexact = "number is not exactly a double; send it as a string"
	refuseAll(t, []refused{
		{"duplicate key", "{\"a\":1,\n\"b\":2,\n\"a\":3\n}", "", 3, `duplicate key "a"`},
		{"duplicate key in order", `{"a":1,"a":1}`, "", 1, `duplicate key "a"`},
		{"duplicate key, one escaped", `{"x":{"a":1,"\u0061":2}}`, "/x", 1, `duplicate key "a"`},
		{"case collision", "{\"x\":[0,{\"ab\":1,\n\"c\":2,\n\"aB\":3\n}]}", "/x/1", 3,
			`keys "aB" and "ab" differ only in case`},
		{"case collision beyond ASCII", `{"é":1,"É":2}`, "", 1, `keys "É" and "é" differ only in case`},
		{"case collision by folding", `{"s":1,"ſ":2}`, "", 1, `keys "s" and "ſ" differ only in case`},
		{"invalid UTF-8", "{\"a\":\n\"\xff\"}", "", 2, "text is not valid UTF-8"},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "", 1, "text is not valid UTF-8"},
		{"overlong UTF-8", "\"\xc0\x80\"", "", 1, "text is not valid UTF-8"},
		{"65 arrays", nested(65, ""), deep, 1, "nested deeper than 64 levels"},
		{"65 arrays around a number", nested(65, "1"), deep, 1, "nested deeper than 64 levels"},
		{"an object in 64 arrays", nested(64, "{}"), deep, 1, "nested deeper than 64 levels"},
		{"100,000 arrays", strings.Repeat("[", 100_000), deep, 1, "nested deeper than 64 levels"},
		{"2^53 + 1", `{"n":9007199254740993}`, "/n", 1, inexact},
		{"-(2^53 + 1)", `-9007199254740993`, "", 1, inexact},
		{"2^53 + 1 with a point", `9007199254740993.0`, "", 1, inexact},
		{"2^53 + 1 with an exponent", `9007199254740993e0`, "", 1, inexact},
		{"2^63 - 1", `9223372036854775807`, "", 1, inexact},
		{"20 digits", `12345678901234567890`, "", 1, inexact},
		{"overflow", `[1,1e400]`, "/1", 1, inexact},
		{"underflow", `1e-400`, "", 1, inexact},
		{"underflow beyond every exponent", `1e-99999999999999999999`, "", 1, inexact},
		{"too many digits", `0.1000000000000000055`, "", 1, inexact},
		{"between two doubles", `4.9e-324`, "", 1, inexact},
		{"half a pair", `["\ud800"]`, "/0", 1, "half a surrogate pair in a string"},
		{"low half first", `"\udc00\ud800"`, "", 1, "half a surrogate pair in a string"},
		{"high half before a letter", `"\ud83dx"`, "", 1, "half a surrogate pair in a string"},
		{"high half before another escape", `"\ud83d\u0041"`, "", 1, "half a surrogate pair in a string"},
		{"half a pair in a key", `{"a":{"\ud800":1}}`, "/a", 1, "half a surrogate pair in a string"},
	})
}

// Texts that are not JSON.
func TestParseRefusesInvalidJSON(t *testing.T) {
	refuseAll(t, []refused{
		{"short escape", `"\u12"`, "", 1, `want four hexadecimal digits after \u`},
		{"signed escape", `"\u+123"`, "", 1, `want four hexadecimal digits after \u`},
		{"unknown escape", `"\x41"`, "", 1, `unknown escape \x in a string`},
		{"unknown escape beyond ASCII", `"\é"`, "", 1, `unknown escape \é in a string`},
		{"escape at the end", `"\`, "", 1, "string without an end"},
		{"control character", "{\"a\":\"x\ty\"}", "/a", 1, "unescaped control character U+0009 in a string"},
		{"newline behind an escape", "\"\\n\n\"", "", 1, "unescaped control character U+000A in a string"},
		{"open string", `{"a":"x`, "/a", 1, "string without an end"},
		{"open string behind an escape", `"\nx`, "", 1, "string without an end"},
		{"trailing text", "{}\n{}", "", 2, "unexpected '{' after the document"},
		{"trailing word", `truex`, "", 1, "unexpected 'x' after the document"},
		{"byte order mark", "\ufeff{}", "", 1, `unexpected '\ufeff' where a value should stand`},
		{"no text", "", "", 1, "unexpected end of text"},
		{"only space", " \n ", "", 2, "unexpected end of text"},
		{"other white space", "\u00a01", "", 1, `unexpected '\u00a0' where a value should stand`},
		{"capital word", `{"a":True}`, "/a", 1, "unexpected 'T' where a value should stand"},
		{"NaN", `NaN`, "", 1, "unexpected 'N' where a value should stand"},
		{"plus sign", `+1`, "", 1, "unexpected '+' where a value should stand"},
		{"leading zero", `01`, "", 1, "unexpected '1' after the document"},
		{"point without digits", `[1.]`, "/0", 1, "unexpected ']' after the decimal point"},
		{"point first", `.5`, "", 1, "unexpected '.' where a value should stand"},
		{"exponent without digits", `1e+`, "", 1, "unexpected end of text in an exponent"},
		{"minus alone", `-`, "", 1, "unexpected end of text in a number"},
		{"trailing comma in a list", `[1,]`, "/1", 1, "unexpected ']' where a value should stand"},
		{"trailing comma in an object", `{"a":1,}`, "", 1, "unexpected '}': want a key in double quotes"},
		{"no comma in a list", `[1 2]`, "", 1, "unexpected '2' in an array: want , or ]"},
		{"no comma in an object", `{"a":1 "b":2}`, "", 1, `unexpected '"' in an object: want , or }`},
		{"no colon", `{"a/b~c" 1}`, "/a~1b~0c", 1, "unexpected '1' after a key: want a colon"},
		{"key without quotes", `{a:1}`, "", 1, "unexpected 'a': want a key in double quotes"},
		{"comment", "// no\n1", "", 1, "unexpected '/' where a value should stand"},
	})
}

// Accepted texts and their canonical form.
func TestParseAccepts(t *testing.T) {
	tests := []struct{ text, jcs string }{
		{`0.1`, `0.1`},
		{`1e2`, `100`},
		{`-0`, `0`},
		{`-0.0e5`, `0`},
		{`0e99999999999999999999`, `0`},
		{`1.50`, `1.5`},
		{`1E+2`, `100`},
		{`9007199254740992`, `9007199254740992`},
		{`-9007199254740992`, `-9007199254740992`},
		{`999999999999999`, `999999999999999`},
		{`1e20`, `100000000000000000000`},
		{`100000000000000000000`, `100000000000000000000`},
		{`9.007199254740994e15`, `9007199254740994`},
		{`1152921504606847e3`, `1152921504606847000`},
		{`1000000000000000000000`, `1e+21`},
		{`5e-324`, `5e-324`},
		{`1.7976931348623157e308`, `1.7976931348623157e+308`},
		{`0.000001`, `0.000001`},
		{`0.0000001`, `1e-7`},
		{`"\ud83d\ude00"`, `"😀"`},
		{`"\u0000\u001f\u007f\u2028"`, "\"\\u0000\\u001f\u007f\u2028\""},
		{`"\/\b\f\n\r\t\"\\"`, `"/\b\f\n\r\t\"\\"`},
		{" [ 1 ,\r\n\t2 ] ", `[1,2]`},
		{`{"b":1,"a":{}}`, `{"a":{},"b":1}`},
		{`{"İ":1,"i":2}`, `{"i":2,"İ":1}`}, // no caseCollision: neither folds to the other
		{strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64), strings.Repeat("[", 64) + "1" +
			strings.Repeat("]", 64)},
	}
	for _, tt := range tests {
		got, err := canon.Canonicalize([]byte(tt.text))
		if err != nil || string(got) != tt.jcs {
			t.Errorf("%s: got %s, %v; want %s", tt.text, got, err, tt.jcs)
			continue
		}
		if again, err := canon.Canonicalize(got); err != nil || string(again) != tt.jcs {
			t.Errorf("%s is canonical and was changed: %s, %v", got, again, err)
		}
	}
}

func TestParseKeepsLines(t *testing.T) {
	v, err := canon.Parse([]byte("{\n\"b\": [\n1,\n\ntrue],\n\"a\":\n\"x\"}"))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.Get("b")
	text, _ := v.Get("a")
	for _, tt := range []struct {
		name string
		v    canon.Value
		want int
	}{{"object", v, 1}, {"array", list, 2}, {"number", list.Item(0), 3}, {"boolean", list.Item(1), 5},
		{"string", text, 7}} {
		if tt.v.Line() != tt.want {
			t.Errorf("%s: line %d, want %d", tt.name, tt.v.Line(), tt.want)
		}
	}
}

func TestParseErrorNamesPointerAndLine(t *testing.T) {
	tests := []struct {
		err  canon.ParseError
		want string
	}{
		{canon.ParseError{Pointer: "/a", Line: 3, Reason: "no"}, "no at /a, line 3"},
		{canon.ParseError{Line: 1, Reason: "no"}, "no at the document, line 1"},
		{canon.ParseError{Pointer: "/a", Reason: "no"}, "no at /a"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
