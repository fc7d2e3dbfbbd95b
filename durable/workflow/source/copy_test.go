package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

func TestCopy(t *testing.T) {
	for in, want := range map[string]string{
		`{"id": "a.b", "steps": []}`: "{\"id\": \"x.y\", \"steps\": []}",
		"{\n\t\"steps\": [{\"id\": \"s\"}], \"id\" :\n \"a.b\"}\r\n": "{\n\t\"steps\": [{\"id\": \"s\"}], \"id\" :\n" +
			" \"x.y\"}\r\n",
		`{"name": "id", "x": {"id": 1}, "id": "a\"}.b", "z": "\\"}`: `{"name": "id", "x": {"id": 1}, "id": "x.y", "z": "\\"}`,
		`{"\u0069d": "a.b", "n": ["id", "id"]}`:                     `{"\u0069d": "x.y", "n": ["id", "id"]}`,
		`{"name": "n"}`:                                             "{\n  \"id\": \"x.y\",\n  \"name\": \"n\"\n}\n",
		`{"id": 3}`:                                                 "{\n  \"id\": \"x.y\"\n}\n",
		`{"id": 3, "x": {"id": "a.b"}}`: "{\n  \"id\": \"x.y\",\n  \"x\": {\n" +
			"    \"id\": \"a.b\"\n  }\n}\n",
		"# top\nid: a.b   # mine\nsteps:\n  - id: a.b\n": "# top\nid: x.y   # mine\nsteps:\n  - id: a.b\n",
		"name: n\r\n\"id\":  'a.b'\r\n":                  "name: n\r\n\"id\":  x.y\r\n",
		"name: n\nid: \"a.b\"":                           "name: n\nid: x.y",
		"steps:\n- id: a.b\nid:\n  a.b\n": "{\n  \"id\": \"x.y\",\n  \"steps\": [\n    {\n" +
			"      \"id\": \"a.b\"\n    }\n  ]\n}\n",
	} {
		if got, err := Copy([]byte(in), "x.y"); err != nil || string(got) != want {
			t.Errorf("%q:\n got %q\nwant %q, %v", in, got, want, err)
		}
	}
	for _, in := range []string{"[]", "{", "", "\"x\"", `{"id": "a", "id": "b"}`, "a: &x 1"} {
		if out, err := Copy([]byte(in), "x.y"); err == nil {
			t.Errorf("%q: copied to %q", in, out)
		}
	}
	if out, err := Copy([]byte("id: a.b\n"), `1e3 # "`); err != nil || string(out) != "id: \"1e3 # \\\"\"\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestCopyChangesOneLine: copies of all example files differ from them in one line only.
func TestCopyChangesOneLine(t *testing.T) {
	for _, pattern := range []string{"testdata/*/*.yaml", "../../../testdata/workflows/*.json",
		"../../../testdata/workflows/*.y*ml", "../../../../shared/data/workrail/workflows/*.json"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Copy(data, "other.copy")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			before, after, differ := strings.Split(string(data), "\n"), strings.Split(string(out), "\n"), 0
			for i := range before {
				if i < len(after) && before[i] != after[i] {
					differ++
				}
			}
			if len(before) != len(after) || differ != 1 {
				t.Errorf("%s: %d lines of %d differ, the copy has %d", name, differ, len(before), len(after))
			}
		}
	}
}

// FuzzCopy: a copy is the same document with another id, or Copy fails.
func FuzzCopy(f *testing.F) {
	for _, seed := range []string{`{"id": "a.b", "x": ["id", {"id": 1}]}`, "id: a.b # c\nx: [1]\n", "id: >\n  a\n",
		`{"a": "\"", "id": "\u0041"}`} {
		f.Add([]byte(seed), "x.y")
	}
	f.Fuzz(func(t *testing.T, source []byte, id string) {
		if !json.Valid(canon.AppendString(nil, id)) || strings.ToValidUTF8(id, "") != id {
			return
		}
		out, err := Copy(source, id)
		if err != nil {
			return
		}
		before, err := read("", source, &excess{})
		if err != nil {
			before, err = read("x.yaml", source, &excess{})
		}
		after, err2 := read("", out, &excess{})
		if err2 != nil {
			after, err2 = read("x.yaml", out, &excess{})
		}
		if err != nil || err2 != nil || !after.Equal(before.With("id", canon.OfString(id))) {
			t.Fatalf("%q becomes %q: %v, %v", source, out, err, err2)
		}
	})
}

func TestNewIDs(t *testing.T) {
	for _, row := range []struct {
		kind     SourceKind
		id, want string
	}{
		{SourceUser, "user.mine", ""}, {SourceBundled, "wr.mine", ""},
		{SourceUser, "wr.mine", "reserved for bundled"}, {SourceUser, "mine", "of the form namespace.name"},
		{SourceUser, "a.b.c", "of the form namespace.name"},
		{SourceUser, "a." + strings.Repeat("b", 63), "at most 64 characters, got 65"},
	} {
		if got := NewIDProblem(row.kind, row.id); got != row.want &&
			(row.want == "" || !strings.Contains(got, row.want)) {
			t.Errorf("%s %q: got %q", row.kind, row.id, got)
		}
	}
	one, two := SuggestUniqueID("user.x", []byte("a")), SuggestUniqueID("user.x", []byte("b"))
	if one != "user.x_ca97" || two == one || IDStatus(one) != "namespaced" {
		t.Errorf("got %q and %q", one, two)
	}
	if long := SuggestUniqueID("user."+strings.Repeat("x", 59), []byte("a")); len(long) != idLengthMax ||
		!strings.HasSuffix(long, "x_ca97") {
		t.Errorf("got %q", long)
	}
}
