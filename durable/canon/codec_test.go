package canon_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// record holds one field of every type that the codec knows.
type record struct {
	Any      canon.Value    `json:"any"`
	Digest   canon.Digest   `json:"digest,omitzero"`
	Flag     bool           `json:"flag"`
	Float    float64        `json:"float"`
	Inner    inner          `json:"inner"`
	List     []inner        `json:"list"`
	Map      map[string]int `json:"map"`
	Node     id.Node        `json:"node"`
	Nullable *id.Node       `json:"nullable"`
	Optional *inner         `json:"optional,omitzero"`
	Text     string         `json:"text,omitzero"`
	Hidden   string         `json:"-"`
	private  string
	Whole    int64 `json:"whole"`
	Small    int32 `json:"small,omitzero"`
}

type inner struct {
	N int `json:"n"`
}

var aNode = id.RootNode(id.NewRun(id.Seed{1}))

const full = `{"any":[1,null],"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",` +
	`"flag":true,"float":0.5,"inner":{"n":1},"list":[{"n":2}],"map":{"a":1,"b":2},"node":"NODE","nullable":"NODE",` +
	`"optional":{"n":3},"small":4,"text":"x","whole":-9007199254740992}`

const least = `{"any":null,"flag":false,"float":0,"inner":{"n":0},"list":[],"map":{},"node":"NODE","nullable":null,"whole":0}`

func sample(text string) []byte { return []byte(strings.ReplaceAll(text, "NODE", aNode.String())) }

func TestMarshal(t *testing.T) {
	tests := []struct {
		name string
		in   record
		want string
	}{
		{"full", record{
			Any: canon.OfList(canon.OfInt(1), canon.Value{}), Digest: canon.Sum(nil), Flag: true, Float: 0.5,
			Inner: inner{1},
			List:  []inner{{2}}, Map: map[string]int{"b": 2, "a": 1}, Node: aNode, Nullable: &aNode,
			Optional: &inner{3},
			Text:     "x", Hidden: "never written", private: "never written", Whole: -1 << 53, Small: 4}, full},
		{"least", record{Node: aNode}, least},
	}
	for _, tt := range tests {
		got, err := canon.Marshal(tt.in)
		if err != nil || string(got) != string(sample(tt.want)) {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, sample(tt.want))
		}
	}
}

func TestUnmarshalUndoesMarshal(t *testing.T) {
	for _, text := range []string{full, least} {
		var got record
		if err := canon.UnmarshalExact(sample(text), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := canon.Marshal(got)
		if err != nil || string(again) != string(sample(text)) {
			t.Errorf("%s becomes %s, %v", sample(text), again, err)
		}
	}
}

func TestMarshalRefuses(t *testing.T) {
	type holder struct {
		V any `json:"v"`
	}
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"zero id", record{}, "node: id: zero node id"},
		{"zero digest", holder{canon.Digest{}}, "v: canon: zero digest"},
		{"invalid text", holder{"\xff"}, "v: canon: text is not valid UTF-8"},
		{"invalid key", holder{map[string]int{"\xff": 1}}, "v: canon: text is not valid UTF-8"},
		{"invalid text in a value", holder{canon.OfList(canon.OfString("\xff"))}, "v: canon: text is not valid UTF-8"},
		{"invalid key in a value", holder{canon.OfMembers(canon.Member{Name: "\xff"})},
			"v: canon: text is not valid UTF-8"},
		{"NaN", holder{math.NaN()}, "v: not a JSON number"},
		{"infinity in a value", holder{canon.OfFloat(math.Inf(1))}, "v: not a JSON number"},
		{"2^53 + 1", holder{int64(1<<53 + 1)}, "v: number is not exactly a double; send it as a string"},
		{"-(2^53 + 1)", holder{int64(-1<<53 - 1)}, "v: number is not exactly a double; send it as a string"},
		{"zero id as a key", map[id.Node]int{{}: 1}, "id: zero node id"},
	}
	for _, tt := range tests {
		if got, err := canon.Marshal(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	tests := []struct{ name, old, new, pointer, reason string }{
		{"unknown member first", `{"any"`, `{"Any0":1,"any"`, "", `unknown key "Any0"`},
		{"unknown member between", `"flag"`, `"fla":1,"flag"`, "", `unknown key "fla"`},
		{"unknown member last", `,"whole":0`, `,"whole":0,"z":1`, "", `unknown key "z"`},
		{"hidden field", `"inner"`, `"hidden":"x","inner"`, "", `unknown key "hidden"`},
		{"unknown member inside", `{"n":0}`, `{"n":0,"o":1}`, "/inner", `unknown key "o"`},
		{"missing member", `"flag":false,`, ``, "", `missing key "flag"`},
		{"missing last member", `,"whole":0`, ``, "", `missing key "whole"`},
		{"missing nullable member", `"nullable":null,`, ``, "", `missing key "nullable"`},
		{"missing member in a list", `"list":[]`, `"list":[{"n":1},{}]`, "/list/1", `missing key "n"`},
		{"another case", `"flag"`, `"Flag"`, "", `unknown key "Flag"`},
		{"null object", `{"n":0}`, `null`, "/inner", "want object, got null"},
		{"null list", `[]`, `null`, "/list", "want array, got null"},
		{"null map", `"map":{}`, `"map":null`, "/map", "want object, got null"},
		{"text for a boolean", `"flag":false`, `"flag":"no"`, "/flag", "want boolean, got string"},
		{"number for a boolean", `"flag":false`, `"flag":1`, "/flag", "want boolean, got number"},
		{"text for a number", `"float":0`, `"float":"0"`, "/float", "want number, got string"},
		{"number for text", `"whole"`, `"text":1,"whole"`, "/text", "want string, got number"},
		{"fraction for a whole number", `"whole":0`, `"whole":0.5`, "/whole", "want a whole number"},
		{"whole number beyond 2^53", `"whole":0`, `"whole":1e20`, "/whole", "want a whole number"},
		{"whole number beyond its type", `"whole"`, `"small":2147483648,"whole"`, "/small", "want a whole number"},
		{"text for a map's number", `"map":{}`, `"map":{"a/b":"x"}`, "/map/a~1b", "want number, got string"},
		{"number for an id", `"node":"NODE"`, `"node":1`, "/node", "want string, got number"},
		{"another id", `"node":"NODE"`, `"node":"run_x"`, "/node", "want node_ and 26 characters of a-z2-7"},
		{"digest in capitals", `"flag"`, `"digest":"sha256:E3B0","flag"`, "/digest",
			"want sha256: and 64 lowercase hexadecimal digits"},
		{"not an object", least, `[]`, "", "want object, got array"},
	}
	for _, tt := range tests {
		text := strings.Replace(least, tt.old, tt.new, 1)
		var got *canon.ParseError
		err := canon.Unmarshal(sample(text), new(record))
		if want := (canon.ParseError{Pointer: tt.pointer, Line: 1, Reason: tt.reason}); !errors.As(err, &got) ||
			*got != want {
			t.Errorf("%s: got %v, want %v", tt.name, err, &want)
		}
	}
}

// UnmarshalExact returns ErrNotCanonical for documents that are equal but not canonical.
func TestUnmarshalExactRefusesSecondSpellings(t *testing.T) {
	tests := []struct{ name, old, new string }{
		{"space", `,`, `, `},
		{"newline at the end", `"whole":0}`, "\"whole\":0}\n"},
		{"other order", `"flag":false,"float":0`, `"float":0,"flag":false`},
		{"escaped letter", `"flag"`, `"fl\u0061g"`},
		{"exponent", `"whole":0`, `"whole":0e1`},
		{"negative zero", `"float":0`, `"float":-0`},
		{"zero that is left out", `"whole"`, `"text":"","whole"`},
		{"null that is left out", `"whole"`, `"optional":null,"whole"`},
	}
	for _, tt := range tests {
		text := sample(strings.Replace(least, tt.old, tt.new, 1))
		if err := canon.Unmarshal(text, new(record)); err != nil {
			t.Errorf("%s: the changed document does not decode: %v", tt.name, err)
		}
		if err := canon.UnmarshalExact(text, new(record)); !errors.Is(err, canon.ErrNotCanonical) {
			t.Errorf("%s: got %v, want ErrSpelling", tt.name, err)
		}
	}
}

// Marshal reproduces all bytes that UnmarshalExact accepts, and Unmarshal decodes them to the
// same value.
func FuzzUnmarshalExact(f *testing.F) {
	f.Add(sample(full))
	f.Add(sample(least))
	f.Add(sample(strings.Replace(least, `"flag"`, `"fl\u0061g"`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var exact, lenient record
		if canon.UnmarshalExact(data, &exact) != nil {
			return
		}
		if again, err := canon.Marshal(exact); err != nil || string(again) != string(data) {
			t.Fatalf("%s is accepted and encoded as %s, %v", data, again, err)
		}
		if err := canon.Unmarshal(data, &lenient); err != nil || !reflect.DeepEqual(exact, lenient) {
			t.Fatalf("%s decodes to two different values: %v", data, err)
		}
	})
}
