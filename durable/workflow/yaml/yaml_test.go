package yaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

func TestStructure(t *testing.T) {
	for name, row := range map[string]struct{ yaml, json string }{
		"block mapping":  {"a: 1\nb:\n  c: x\n", `{"a":1,"b":{"c":"x"}}`},
		"block sequence": {"- 1\n- - 2\n  - 3\n", `[1,[2,3]]`},
		"flow":           {"{a: [1, two, 'three'], b: {}}", `{"a":[1,"two","three"],"b":{}}`},
		"json is yaml": {`{"a": [true, null, "x"], "b": {"c": -1.5e3}}`,
			`{"a":[true,null,"x"],"b":{"c":-1500}}`},
		"literal block":        {"a: |\n  one\n  two\n", `{"a":"one\ntwo\n"}`},
		"folded, stripped":     {"a: >-\n  one\n  two\n", `{"a":"one two"}`},
		"literal that is 12":   {"a: |-\n  12\n", `{"a":"12"}`},
		"quoted scalars":       {"a: '12'\nb: \"true\"\nc: ''\n", `{"a":"12","b":"true","c":""}`},
		"escapes":              {`a: "\x41\u00e9\U0001F600\L"`, "{\"a\":\"Aé😀\u2028\"}"},
		"absent value":         {"a:\nb: 1\n", `{"a":null,"b":1}`},
		"quoted keys":          {"'1': a\n\"true\": b\n'<<': c\n", `{"1":"a","<<":"c","true":"b"}`},
		"words of YAML 1.1":    {"yes: on\nno: off\n", `{"no":"off","yes":"on"}`},
		"comments":             {"# x\na: 1 # y\n", `{"a":1}`},
		"byte order mark":      {"\ufeffa: 1\n", `{"a":1}`},
		"document marks":       {"---\na: 1\n...\n", `{"a":1}`},
		"windows line ends":    {"a: 1\r\nb: |\r\n  x\r\n", `{"a":1,"b":"x\n"}`},
		"scalar document":      {"hello\n", `"hello"`},
		"replacement char":     {"a: \ufffd\n", "{\"a\":\"\ufffd\"}"},
		"explicit key":         {"? a\n: b\n", `{"a":"b"}`},
		"exclamation in text":  {"a: '!x'\nb: x !y\n", `{"a":"!x","b":"x !y"}`},
		"ampersand in text":    {"a: \"&x\"\nb: R&D *\n", `{"a":"&x","b":"R&D *"}`},
		"anchor-like in block": {"a: |\n  &x !y *z <<\n", `{"a":"&x !y *z <<\n"}`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Parse([]byte(row.yaml))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(v.JCS()); got != row.json {
				t.Errorf("got %s, want %s", got, row.json)
			}
		})
	}
}

func TestParseRejects(t *testing.T) {
	deep := strings.Repeat("[", limits.JSONDepthMax+2) + strings.Repeat("]", limits.JSONDepthMax+2)
	for name, row := range map[string]struct {
		yaml, pointer string
		line          int
		reason        string
	}{
		"anchor":              {"a: 1\nb: &x 2\n", "/b", 2, "anchor &x"},
		"anchor on a mapping": {"a: &x\n  b: 1\n", "/a", 1, "anchor &x"},
		"alias":               {"a: [1]\nb: *x\n", "", 1, "unknown anchor"},
		"anchor on a key":     {"? &k a\n: 1\n", "", 1, "anchor &k"},
		"known tag":           {"a: !!str 1\n", "/a", 1, "tag !!str"},
		"custom tag":          {"a:\n  - !mine x\n", "/a/0", 2, "tag !mine"},
		"bare tag":            {"é: x\nb: ! 12\n", "/b", 2, "tag !:"},
		"bare tag, wide line": {"[é, ! 12]\n", "/1", 1, "tag !:"},
		"bare tag, CRLF":      {"a: 1\r\nb: 2\r\nc: ! 12\r\n", "/c", 3, "tag !:"},
		"bare tag, CR":        {"a: 1\rb: ! 12\r", "/b", 2, "tag !:"},
		"tagged mapping":      {"a: !!map\n  b: 1\n", "/a", 1, "tag !!map"},
		"bare tagged mapping": {"a: ! {b: 1}\n", "/a", 1, "tag !:"},
		"merge key":           {"a:\n  <<: {b: 1}\n", "/a", 2, "merge key"},
		"duplicate key": {"a:\n  b: 1\n  c: 2\n  b: 3\n", "/a", 4,
			`duplicate key "b": it is already used on line 2`},
		"duplicate, quoted":    {"b: 1\n'b': 2\n", "", 2, "duplicate key"},
		"keys in two cases":    {"a: {b: 1}\nA: 2\n", "", 2, "differ only in case"},
		"second document":      {"a: 1\n---\nb: 1\n", "", 2, "second document"},
		"empty second":         {"a: 1\n---\n", "", 2, "second document"},
		"number as key":        {"a:\n  1: x\n", "/a", 2, `key "1" is not a string`},
		"boolean as key":       {"true: x\n", "", 1, "not a string"},
		"null as key":          {"~: x\n", "", 1, "not a string"},
		"infinity as key":      {".inf: x\n", "", 1, "not a string"},
		"list as key":          {"? [a]\n: x\n", "", 1, "keys must be strings"},
		"too deep":             {deep, strings.Repeat("/0", limits.JSONDepthMax+1), 1, "nested deeper than 64"},
		"infinity":             {"a: .inf\n", "/a", 1, "no infinities"},
		"not a number":         {"a: [.NaN]\n", "/a/0", 1, "no infinities"},
		"big integer":          {"a:\n  - 9007199254740993\n", "/a/0", 2, "not exactly a double"},
		"big hexadecimal":      {"a: 0xFFFFFFFFFFFFFFFFF\n", "/a", 1, "not exactly a double"},
		"big octal":            {"a: 0o7777777777777777777\n", "/a", 1, "not exactly a double"},
		"precise fraction":     {"a: 0.1000000000000000000001\n", "/a", 1, "not exactly a double"},
		"overflow":             {"a: 1e999\n", "/a", 1, "not exactly a double"},
		"invalid UTF-8":        {"a: 1\nb: \xff\n", "", 2, "not valid UTF-8"},
		"UTF-16":               {"\xff\xfea\x00:\x00 \x001\x00", "", 1, "not valid UTF-8"},
		"bare line separator":  {"a: 1\nb: x\u2028y\n", "", 2, `"\u2028"`},
		"bare next line":       {"a: x\u0085y\n", "", 1, `"\u0085"`},
		"control character":    {"a: \x01\n", "", 1, "not valid YAML"},
		"half a surrogate":     {`a: "\ud800"`, "", 1, "not valid YAML"},
		"empty":                {"", "", 1, "empty"},
		"only comments":        {"# nothing\n", "", 1, "empty"},
		"open flow":            {"a: [1\n", "", 1, "not valid YAML"},
		"bad indentation":      {"a:\n  b: 1\n c: 2\n", "", 3, "not valid YAML"},
		"broken behind a mark": {"a: 1\n---\nb: [\n", "", 3, "not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(row.yaml))
			var pe *canon.ParseError
			if !errors.As(err, &pe) {
				t.Fatalf("got error %v, want a *canon.ParseError", err)
			}
			if pe.Pointer != row.pointer || !strings.Contains(pe.Reason, row.reason) {
				t.Errorf("got %q at %q, want %q at %q", pe.Reason, pe.Pointer, row.reason, row.pointer)
			}
			// Lines from the YAML library may be one off; those of the writer are exact.
			if off := pe.Line - row.line; off != 0 && (!strings.HasPrefix(pe.Reason, "not valid YAML") || off < -1 ||
				off > 1) {
				t.Errorf("got line %d, want %d", pe.Line, row.line)
			}
		})
	}
}

// TestLines checks the line numbers of a document whose values are their own line numbers.
func TestLines(t *testing.T) {
	text := "# head\nat: 2\nlist:\n  - 4\n\n  - at: 6\n    deep: {at: 7, b: [\n      8, 8,\n      9]}\nblock: |\n" +
		"  text\n  text\nat_13: 13\nabsent:\nlast: 15\n"
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(v canon.Value)
	walk = func(v canon.Value) {
		if v.Kind() == canon.Number && v.Line() != int(v.Float()) {
			t.Errorf("value %v has line %d", v.Float(), v.Line())
		}
		for i := range v.Len() {
			walk(v.Item(i))
		}
	}
	walk(v)
	for name, want := range map[string]int{"block": 10, "list": 4, "absent": 14} {
		if m, _ := v.Get(name); m.Line() != want {
			t.Errorf("%s is on line %d, want %d", name, m.Line(), want)
		}
	}
	if v.Line() != 2 {
		t.Errorf("the root is on line %d, want 2", v.Line())
	}
}

// TestParseIsLinear checks that the cost of Parse is linear in the number of members of an
// object and of values on one line, which a hostile file could make large.
func TestParseIsLinear(t *testing.T) {
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, "key%d: %d\n", i, i)
	}
	for name, text := range map[string]string{
		"keys":     keys.String(),
		"one line": "[" + strings.Repeat("1,", 200_000) + "1]",
	} {
		v, err := Parse([]byte(text))
		if err != nil || v.Len() < 100_000 {
			t.Errorf("%s: got %d members, %v", name, v.Len(), err)
		}
	}
}
