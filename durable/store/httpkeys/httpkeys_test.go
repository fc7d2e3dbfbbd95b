package httpkeys

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
)

func key(name string) Key { return NewKey(name, "text of "+name, []Scope{RunsRead}, 7) }

func TestScopesOfAFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Scope{
		"runs:read":                           {RunsRead},
		"runs:read,runs:create":               {RunsCreate, RunsRead},
		"runs:read, runs:create|runs:read":    {RunsCreate, RunsRead},
		"packs:publish|manifest:read":         {ManifestRead, PacksPublish},
		"":                                    nil,
		",":                                   nil,
		"runs:read,":                          nil,
		"runs":                                nil,
		"RUNS:READ":                           nil,
		"runs:read|":                          nil,
		"runs:read runs:create":               nil,
		"wbk_" + strings.Repeat("abcd", 13):   nil,
		"sk-" + strings.Repeat("a1B2", 20000): nil,
	} {
		got, err := ParseScopes(strings.Split(text, "|"))
		if want == nil && (!fault.Is(err, fault.ValidationError) || len(fault.Of(err).Message) > 200 ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "runs:create, runs:read")) {
			t.Errorf("%.20q: %v", text, err)
		}
		if want != nil && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "abcd") || strings.Contains(err.Error(), "a1B2")) {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
	if _, err := ParseScopes(nil); !fault.Is(err, fault.ValidationError) {
		t.Error("no scope:", err)
	}
	for _, s := range Scopes() {
		if got, err := ParseScopes([]string{string(s)}); err != nil || !slices.Equal(got, []Scope{s}) || s.Allows() == "" {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"ci": true, "CI-2.x_y": true, "7": true, strings.Repeat("a", 64): true, "": false,
		strings.Repeat("a", 65): false, "-ci": false, ".": false, "a b": false, "a/b": false, "key:a": false, "a\n": false,
		"ä": false, "а": false, Text([EntropyBytes]byte{}): false, "ghp_" + strings.Repeat("a1", 18): false} {
		if IsName(name) != want || (CheckName(name) == nil) != want {
			t.Errorf("%q can be a name: %v", name, !want)
		}
	}
	if err := CheckName(Text([EntropyBytes]byte{1})); strings.Contains(err.Error(), "aeaa") {
		t.Error(err)
	}
}

// TestTextOfAKey: 32 random bytes give a text that redaction finds, and different bytes another one.
func TestTextOfAKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range EntropyBytes {
		for bit := range 8 {
			var random [EntropyBytes]byte
			random[i] = 1 << bit
			text := Text(random)
			if len(text) != len(Prefix)+52 || seen[text] || redact.Text("see "+text+".", nil) != "see [REDACTED:waybill_token]." {
				t.Errorf("%q", text)
			}
			seen[text] = true
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	l, err := List{}.With(key("a"))
	if err == nil {
		l, err = l.With(key("b"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"text of a": "a", "text of b": "b", "text of c": "", "": "", "a": "",
		canon.Sum([]byte("text of a")).String(): ""} {
		if k, ok := Match(l.Keys, text); ok != (want != "") || k.Name != want {
			t.Errorf("%q: %v, %v", text, k, ok)
		}
	}
	if k, ok := Match(nil, "text of a"); ok || k.Name != "" {
		t.Error(k)
	}
	if !key("a").Has(RunsRead) || key("a").Has(RunsCreate) {
		t.Error("the scopes of a key")
	}
}

func TestListKeepsKeys(t *testing.T) {
	t.Parallel()
	l, _ := List{}.With(key("a"))
	l, err := l.With(key("b"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := l.Data()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read(data)
	if err != nil || !reflect.DeepEqual(back, l) {
		t.Fatalf("%+v, %v", back, err)
	}
	for _, taken := range []string{"a", "A"} {
		if _, err := back.With(key(taken)); !fault.Is(err, fault.ValidationError) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "serve keys remove a") {
			t.Errorf("%s: %v", taken, err)
		}
	}
	if _, err := back.With(NewKey("c", "text of a", []Scope{RunsRead}, 1)); err == nil {
		t.Error("one key has two names")
	}
	if _, err := back.With(NewKey("c", "c", nil, 1)); err == nil {
		t.Error("a key without a scope")
	}
	without := back.Without("a")
	if _, has := without.Of("a"); has || len(without.Keys) != 1 || len(back.Keys) != 2 {
		t.Errorf("%+v", without)
	}
	none, _ := List{}.Digest()
	for i, other := range []List{l, without} {
		if d, err := other.Digest(); err != nil || d == none {
			t.Error(i, err)
		}
	}
	if d, _ := without.Without("b").Digest(); d != none {
		t.Error("an emptied list is another than that of no file")
	}
}

func TestAtMostAHundredKeys(t *testing.T) {
	t.Parallel()
	var l List
	var err error
	for i := range keysMax {
		if l, err = l.With(key(fmt.Sprint("k", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = l.With(key("more")); !fault.Is(err, fault.StoreLimit) {
		t.Error(err)
	}
	l.Keys = append(l.Keys, key("more"))
	data, _ := l.Data()
	if _, err := Read(data); !fault.Is(err, fault.StoreCorrupt) {
		t.Error(err)
	}
}

func TestReadRefusesInvalidData(t *testing.T) {
	t.Parallel()
	if l, err := Read(canon.Value{}); err != nil || len(l.Keys) != 0 {
		t.Errorf("no file: %v, %v", l, err)
	}
	sum := canon.Sum(nil).String()
	good := `{"addedMs":1,"name":"a","scopes":["runs:create","runs:read"],"sha256":"` + sum + `"}`
	for text, ok := range map[string]bool{
		`{"keys":[]}`:                          true,
		`{"keys":[` + good + `]}`:              true,
		`[]`:                                   false,
		`{}`:                                   false,
		`{"keys":{}}`:                          false,
		`{"keys":[{}]}`:                        false,
		`{"keys":[],"more":1}`:                 false,
		`{"keys":[` + good + `,` + good + `]}`: false,
		`{"keys":[` + good + `,` + strings.Replace(good, `"a"`, `"b"`, 1) + `]}`:                                false,
		`{"keys":[` + strings.Replace(good, `"a"`, `"a b"`, 1) + `]}`:                                           false,
		`{"keys":[` + strings.Replace(good, `"addedMs":1`, `"addedMs":-1`, 1) + `]}`:                            false,
		`{"keys":[` + strings.Replace(good, `"addedMs":1,`, ``, 1) + `]}`:                                       false,
		`{"keys":[` + strings.Replace(good, `"name"`, `"more":1,"name"`, 1) + `]}`:                              false,
		`{"keys":[` + strings.Replace(good, `"runs:create","runs:read"`, `"runs:read","runs:create"`, 1) + `]}`: false,
		`{"keys":[` + strings.Replace(good, `"runs:create","runs:read"`, `"runs:read","runs:read"`, 1) + `]}`:   false,
		`{"keys":[` + strings.Replace(good, `"runs:create","runs:read"`, `"runs:all"`, 1) + `]}`:                false,
		`{"keys":[` + strings.Replace(good, `"runs:create","runs:read"`, ``, 1) + `]}`:                          false,
		`{"keys":[` + strings.Replace(good, sum, "", 1) + `]}`:                                                  false,
		`{"keys":[` + strings.Replace(good, sum, sum[:60], 1) + `]}`:                                            false,
		`{"keys":[` + strings.Replace(good, `"`+sum+`"`, `null`, 1) + `]}`:                                      false,
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(v); (err == nil) != ok || err != nil && !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzRead: what is read is written as the same data, and each of its keys can be named.
func FuzzRead(f *testing.F) {
	l, _ := List{}.With(key("a"))
	data, _ := l.Data()
	f.Add(data.JCS())
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := canon.Parse(b)
		if err != nil || v.IsNull() {
			return
		}
		l, err := Read(v)
		if err != nil {
			return
		}
		again, err := l.Data()
		if err != nil || !again.Equal(v) || l.check() != nil {
			t.Errorf("%s: %v", b, err)
		}
	})
}
