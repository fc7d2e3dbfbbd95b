package canon_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

var spellings = []string{
	`{}`, `{"a":1}`, `{"a":{"b":[1,2,{"c":null}],"d":true},"e":false}`, `{"a":"x\"y\\z\b\f\n\r\t\u0001\u001f"}`,
	`{"é":1}`, `{"a":"é日本😀"}`,
	`{"a":0}`, `{"a":-0}`, `{"a":01}`, `{"a":-1}`, `{"a":1.5}`, `{"a":1.50}`, `{"a":1e21}`, `{"a":1e+21}`, `{"a":1e5}`,
	`{"a":999999999999999}`,
	`{"a":9007199254740993}`, `{"a":9007199254740992}`, `{"a":1e999}`, `{"a":5e-324}`, `{"a":0.1}`,
	`{"a":100000000000000000000}`, `{"a":-}`, `{"a":.5}`, `{"a":1-2}`,
	`{"b":1,"a":2}`, `{"a":1,"a":1}`, `{"aB":1,"ab":1}`, `{"Ab":1,"aB":1}`, `{"A":1,"b":2,"a":3}`, `{"A":1,"a":2}`,
	`{"":1}`, `{"":1,"":2}`, `{"a":1,}`, `{"a":[1,]}`, `{"a":[,]}`,
	`{"a" :1}`, `{"a": 1}`, `{ }`, `{"a":1 }`, `{"a":"\u0041"}`, `{"a":"\/"}`, `{"a":"\u000a"}`, `{"a":"\u001F"}`,
	`{"a":"\ud800"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\x7f\"}",
	"{\"a\":\"\n\"}", "{\"a\":\"12345678\n\"}", "{\"a\":\"\x1f\"}", "{\"a\":\"\x00\"}", `{"a":tru}`, `{"a":nulll}`,
	`{"a":true}`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a":[}`, `{"a":{]}`, `{"a":"`, `{"a":"x`, `{"a":"\`,
	`{"\ufb33":1,"\ud83d\ude02":2}`,
	// Members are in the order of their names without escapes.
	`{"A":1,"\n":2}`, `{"\n":1,"A":2}`, `{"A":1,"\u0001":2}`, `{"\u0001":1,"A":2}`, `{"\"":1,"A":2}`, `{"A":1,"\\":2}`,
	`{"Z":1,"\\":2,"a":3}`, `{"\n":1,"\n":2}`, `{"x\nA":1,"x\na":2}`,
	`{"` + strings.Repeat("x", 100) + `":"` + strings.Repeat("é y", 50) + `"}`,
}

// law checks the invariants of canon.Checker: what it calls Canonical is accepted by canon and
// written identically; truncated input is never Canonical, and never refused while it could
// continue.
func law(t *testing.T, data []byte) {
	t.Helper()
	var s canon.Checker
	n, o := s.Value(data, 64, nil)
	if o == canon.Canonical {
		again, err := canon.Canonicalize(data[:n])
		if err != nil || !bytes.Equal(again, data[:n]) {
			t.Fatalf("%q is not exact: %q, %v", data[:n], again, err)
		}
		for i := range n {
			if _, o := s.Value(data[:i], 64, nil); o != canon.Short {
				t.Fatalf("%q cut at %d: %d", data[:n], i, o)
			}
		}
	}
	if o == canon.Short {
		if v, err := canon.Parse(data); err == nil && v.Kind() == canon.Object {
			t.Fatalf("%q is whole", data)
		}
	}
}

func TestJCSChecker(t *testing.T) {
	for _, text := range spellings {
		law(t, []byte(text))
		var s canon.Checker
		n, o := s.Value([]byte(text), 64, nil)
		again, err := canon.Canonicalize([]byte(text))
		same := err == nil && string(again) == text
		if same != (o == canon.Canonical && n == len(text)) {
			t.Errorf("%s: %d of %d bytes, %d", text, n, len(text), o)
		}
	}
	for depth, want := range map[int]canon.Outcome{2: canon.Other, 3: canon.Canonical} {
		var s canon.Checker
		if _, o := s.Value([]byte(`{"a":[{}]}`), depth, nil); o != want {
			t.Errorf("depth %d: %d", depth, o)
		}
	}
}

func FuzzSpelling(f *testing.F) {
	for _, text := range spellings {
		f.Add([]byte(text))
	}
	f.Fuzz(law)
}
