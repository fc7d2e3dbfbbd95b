package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// junk are values of wrong kinds, to be put in place of others.
var junk = []string{`null`, `true`, `0`, `-1.5`, `1e300`, `""`, `"x"`, `"wr.x"`, `"{{wr.x}}"`, `[]`, `[null]`, `[[]]`,
	`{}`, `{"": 1}`,
	`{"kind": "ref"}`, `{"var": "x"}`, `{"type": "loop"}`, `[{"id": "a"}]`, `{"and": [{"var": "x", "equals": 1}]}`}

// damaged returns v with one value replaced, removed or duplicated.
func damaged(t *rapid.T, v canon.Value) canon.Value {
	if v.Len() == 0 || rapid.IntRange(0, 4).Draw(t, "here") == 0 {
		out, err := canon.Parse([]byte(rapid.SampledFrom(junk).Draw(t, "junk")))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	i := rapid.IntRange(0, v.Len()-1).Draw(t, "child")
	if v.Kind() == canon.Object {
		switch name := v.Key(i); rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			return v.Without(name)
		case 1:
			return v.Without(name).With(name+"x", v.Item(i))
		default:
			return v.With(name, damaged(t, v.Item(i)))
		}
	}
	var items []canon.Value
	for j := range v.Len() {
		items = append(items, v.Item(j))
	}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		items = append(items[:i], items[i+1:]...)
	case 1:
		items = append(items, items[i])
	default:
		items[i] = damaged(t, items[i])
	}
	return canon.OfList(items...)
}

// TestDamagedFiles: a damaged file is either accepted, or rejected with problems at places
// that exist, none of which is an internal error.
func TestDamagedFiles(t *testing.T) {
	var originals []canon.Value
	for _, pattern := range []string{"../../../testdata/workflows/*.json", "../../../testdata/workflows/*.y*ml",
		"../../../testdata/workflows/invalid/*.json"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			src, _ := Parse(name, SourceProject, data)
			originals = append(originals, src.Root.Value)
		}
	}
	if len(originals) < 7 {
		t.Fatalf("only %d examples", len(originals))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(originals).Draw(t, "original")
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			v = damaged(t, v)
		}
		src, found := Parse("x.json", SourceProject, v.JCS())
		if src.Valid == HasErrors(found) {
			t.Fatalf("valid is %v with %v", src.Valid, found)
		}
		for _, p := range found {
			if strings.Contains(p.Fix, "bug of Waybill") {
				t.Fatalf("%s: %+v", v.JCS(), p)
			}
			if !pointerExists(src.Root, p.Pointer) {
				t.Fatalf("%s: no value at %q", v.JCS(), p.Pointer)
			}
		}
	})
}

// pointerExists reports whether a pointer resolves to a value, or to a missing member of an
// existing object.
func pointerExists(root problem.SourceValue, pointer string) bool {
	at := root
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch at.Value.Kind() {
		case canon.Object:
			token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
			at = at.Member(token)
		case canon.Array:
			found := false
			for _, item := range at.Items() {
				if strings.HasSuffix(item.Pointer, "/"+token) {
					at, found = item, true
				}
			}
			if !found {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// TestParseCanonicalForm: parsing the canonical form of a file gives the same problems at the
// same places.
func TestParseCanonicalForm(t *testing.T) {
	names, _ := filepath.Glob("../../../testdata/workflows/invalid/*.y*ml")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, first := Parse(name, SourceProject, data)
		_, second := Parse("x.json", SourceProject, src.Root.Value.JCS())
		places := func(list []Problem) map[string]int {
			out := map[string]int{}
			for _, p := range list {
				out[p.Pointer+" "+string(p.Severity)]++
			}
			return out
		}
		a, b := places(first), places(second)
		for at, n := range a {
			if b[at] != n {
				t.Errorf("%s: %d problems at %s, then %d", name, n, at, b[at])
			}
		}
		if len(first) == 0 || len(first) != len(second) {
			t.Errorf("%s: %d problems, then %d", name, len(first), len(second))
		}
	}
}
