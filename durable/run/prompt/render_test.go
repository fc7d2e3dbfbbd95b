package prompt

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// render renders the only step of a workflow with additional members in workflow and step.
func render(t testing.TB, more, step, vars string) (string, []string) {
	t.Helper()
	c := compiled(t, "x.json", []byte(`{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0"`+
		more+
		`, "steps": [{"id": "only", "title": "Only"`+step+`}]}`))
	return rendered(c, c.Steps[0], value(t, vars))
}

func TestInterpolation(t *testing.T) {
	const vars = `{"a": "x", "n": 1.50, "b": true, "z": null, "l": [1, "two", {"k": "v"}], "o": {"y": "deep", "x": "{{a}}"}, "d.t": "dotted", "html": "<&>\u2028\n"}`
	for in, want := range map[string]string{
		"{{a}}":                    "x",
		"{{ a }}{{a}}":             "xx",
		"{{n}} {{b}} {{z}}":        "1.5 true null",
		"{{l}}":                    `[1,"two",{"k":"v"}]`,
		"{{l.1}} {{l.2.k}}":        "two v",
		"{{o}}":                    `{"x":"{{a}}","y":"deep"}`,
		"{{o.x}}":                  "{{a}}", // values are not expanded
		"{{d.t}}":                  "dotted",
		"{{html}}":                 "<&>\u2028\n",
		"{{{a}}}":                  "{x}",
		"{{a}":                     "{{a}",
		"{{ }} {{1}} {{a b}}":      "{{ }} {{1}} {{a b}}",
		"{{a + 1}} {{a|upper}}":    "{{a + 1}} {{a|upper}}",
		"{{wr.bindings.x}}":        "{{wr.bindings.x}}", // reserved for the compiler
		"{{\na}} ${a} %{a} $1 \\1": "{{\na}} ${a} %{a} $1 \\1",
	} {
		f := newFiller(value(t, vars), 1<<10)
		if got := f.fill(in); got != want || f.absent != nil {
			t.Errorf("%q: got %q with %q, want %q", in, got, f.absent, want)
		}
	}
}

func TestAbsentStaysLiteral(t *testing.T) {
	text, warnings := render(t, "",
		`, "prompt": "{{gone}} {{ a.b }} {{gone}} {{a}}", "guidance": ["{{gone}}", "{{later}}"]`, `{"a": 1}`)
	if !strings.HasPrefix(text, "{{gone}} {{ a.b }} {{gone}} 1\n") || !strings.Contains(text, "- {{later}}") {
		t.Errorf("got %q", text)
	}
	var names []string
	for _, w := range warnings {
		_, rest, _ := strings.Cut(w, "{{")
		name, _, _ := strings.Cut(rest, "}}")
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"gone", "a.b", "later"}) {
		t.Errorf("warnings are %q", warnings)
	}
}

func TestRequirements(t *testing.T) {
	const head = "p\n\n---\nOUTPUT REQUIREMENTS:\n"
	contains := func(words string) string {
		var rules []string
		for w := range strings.FieldsSeq(words) {
			rules = append(rules, `{"type": "contains", "value": "`+w+`", "message": "`+w+`"}`)
		}
		return `, "validationCriteria": [` + strings.Join(rules, ", ") + `]`
	}
	for step, want := range map[string]string{
		``:                        "p",
		`, "notesRequired": true`: head + "- Notes are required",
		contains("a"):             head + "- Must contain 'a'",
		contains("a b c d e"): head +
			"- Must contain 'a'\n- Must contain 'b'\n- Must contain 'c'\n- Must contain 'd'\n- Must contain 'e'",
		contains("a b c d e f"): head +
			"- Must contain 'a'\n- Must contain 'b'\n- Must contain 'c'\n- Must contain 'd'\n- Must contain 'e'\n" +
			"…and 1 more",
		contains("a b c d e f") +
			`, "notesRequired": true`: head +
			"- Notes are required\n- Must contain 'a'\n- Must contain 'b'\n- Must contain 'c'\n- Must contain 'd'\n" +
			"…and 2 more",
		`, "validationCriteria": {"type": "contains", "value": "x", "message": "x", "condition": {"var": "y", "equals": 1}}`:    "p",
		`, "validationCriteria": {"type": "contains", "value": "x", "message": "x", "condition": {"var": "y", "equals": null}}`: head + "- Must contain 'x'",
	} {
		if got, _ := render(t, "", `, "prompt": "p"`+step, `{}`); got != want {
			t.Errorf("%s: got %q", step, got)
		}
	}
}

// TestChecksAreAnnounced: the prompt lists what a check of empty notes requires, up to the
// five lines that are shown.
func TestChecksAreAnnounced(t *testing.T) {
	for name, context := range contexts {
		c := example(t, name)
		vars := value(t, context)
		for _, s := range c.Steps {
			text, _ := rendered(c, s, vars)
			for _, f := range s.Criteria().Check("", vars) {
				if !strings.Contains(text, f.Requirement) {
					t.Errorf("%s, %s: %q is checked and not announced", name, s.StepID, f.Requirement)
				}
			}
			for _, in := range choices.Needed(c, s, vars, nil) {
				if !strings.Contains(text, in.ContextKey) {
					t.Errorf("%s, %s: input %q is asked for and not announced", name, s.StepID, in.ContextKey)
				}
			}
		}
	}
}

func TestRole(t *testing.T) {
	const own, all = `, "agentRole": "You are the {{who}}."`, `, "agentRole": "You are everyone."`
	for _, row := range [][3]string{
		{"", own, "Role: You are the cook.\n\np"}, {all, "", "Role: You are everyone.\n\np"},
		{all, own, "Role: You are the cook.\n\np"}, {"", "", "p"},
	} {
		if got, _ := render(t, row[0], `, "prompt": "p"`+row[1], `{"who": "cook"}`); got != row[2] {
			t.Errorf("got %q, want %q", got, row[2])
		}
	}
}

// TestCommandsAreEscaped: a shown command cannot look like another one.
func TestCommandsAreEscaped(t *testing.T) {
	for word, want := range map[string]string{
		"make": "make", "-x=a,b:c/d.e@1%2+3": "-x=a,b:c/d.e@1%2+3", "a b": "'a b'", "": "''", "it's": `'it'\''s'`,
		"$(rm)":     "'$(rm)'",
		"\x1b[2Kls": `"\x1b[2Kls"`, "a\nb": `"a\nb"`, "\u202egnp": `"\u202egnp"`, "tab\t": `"tab\t"`, "ü": "'ü'",
		"\u00a0": `"\u00a0"`,
	} {
		if got := command.Word(word); got != want {
			t.Errorf("%q is shown as %s, want %s", word, got, want)
		}
	}
	action := source.Action{Argv: []string{"sh", "-c", "a; b", "{{v}}"}, Cwd: "x y",
		Env:            map[string]string{"B": "secret", "A": "s{{w}}"},
		TimeoutSeconds: 5, Retry: &source.Retry{MaxAttempts: 3, BackoffSeconds: 2}}
	outputs := map[string]string{"commit": "stdout", "size": "json:/a/b"}
	text := strings.Join(describe(action, outputs, true), "\n")
	for _, want := range []string{"    sh -c 'a; b' '{{v}}'\n", "- with values of the context for {{v}}, {{w}}\n",
		"- sets the context key commit from its stdout\n- sets the context key size from /a/b in the JSON", "- in the folder 'x y'\n", "- with A, B set",
		"- for at most 5 s\n", "- up to 3 tries, 2 s apart\n", "once the workflow is trusted"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("the value of a variable is shown")
	}
	if text := strings.Join(describe(action, nil, false), "\n"); strings.Contains(text, "values") {
		t.Errorf("a run of form 1 fills nothing: %s", text)
	}
}

func TestParameters(t *testing.T) {
	for want, p := range map[string]source.Parameter{
		"n: number":           {Name: "n", Type: "number"},
		"n: number, required": {Name: "n", Type: "number", Required: true},
		`s: string, one of ["a",1]`: {Name: "s", Type: "string",
			Enum: []canon.Value{canon.OfString("a"), canon.OfInt(1)}},
		`s: string, else "a"`:    {Name: "s", Type: "string", Default: canon.OfString("a")},
		"b: boolean, else false": {Name: "b", Type: "boolean", Default: canon.OfBool(false)},
		"b: boolean. Why":        {Name: "b", Type: "boolean", Description: "Why"},
	} {
		if got := parameter(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPreamble(t *testing.T) {
	c := compiled(t, "x.json", []byte(`{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0",
		"metaGuidance": ["m1", "m2"], "preconditions": ["p"], "clarificationPrompts": ["c?"],
		"references": [{"id": "re", "title": "R", "source": "s.md", "purpose": "why", "authoritative": true}, {"id": "rf", "title": "Q", "source": "q.md", "purpose": "as well", "authoritative": false, "resolveFrom": "package"}],
		"steps": [{"id": "only", "title": "Only", "prompt": "p"}]}`))
	want := "## Before you begin, this must be so\n\n- p\n\n## Ask first, where it is not clear\n\n- c?\n\n" +
		"## In every step\n\n- m1\n- m2\n\n" +
		"## References\n\n- R (s.md): why [authoritative]\n- Q (q.md, beside the workflow file): as well"
	if got := Preamble(c); got != want {
		t.Errorf("got %q", got)
	}
	if got := Preamble(example(t, "nightly-build.json")); got != "" {
		t.Errorf("a workflow without a preamble: %q", got)
	}
}

// TestContextIsNotExpanded: a value appears in the prompt unchanged, and the rest of the
// prompt does not depend on it.
func TestContextIsNotExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.OneOf(rapid.SampledFrom([]string{"{{secret}}", "{{x}}", "}}{{secret", "{{", "$1", "\\"}),
			rapid.String()).Draw(t, "value")
		f := newFiller(canon.OfMembers(
			canon.Member{Name: "x", Value: canon.OfString(hostile)},
			canon.Member{Name: "secret", Value: canon.OfString("S3CRET")}), 64<<10)
		if got := f.fill("a {{x}} b {{x}} c"); got != "a "+hostile+" b "+hostile+" c" {
			t.Fatalf("got %q", got)
		}
	})
}

// rendered is Render without the preamble, as text and warnings.
func rendered(c compile.Compiled, step compile.Step, vars canon.Value) (string, []string) {
	t := Render(c, step, vars, Surroundings{})
	return t.Prompt, t.Warnings
}
