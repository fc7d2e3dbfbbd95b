package sources

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

func TestFoldersDoNotOverlap(t *testing.T) {
	l, err := List{}.With(Folder{Dir: "/a/flows", Name: "team"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, name, want string }{
		{"/a/flows", "other", "attached already"}, {"/a/flows", "team", "attached already"},
		{"/a/flows/sub", "other", "in one that is attached"}, {"/a", "other", "contains one that is attached"},
		{"/", "other", "contains one that is attached"}, {"/b", "team", "is that of another"},
		{"/b", "TEAM", "is that of another attached folder, team"},
		{"/b", "in stalled", "cannot be the name"}, {"/b", "installed", "cannot be the name"},
		{"/b\xff", "other", "not UTF-8"}, {"/" + strings.Repeat("b", dirBytesMax), "other", "more than"},
		{"/a/flows2", "other", ""}, {"/a/flow", "other", ""},
	} {
		next, err := l.With(Folder{Dir: c.dir, Name: c.name})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q as %q: %v, want %q", c.dir, c.name, err, c.want)
		}
		if _, ok := next.Of(c.name); err == nil && (!ok || len(l.Folders) != 1) {
			t.Errorf("%q: %+v, before %+v", c.dir, next, l)
		}
	}
	if len(l.Without("team").Folders) != 0 || len(l.Without("x").Folders) != 1 || len(l.Folders) != 1 {
		t.Error("a folder is not removed by its name alone")
	}
	for i := range foldersMax {
		l.Folders = append(l.Folders, Folder{Name: strings.Repeat("x", i%60+1), Dir: "/x"})
	}
	if _, err := l.With(Folder{Dir: "/b", Name: "one-more"}); !fault.Is(err, fault.StoreLimit) {
		t.Errorf("a full list: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "Team.1": true, "v1.2.3": true, "a_b-c": true, "9": true, "": false,
		".": false, "..": false, "a..b": false, "a.": false, ".a": false, "a/b": false, `a\b`: false, "a b": false, "-a": false,
		"ä": false, "a:b": false, "Installed": false, "imported": false, "importeds": true, "a\n": false,
		strings.Repeat("a", nameLengthMax): true, strings.Repeat("a", nameLengthMax+1): false} {
		if IsName(name) != want || (CheckName(name) == nil) != want {
			t.Errorf("%q is a name: %v, want %v", name, !want, want)
		}
	}
	for base, want := range map[string]string{"workflows": "workflows", "My Flows!": "my-flows", "...": "", "é": "",
		"installed": "", "-x-": "x", "a.b": "a-b", strings.Repeat("x", 100): strings.Repeat("x", nameLengthMax)} {
		if got := SuggestName(base); got != want {
			t.Errorf("%q: suggested %q, want %q", base, got, want)
		}
	}
}

// TestReadRefusesOtherForms: of a list that was edited nothing is used on a guess.
func TestReadRefusesOtherForms(t *testing.T) {
	const folder = `{"actor":{"kind":"human"},"atMs":1,"dir":"/a","name":"%"}`
	for text, want := range map[string]bool{
		`null`:                                                true,
		`{"folders":[],"store":"/s"}`:                         true,
		`{"folders":[FOLDER],"store":""}`:                     true,
		`{"folders":[FOLDER,FOLDER],"store":""}`:              false,
		`{"folders":[],"store":"","more":1}`:                  false,
		`{"folders":[{"dir":"/a","name":"../x"}],"store":""}`: false,
		`{"folders":{}}`:                                      false,
	} {
		v, err := canon.Parse([]byte(strings.ReplaceAll(text, "FOLDER", strings.ReplaceAll(folder, "%", "team"))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(v); (err == nil) != want || err != nil && !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDigestIsOfTheFolders: it changes with any of them, and not with the store that confirmed them.
func TestDigestIsOfTheFolders(t *testing.T) {
	one := List{Folders: []Folder{{Dir: "/a", Name: "a"}}, Store: "/s"}
	digest := func(l List) canon.Digest {
		d, err := l.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if digest(one) != digest(List{Folders: one.Folders, Store: "/other"}) || digest(List{}) != digest(one.Without("a")) {
		t.Error("the digest depends on the store")
	}
	for _, other := range []List{{}, {Folders: []Folder{{Dir: "/b", Name: "a"}}}, {Folders: []Folder{{Dir: "/a", Name: "b"}}}} {
		if digest(other) == digest(one) {
			t.Errorf("%+v has the digest of %+v", other, one)
		}
	}
}
