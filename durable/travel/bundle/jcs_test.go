package bundle

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
	`{"` + strings.Repeat("x", 100) + `":"` + strings.Repeat("é y", 50) + `"}`,
}

// law checks the invariants of jcsChecker: what it calls exact is accepted by canon and
// written identically; truncated input is never exact, and never refused while it could
// continue.
func law(t *testing.T, data []byte) {
	t.Helper()
	var s jcsChecker
	n, o := s.examine(data, 64, nil)
	if o == exact {
		again, err := canon.Canonicalize(data[:n])
		if err != nil || !bytes.Equal(again, data[:n]) {
			t.Fatalf("%q is not exact: %q, %v", data[:n], again, err)
		}
		for i := range n {
			if _, o := s.examine(data[:i], 64, nil); o != short {
				t.Fatalf("%q cut at %d: %d", data[:n], i, o)
			}
		}
	}
	if o == short {
		if v, err := canon.Parse(data); err == nil && v.Kind() == canon.Object {
			t.Fatalf("%q is whole", data)
		}
	}
}

func TestJCSChecker(t *testing.T) {
	for _, text := range spellings {
		law(t, []byte(text))
		var s jcsChecker
		n, o := s.examine([]byte(text), 64, nil)
		again, err := canon.Canonicalize([]byte(text))
		plain := !strings.Contains(text, `{"é"`) // canon checks names beyond ASCII
		if same := err == nil && string(again) == text; same && plain != (o == exact && n == len(text)) {
			t.Errorf("%s: %d of %d bytes, %d", text, n, len(text), o)
		}
	}
	for depth, want := range map[int]outcome{2: other, 3: exact} {
		var s jcsChecker
		if _, o := s.examine([]byte(`{"a":[{}]}`), depth, nil); o != want {
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

func TestReferences(t *testing.T) {
	good := canon.Sum([]byte("x"))
	if ref, ok := parseReference([]byte(good.String())); !ok || ref != good.Raw() {
		t.Error(ref, ok)
	}
	for _, bad := range []string{"", "sha256:", good.String()[1:], good.String() + "0", strings.ToUpper(good.String()),
		strings.Replace(good.String(), ":", "_", 1),
		good.String()[:70] + "g", good.String()[:70] + "A", "SHA256" + good.String()[6:]} {
		if _, ok := parseReference([]byte(bad)); ok {
			t.Errorf("%q accepted", bad)
		}
	}
}

// TestTable: every added reference is found, and embedded ones are sorted.
func TestTable(t *testing.T) {
	tab := newTable("snapshot")
	const n = 5000
	for i := range n {
		r, at := tab.get(canon.Sum([]byte{byte(i), byte(i >> 8)}).Raw())
		if at != uint32(i) || r.marks != 0 {
			t.Fatalf("%d: %d %v", i, at, r)
		}
		r.marks, r.at = embedded, uint32(i)
	}
	for i := range n {
		if r, at := tab.get(canon.Sum([]byte{byte(i), byte(i >> 8)}).Raw()); at != uint32(i) || r.at != uint32(i) {
			t.Fatalf("%d: %d %v", i, at, r)
		}
	}
	tab.get(reference{}) // needed, not embedded
	tab.sortEmbedded()
	for i, at := range tab.order {
		if i > 0 && bytes.Compare(tab.row(tab.order[i-1]).ref[:], tab.row(at).ref[:]) >= 0 {
			t.Fatalf("unsorted at %d", i)
		}
	}
	if _, ok := tab.find(reference{}); ok || len(tab.order) != n {
		t.Errorf("%d rows in order", len(tab.order))
	}
}
