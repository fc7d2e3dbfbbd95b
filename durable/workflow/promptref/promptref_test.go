package promptref

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestReferences: RefOf decodes everything that RefShape accepts.
func TestReferences(t *testing.T) {
	for text, want := range map[string]Ref{
		`"prompt:review"`: {TemplateID: "review"},
		`"prompt:vendor.acme.writer.v2@2.0.0-rc.1"`: {TemplateID: "vendor.acme.writer.v2", Version: "2.0.0-rc.1"},
		`"prompt:a@1.0.0+b.7"`:                      {TemplateID: "a", Version: "1.0.0+b.7"},
		`{"templateId":"a"}`:                        {TemplateID: "a"},
		`{"templateId":"a","version":"1.0.0"}`:      {TemplateID: "a", Version: "1.0.0"},
		`{"libraryId":"vendor.x","templateId":"a"}`: {TemplateID: "a", LibraryID: "vendor.x"},
		`{"templateId":"a","variableOverrides":{}}`: {TemplateID: "a", Overrides: canon.OfMembers()},
		`"a"`:                                   {},
		`"prompt:"`:                             {},
		`"prompt:A"`:                            {},
		`"prompt:a@"`:                           {},
		`"prompt:a@1.0"`:                        {},
		`"prompt:a@latest"`:                     {},
		`"Prompt:a"`:                            {},
		`{"version":"1.0.0"}`:                   {},
		`{"templateId":"a","versions":"1.0.0"}`: {},
		`{"templateId":"a","version":1}`:        {},
		`{"templateId":"a","variableOverrides":[1]}`: {},
		`7`: {},
	} {
		refused := false
		RefShape.Check(problem.SourceValue{Value: value(t, text)}, func(problem.Problem) { refused = true })
		if accepted := want.TemplateID != ""; accepted == refused {
			t.Errorf("%s: refused %v", text, refused)
			continue
		}
		if refused {
			continue
		}
		got, err := RefOf(value(t, text))
		if err != nil || got.TemplateID != want.TemplateID || got.Version != want.Version ||
			got.LibraryID != want.LibraryID || !got.Overrides.Equal(want.Overrides) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
		if got.Overrides.IsNull() && got.LibraryID == "" {
			if again, err := RefOf(canon.OfString(got.String())); err != nil || again.String() != got.String() {
				t.Errorf("%s: written %s", text, got)
			}
		}
	}
}

// TestVersionOrder checks the example of Semantic Versioning, and build metadata.
func TestVersionOrder(t *testing.T) {
	order := []string{"0.9.10", "1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
		"1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.0.0+a", "1.0.0+b", "1.0.1", "1.2.0", "1.10.0", "2.0.0", "99999999999999999999999.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got, want := CompareVersions(a, b), compareInts(i, j); got != want {
				t.Errorf("%s against %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestVersionsWithLeadingZeros: the published pattern allows leading zeros.
func TestVersionsWithLeadingZeros(t *testing.T) {
	if CompareVersions("1.02.0", "1.1.0") != 1 || CompareVersions("1.009.0", "1.10.0") != -1 ||
		CompareVersions("1.02.0", "1.2.0") == 0 {
		t.Error("numbers are compared as texts")
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestVersionOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.StringMatching(`0?[0-9]\.[0-9]\.[0-2](-[01a]{1,2}(\.[01a]{1,2})?)?(\+[01])?`), 3,
			3).Draw(t, "versions")
		a, b, c := all[0], all[1], all[2]
		if CompareVersions(a, b) != -CompareVersions(b, a) || (CompareVersions(a, b) == 0) != (a == b) {
			t.Fatalf("%s and %s", a, b)
		}
		if CompareVersions(a, b) <= 0 && CompareVersions(b, c) <= 0 && CompareVersions(a, c) > 0 {
			t.Fatalf("%s, %s and %s", a, b, c)
		}
	})
}

func template(id, version, pack string) Template {
	t := Template{ID: id, Version: version, Kind: User, Text: id + version + pack}
	if pack != "" {
		t.Meta = canon.OfMembers(canon.Member{Name: "packName", Value: canon.OfString(pack)})
	}
	return t
}

func TestFind(t *testing.T) {
	first := template("review", "1.2.0", "")
	first.Text = "nearer"
	l := NewLibrary([]Template{template("review", "1.0.0", ""), first, template("review", "1.2.0", ""),
		template("review", "1.10.0-rc.1", ""), template("review", "3.0.0", "vendor.x.y"),
		template("write", "1.0.0", "vendor.x.y"), template("write", "2.0.0", "vendor.x.z"),
		template("lone", "1.0.0", "vendor.x.y")})
	for _, row := range []struct {
		ref               Ref
		text, words, hint string
	}{
		// a prerelease is newer than what comes before its release
		{Ref{TemplateID: "review"}, "review1.10.0-rc.1", "", ""},
		{Ref{TemplateID: "review", Version: "1.2.0"}, "nearer", "", ""},
		{Ref{TemplateID: "review", LibraryID: "vendor.x.y"}, "review3.0.0vendor.x.y", "", ""},
		{Ref{TemplateID: "lone"}, "lone1.0.0vendor.x.y", "", ""},
		{Ref{TemplateID: "write", LibraryID: "vendor.x.z"}, "write2.0.0vendor.x.z", "", ""},
		{Ref{TemplateID: "write"}, "", "in several packs", "one of vendor.x.y, vendor.x.z"},
		{Ref{TemplateID: "write", LibraryID: "vendor.x"}, "", `library "vendor.x" has no prompt template "write"`,
			"It is in vendor.x.y, vendor.x.z."},
		{Ref{TemplateID: "reveiw"}, "", `prompt template "reveiw" does not exist`, `Did you mean "review"?`},
		{Ref{TemplateID: "unlike"}, "", `prompt template "unlike" does not exist`,
			"Installed are lone, review, write."},
		{Ref{TemplateID: "review", Version: "1.2.1"}, "", `no version "1.2.1"`, "Did you mean prompt:review@1.2.0?"},
		{Ref{TemplateID: "review", Version: "44.55.66"}, "", `no version "44.55.66"`,
			"Installed are 1.10.0-rc.1, 1.2.0, 1.0.0."},
		{Ref{TemplateID: "review", Version: "3.0.0"}, "", `no version "3.0.0"`, ""}, // that of a pack is not meant
	} {
		got, refused := l.Find(row.ref)
		if refused == nil {
			if got.Text != row.text {
				t.Errorf("%s: found %q, want %q", row.ref, got.Text, row.text)
			}
			continue
		}
		if row.text != "" || !strings.Contains(refused.Message, row.words) || !strings.Contains(refused.Fix, row.hint) {
			t.Errorf("%s: %+v", row.ref, refused)
		}
	}
	if _, refused := (Library{}).Find(Ref{TemplateID: "a"}); refused == nil ||
		!strings.Contains(refused.Fix, "no prompt template is installed") {
		t.Errorf("an empty library: %+v", refused)
	}
}

func TestFill(t *testing.T) {
	reserve := func(int) bool { return true }
	for text, want := range map[string]string{
		"{{a}} {{ a }}, {{b}}!":  "x {{b}} x {{b}}, [1]!",
		"{{a.b}} {{c}} {a} {{}}": "{{a.b}} {{c}} {a} {{}}",
		"{{{a}}}":                "{x {{b}}}",
		"{{a b}} {{1}}":          "{{a b}} {{1}}",
	} {
		if got := (Template{Text: text}).Fill(map[string]string{"a": "x {{b}}", "b": "[1]"}, reserve); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	left := 3
	got := Template{Text: "{{a}}{{a}}{{a}}"}.Fill(map[string]string{"a": "xx"},
		func(n int) bool { left -= n; return left >= 0 })
	if got != "xx{{a}}{{a}}" {
		t.Errorf("at the limit: %q", got)
	}
}

// TestTemplateRoundTrip: a published template decodes and encodes to the same bytes, explicit
// nulls included.
func TestTemplateRoundTrip(t *testing.T) {
	const text = `{"kind":"user","meta":{"packName":"vendor.x.y","packVersion":"1.0.0","source":"pack"},"modelHints":{"temperature":0.5},"tags":["t"],"templateId":"a","text":"x",` +
		`"variables":[{"defaultValue":null,"name":"n","required":false,"type":"string"},{"name":"m","required":true,"type":"object"}],"version":"1.0.0"}`
	got, err := TemplateOf(value(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := canon.Marshal(got); err != nil || string(again) != text {
		t.Errorf("read as %s, %v", again, err)
	}
	n, _ := got.Variable("n")
	m, ok := got.Variable("m")
	if n.Default.IsZero() || !m.Default.IsZero() || !ok || got.LibraryID() != "vendor.x.y" || got.Ref().
		String() != "prompt:a@1.0.0" {
		t.Errorf("got %+v", got)
	}
	if _, ok := got.Variable("o"); ok {
		t.Error("a variable that is not declared")
	}
	if _, err := TemplateOf(value(t, `{"templateId":"a"}`)); err == nil {
		t.Error("an incomplete template is accepted")
	}
	for _, kind := range Kinds() {
		if Kind(kind).IsPrompt() != (kind == "user" || kind == "system") {
			t.Errorf("%s as a prompt", kind)
		}
	}
	for _, row := range []struct {
		typed, value string
		fits         bool
	}{{"string", `"x"`, true}, {"string", `1`, false}, {"number", `1.5`, true}, {"boolean", `false`, true},
		{"boolean", `"true"`, false},
		{"array", `[]`, true}, {"object", `{}`, true}, {"object", `[]`, false}, {"string", `null`, false},
		{"other", `"x"`, false}} {
		if got := (Variable{Type: row.typed}).Fits(value(t, row.value)); got != row.fits {
			t.Errorf("%s for %s: %v", row.value, row.typed, got)
		}
	}
}
