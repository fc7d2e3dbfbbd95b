package command

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// vars is the context of the tables below.
func vars(t testing.TB) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(`{"service": "api", "empty": "", "none": null, "deep": {"none": null, "list": ["x", {"k": 1}]},
		"list": ["a", "b"], "n": 1.50, "minus": -5, "yes": true, "option": "--rm", "dash": "-", "again": "{{service}}",
		"shell": "$(id) ` + "`id`" + ` 'a' \"b\"\n;c", "up": "../x", "root": "/etc", "drive": "C:x", "nul": "a\u0000b",
		"a.b": "whole", "a": {"b": "part"}}`))
	if err != nil {
		t.Fatal(err)
	}
	long := canon.OfString(strings.Repeat("v", limits.FilledBytesMax))
	return canon.OfMembers(append(members(v), canon.Member{Name: "long", Value: long},
		canon.Member{Name: "bad", Value: canon.OfString("a\xff")})...)
}

func members(v canon.Value) []canon.Member {
	var out []canon.Member
	for i := range v.Len() {
		out = append(out, canon.Member{Name: v.Key(i), Value: v.Item(i)})
	}
	return out
}

// TestFillElement: what an argument behind a program is filled to, or why it is refused.
func TestFillElement(t *testing.T) {
	context := vars(t)
	for _, c := range []struct{ element, want, why string }{
		{"plain", "plain", ""},
		{"{{service}}", "api", ""},
		{"{{ service }}-{{ n }}", "api-1.5", ""},
		{"{{minus}}", "", "option"}, {"{{option}}", "", "option"}, {"{{dash}}", "", "option"}, {"{{dash}}{{n}}", "", "option"},
		{"={{option}}", "=--rm", ""}, {"-{{service}}", "-api", ""}, {"--n={{minus}}", "--n=-5", ""},
		{"{{yes}}", "true", ""}, {"{{list}}", `["a","b"]`, ""}, {"{{deep.list}}", `["x",{"k":1}]`, ""},
		{"{{list.length}}", "2", ""}, {"{{list.1}}", "b", ""}, {"{{deep.list.1.k}}", "1", ""}, {"{{a.b}}", "whole", ""},
		{"{{again}}", "{{service}}", ""}, // never read again
		{"{{shell}}", "$(id) `id` 'a' \"b\"\n;c", ""},
		{"{{none}}", "", "is not set"}, {"{{deep.none}}", "", "is not set"}, {"{{gone}}", "", "is not set"},
		{"{{service.length}}", "", "is not set"},
		{"{{empty}}", "", ""}, {"x{{empty}}", "", "is empty"}, {"{{empty}}{{service}}", "", "is empty"},
		{"{{nul}}", "", "NUL"}, {"{{bad}}", "", "UTF-8"},
		{"{{long}}", strings.Repeat("v", limits.FilledBytesMax), ""}, {"{{long}}x", "", "longer"}, {"x{{long}}", "", "longer"},
		{"{{service}}{{long}}", "", "longer"},
		{"{{wr.bindings.x}}", "{{wr.bindings.x}}", ""}, {"{{ 1x }}", "{{ 1x }}", ""}, {"{{a b}}", "{{a b}}", ""},
		{"{{}}", "{{}}", ""}, {"{service}", "{service}", ""}, {"{{{service}}}", "{api}", ""},
		{strings.Repeat("x", limits.FilledBytesMax+1), strings.Repeat("x", limits.FilledBytesMax+1), ""}, // the author's
	} {
		got, err := Fill(source.Action{Argv: []string{"p", c.element}}, context)
		if c.why != "" {
			var u *Unfilled
			if !errors.As(err, &u) || !strings.Contains(u.Why, c.why) || u.Place != "argv/1" || u.Key == "" {
				t.Errorf("%.60s: %v, want %q", c.element, err, c.why)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Argv, []string{"p", c.want}) {
			t.Errorf("%.60s: %.80q, %v", c.element, got.Argv, err)
		}
	}
}

// refused are the places and keys of Unfillable, which agrees with Fill.
func refused(t *testing.T, a source.Action) []string {
	t.Helper()
	var out []string
	for _, u := range Unfillable(a, vars(t)) {
		out = append(out, u.Place+" "+u.Key)
	}
	_, err := Fill(a, vars(t))
	var first *Unfilled
	switch {
	case len(out) == 0 && err != nil:
		t.Errorf("nothing is refused, but %v", err)
	case len(out) > 0 && (!errors.As(err, &first) || first.Place+" "+first.Key != out[0]):
		t.Errorf("%v, want %s first", err, out[0])
	}
	return out
}

// TestFillRefusesPlaces: rules of the place of an element, one broken at a time.
func TestFillRefusesPlaces(t *testing.T) {
	argv := func(elements ...string) source.Action { return source.Action{Argv: elements} }
	env := func(name, value string) source.Action {
		return source.Action{Argv: []string{"p"}, Env: map[string]string{name: value}}
	}
	cwd := func(folder string) source.Action { return source.Action{Argv: []string{"p"}, Cwd: folder} }
	for _, c := range []struct {
		action source.Action
		want   string
	}{
		{argv("{{service}}"), "argv/0 service"}, {argv("./{{service}}"), "argv/0 service"}, {argv("p", "{{service}}"), ""},
		{argv("p", "--", "{{option}}"), ""}, {argv("p", "{{option}}", "--"), "argv/1 option"},
		{argv("--", "{{option}}"), "argv/1 option"}, {argv("p", "{{dash}}{{dash}}", "{{option}}"), "argv/1 dash, argv/2 option"},
		{argv("p", "x--", "{{minus}}"), "argv/2 minus"}, {argv("p", "--", "-x", "{{minus}}"), ""},
		{argv("p", "{{gone}}", "{{nul}}", "x{{service}}"), "argv/1 gone, argv/2 nul"},
		{env("VERSION", "{{n}}"), ""}, {env("VERSION", "{{option}}"), ""}, {env("VERSION", "{{empty}}"), ""},
		{env("VERSION", "v{{empty}}"), "env/VERSION empty"}, {env("VERSION", "{{gone}}"), "env/VERSION gone"},
		{env("PATH", "/opt/bin"), ""}, {env("PATH", "/opt/{{service}}"), "env/PATH service"},
		{env("LD_PRELOAD", "{{service}}"), "env/LD_PRELOAD service"}, {env("Ld_Audit", "{{service}}"), "env/Ld_Audit service"},
		{env("GIT_SSH_COMMAND", "{{service}}"), "env/GIT_SSH_COMMAND service"}, {env("ENVIRONMENT", "{{service}}"), ""},
		{env("NODE_ENV", "{{service}}"), ""}, {env("WAYBILL_X", "{{service}}"), "env/WAYBILL_X service"},
		{cwd("{{service}}"), ""}, {cwd("services/{{service}}/x"), ""}, {cwd("../x"), ""}, {cwd("/srv"), ""},
		{cwd("{{up}}"), "cwd up"}, {cwd("x/{{up}}"), ""}, {cwd("x/../{{up}}"), "cwd up"}, {cwd("{{root}}"), "cwd root"},
		{cwd("/srv/{{service}}"), "cwd service"}, {cwd("{{drive}}"), "cwd drive"}, {cwd("{{empty}}"), "cwd empty"},
		{cwd("{{none}}"), "cwd none"}, {cwd("{{dash}}"), ""}, {cwd("../{{service}}"), "cwd service"},
	} {
		if got := strings.Join(refused(t, c.action), ", "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.action, got, c.want)
		}
	}
}

// TestFillOfAction: what is filled is a copy, its digest is that of the argv that runs, and a
// literal action keeps its braces.
func TestFillOfAction(t *testing.T) {
	a := source.Action{Argv: []string{"p", "{{service}}"}, Cwd: "s/{{service}}", Env: map[string]string{"V": "{{n}}", "W": "w"}}
	got, err := Fill(a, vars(t))
	if err != nil || !slices.Equal(got.Argv, []string{"p", "api"}) || got.Cwd != "s/api" || got.Env["V"] != "1.5" || got.Env["W"] != "w" {
		t.Fatalf("%+v, %v", got, err)
	}
	if a.Argv[1] != "{{service}}" || a.Env["V"] != "{{n}}" {
		t.Errorf("the template is changed: %+v", a)
	}
	if want := ArgvDigest(source.Action{Argv: []string{"p", "api"}}); got.Digest != want || got.Digest == ArgvDigest(a) {
		t.Errorf("digest %s, want %s", got.Digest, want)
	}
	a.Literal = true
	if got, err := Fill(a, vars(t)); err != nil || !slices.Equal(got.Argv, a.Argv) || got.Cwd != a.Cwd || got.Env["V"] != "{{n}}" || got.Digest != (canon.Digest{}) {
		t.Errorf("literal: %+v, %v", got, err)
	}
	if got, err := Fill(source.Action{Argv: []string{"p", "{{wr.x}}"}}, vars(t)); err != nil || got.Digest != (canon.Digest{}) {
		t.Errorf("no placeholder: %+v, %v", got, err)
	}
	if _, err := Fill(source.Action{Argv: []string{"p", "{{gone}}"}}, vars(t)); err == nil ||
		err.Error() != "{{gone}} in argv/1 of the command is not set" {
		t.Errorf("%v", err)
	}
}
