package canon_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"pgregory.net/rapid"
)

// flat is record without the types that Exact does not support.
type flat struct {
	Any      canon.Value  `json:"any"`
	Digest   canon.Digest `json:"digest,omitzero"`
	Flag     bool         `json:"flag,omitzero"`
	Float    float64      `json:"float"`
	List     []inner      `json:"list,omitzero"`
	More     []string     `json:"more"`
	Nullable *inner       `json:"nullable"`
	Optional *inner       `json:"optional,omitzero"`
	Self     *flat        `json:"self,omitzero"`
	Small    int32        `json:"small,omitzero"`
	Text     string       `json:"text,omitzero"`
}

// Decoding in one pass accepts exactly the texts that decoding and comparing accepts. With Words the result does not share
// memory with the text.
func TestUnmarshalDirectAgreesWithUnmarshalCompared(t *testing.T) {
	texts := []string{
		`{"any":[1,{"a":null,"b":"é"}],"float":0.5,"more":[],"nullable":null}`,
		`{"any":{},"flag":true,"float":1e+21,"list":[{"n":1},{"n":-2}],"more":["a","\n\u0001"],"nullable":{"n":3},"optional":{"n":0},"small":2147483647,"text":"x"}`,
		`{"any":"` + strings.Repeat("a", 90) + `","digest":"` + canon.Sum(nil).String() + `","float":0,"more":["x","` +
			strings.Repeat("a", 90) + `"],"nullable":null,"self":{"any":[[[]]],"float":-3,"more":[],"nullable":null}}`,
	}
	odd := []string{" ", "0", "-0", "1.0", "null", "false", "true", `""`, `"a"`, `\u0041`, `\n`, "\x00", "\xff", "[]",
		"{}", ",", "2147483648", "9007199254740993",
		`"b":1,`, `"B":1,`, `"b":1,"a":1`, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
		`"text":""`, `"flag":false,`, `"list":[],`}
	accepted, words := 0, canon.Words{}
	try := func(text []byte) {
		t.Helper()
		var compared, direct, copied flat
		err := canon.UnmarshalCompared(text, &compared)
		ok := canon.UnmarshalDirect(text, &direct)
		if ok != (err == nil) || ok && !reflect.DeepEqual(compared, direct) {
			t.Fatalf("%s: direct %v %+v, compared %v %+v", text, ok, direct, err, compared)
		}
		text = slices.Clone(text)
		x := words.Exact(canon.SharedText(text))
		own := x.Into(&copied, 0) && x.Done()
		clear(text)
		if own != ok || ok && !reflect.DeepEqual(copied, direct) {
			t.Fatalf("%+v: copied %v %+v", direct, own, copied)
		}
		if ok {
			accepted++
		}
	}
	// One change of each kind at every offset, then several at once.
	for _, text := range texts {
		for at := range len(text) + 1 {
			for cut := range min(4, len(text)-at+1) {
				for _, o := range append(odd, "") {
					try(slices.Concat([]byte(text[:at]), []byte(o), []byte(text[at+cut:])))
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(rapid.SampledFrom(texts).Draw(rt, "text"))
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
			to := min(len(text), at+rapid.IntRange(0, 8).Draw(rt, "cut"))
			text = slices.Concat(text[:at], []byte(rapid.SampledFrom(odd).Draw(rt, "odd")), text[to:])
		}
		try(text)
	})
	if accepted == 0 {
		t.Error("no text was decoded directly")
	}
}
