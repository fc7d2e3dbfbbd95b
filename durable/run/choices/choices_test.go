package choices_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestOf: the entries of a list keep their types, and a list with a wrong entry is not usable; the
// reason names step, place and entry.
func TestOf(t *testing.T) {
	long, many := strings.Repeat("x", limits.ChoiceBytesMax), make([]string, limits.ChoicesMax)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	full := "[" + strings.Join(many, ",") + "]"
	for _, row := range []struct{ result, pointer, texts, why string }{
		{`["a", 3, 1.50, true, "x y"]`, "", "a|3|1.5|true|x y", ""},
		{`{"a/b": [{"~": ["only"]}]}`, "/a~1b/0/~0", "only", ""},
		{`["` + long + `"]`, "", long, ""},
		{full, "", strings.Join(many, "|"), ""},
		{`{"a": 1}`, "/b", "", "absent or null, not a list"},
		{`{"a": null}`, "/a", "", "absent or null, not a list"},
		{`{"a": [1]}`, "/a/1", "", "absent or null, not a list"},
		{`{"a": [1]}`, "/a/00", "", "absent or null, not a list"},
		{`{"a": {}}`, "/a", "", "an object, not a list"},
		{`"a"`, "", "", "a string, not a list"},
		{`[]`, "", "", "it is empty"},
		{`["a", {}]`, "", "", "entry 1 is an object"},
		{`[[]]`, "", "", "entry 0 is an array"},
		{`["a", null]`, "", "", "entry 1 is absent or null"},
		{`["a", " "]`, "", "", "entry 1 is empty"},
		{`["x` + long + `"]`, "", "", "entry 0 has 257 bytes, at most 256"},
		{`["a", "b", "a"]`, "", "", "entry 2 has the same text as entry 0"},
		{`["1", 1]`, "", "", "entry 1 has the same text as entry 0"},
		{"[" + full[1:len(full)-1] + `,"one more"]`, "", "", "1001 entries, at most 1000"},
	} {
		l := choices.Of(value(t, row.result), source.ChoicesFrom{Step: "plan", Pointer: row.pointer})
		if got := strings.Join(l.Texts(), "|"); got != row.texts || !strings.Contains(l.Why, row.why) || l.Any() {
			t.Errorf("%.40s at %q: %.60q, %s", row.result, row.pointer, got, l.Why)
		}
		if l.Why != "" && (!strings.Contains(l.Why, `step "plan"`) || !strings.Contains(l.Why, fmt.Sprintf("%q", row.pointer)) || l.Values != nil) {
			t.Errorf("%s", l.Why)
		}
	}
}

// TestFind: a value is a choice if its text is that of the choice, and the choice has its own type.
func TestFind(t *testing.T) {
	l := choices.Of(value(t, `["a", 3, true, "10"]`), source.ChoicesFrom{Step: "plan"})
	for given, want := range map[string]string{`"a"`: `"a"`, `3`: `3`, `"3"`: `3`, `3.0`: `3`, `true`: `true`, `"true"`: `true`, `10`: `"10"`,
		`"A"`: "", `"a "`: "", `"3.0"`: "", `null`: "", `["a"]`: "", `{}`: "", `""`: ""} {
		choice, ok := l.Find(value(t, given))
		if ok != (want != "") || ok && string(choice.JCS()) != want {
			t.Errorf("%s finds %s (%v), want %q", given, choice.JCS(), ok, want)
		}
	}
}

// TestShown: hostile choices are in one line, escaped, and within the budget; the rest is counted.
func TestShown(t *testing.T) {
	from := source.ChoicesFrom{Step: "plan"}
	for _, row := range []struct {
		result string
		budget int
		want   string
	}{
		{`["a", 3, true]`, 100, `"a", 3, true`},
		{`["a\n## Done\u202e\u001b[2J", "\u2028x"]`, 100, `"a\n## Done\u202e\u001b[2J", "\u2028x"`},
		{`["aaaa", "bbbb", "cccc"]`, 16, `"aaaa", "bbbb" and 1 more`},
		{`["aaaa", "bbbb"]`, 3, `2 choices`},
	} {
		if got := choices.Of(value(t, row.result), from).Shown(row.budget); got != row.want {
			t.Errorf("%s: %s, want %s", row.result, got, row.want)
		}
	}
	var many []canon.Value
	for i := range limits.ChoicesShownMax + 5 {
		many = append(many, canon.OfInt(int64(i)))
	}
	if got := choices.Of(canon.OfList(many...), from).Shown(4096); !strings.HasSuffix(got, ", 31 and 5 more") {
		t.Error(got)
	}
}

// TestShownProperty: of any list, what is shown is one line of printable text within the budget.
func TestShownProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []canon.Value
		for _, s := range rapid.SliceOfN(rapid.String(), 1, 40).Draw(t, "texts") {
			items = append(items, canon.OfString(s))
		}
		budget := rapid.IntRange(0, 600).Draw(t, "budget")
		got := choices.Of(canon.OfList(items...), source.ChoicesFrom{Step: "s"}).Shown(budget)
		if len(got) > budget+len(" and 1000 more") || strings.ContainsAny(got, "\n\r\x1b\u2028\u202e") {
			t.Fatalf("%q of %d", got, budget)
		}
	})
}

// flow is a workflow with an input of each sort.
func flow(t testing.TB, withTaken bool) compile.Compiled {
	t.Helper()
	input := func(key, more string) string {
		return `{"contextKey": "` + key + `", "reason": "needs_user_artifact", "description": "d"` + more + `}`
	}
	text := `{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0", "inputs": [` + input("free", "") + `],
		"steps": [{"id": "plan", "title": "Plan", "prompt": "p"},
		{"id": "ask", "title": "Ask", "prompt": "p", "inputs": [` + input("fixed", `, "choices": ["x", "y"]`) +
		map[bool]string{true: "," + input("taken", `, "choicesFrom": {"step": "plan", "pointer": ""}`)}[withTaken] + `]}]}`
	_, c, found := compile.File("x.json", source.SourceProject, []byte(text))
	if source.HasErrors(found) {
		t.Fatal(found)
	}
	return c
}

// TestNeeded: a null is missing, a value out of the choices is wrong in form 2, and one without a
// list is never accepted.
func TestNeeded(t *testing.T) {
	c := flow(t, true)
	ask, _ := c.Step("ask")
	taken := map[string]choices.List{"taken": choices.Of(value(t, `["a", 3]`), source.ChoicesFrom{Step: "plan"})}
	for _, row := range []struct {
		vars string
		know map[string]choices.List
		want string
	}{
		{`{}`, taken, "free=null fixed=null taken=null"},
		{`{"free": {}, "fixed": null, "taken": null}`, taken, "fixed=null taken=null"},
		{`{"free": 0, "fixed": "y", "taken": "3"}`, taken, ""},
		{`{"free": "", "fixed": "z", "taken": 4}`, taken, `fixed="z" taken=4`},
		{`{"free": "", "fixed": ["x"], "taken": {"a": 3}}`, taken, `fixed=["x"] taken={"a":3}`},
		{`{"free": "", "fixed": "x", "taken": "a"}`, nil, `taken="a"`},
		{`{"free": "", "fixed": "x", "taken": "a"}`, map[string]choices.List{"taken": {}}, `taken="a"`},
		{`{"free": "", "fixed": "x", "taken": "a"}`, map[string]choices.List{"taken": choices.None(source.ChoicesFrom{}, "w")}, `taken="a"`},
	} {
		got := ""
		for _, in := range choices.Needed(c, ask, value(t, row.vars), row.know) {
			got += " " + in.ContextKey + "=" + string(in.Wrong.JCS())
		}
		if strings.TrimSpace(got) != row.want {
			t.Errorf("%s: %s, want %s", row.vars, got, row.want)
		}
	}
}

// TestNeededOfForm1: fixed choices are compared with values, but not in a run that is pinned to form 1.
func TestNeededOfForm1(t *testing.T) {
	vars := value(t, `{"free": 1, "fixed": "z"}`)
	newest := flow(t, false)
	oldest, err := compile.Decode([]byte(strings.Replace(string(newest.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range []compile.Compiled{oldest, newest} {
		ask, _ := c.Step("ask")
		if got := choices.Needed(c, ask, vars, nil); c.SchemaVersion != want+1 || len(got) != want {
			t.Errorf("form %d: %v", c.SchemaVersion, got)
		}
	}
}

// TestValue: a wrong value is named in one line and cut; a secret is not named.
func TestValue(t *testing.T) {
	in := choices.Input{Wrong: value(t, `"a\n\u202eb"`)}
	if got := in.Value(); got != `"a\n\u202eb"` {
		t.Error(got)
	}
	in.Wrong = canon.OfString(strings.Repeat("é", 300))
	if got := in.Value(); len(got) > limits.WarningValueBytesMax+len("…") || !strings.HasSuffix(got, "…") {
		t.Error(got)
	}
	in.Reason = "needs_user_secret_or_token"
	if got := in.Value(); got != "a secret" {
		t.Error(got)
	}
}
