package command

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestFillKeepsElements: the command has the elements of its template for any value, each with
// the bytes of the value in place of the placeholder and nothing else changed, or it is refused.
func TestFillKeepsElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]string{}
		var all []canon.Member
		for _, key := range []string{"a", "b"} {
			text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "-", "--", "-rf", "{{b}}", "{{a}}", " ", "a b", "$(id)", "`id`",
				"\n", "\x00", "'", "\"", "\\", "../..", "/", strings.Repeat("x", limits.FilledBytesMax)})).Draw(t, "value")
			values[key] = text
			all = append(all, canon.Member{Name: key, Value: canon.OfString(text)})
		}
		piece := rapid.SampledFrom([]string{"{{a}}", "{{b}}", "{{ a }}", "x", "-", "--", "=", " ", "{{", "}}", "{{wr.a}}", "/"})
		element := rapid.Map(rapid.SliceOfN(piece, 0, 4), func(s []string) string { return strings.Join(s, "") })
		action := source.Action{Argv: append([]string{"p"}, rapid.SliceOfN(element, 0, 5).Draw(t, "argv")...),
			Cwd: rapid.SampledFrom([]string{"", "d/{{a}}", "{{b}}"}).Draw(t, "cwd"),
			Env: map[string]string{"E": element.Draw(t, "env")}}
		checkFill(t, action, canon.OfMembers(all...), values)
	})
}

// fails is what checkFill needs of a test.
type fails interface{ Fatalf(string, ...any) }

// checkFill compares Fill with a replacement of each placeholder by its value.
func checkFill(t fails, a source.Action, vars canon.Value, values map[string]string) {
	template := append(slices.Clone(a.Argv), a.Cwd)
	got, err := Fill(a, vars)
	if err != nil {
		if len(Unfillable(a, vars)) == 0 {
			t.Fatalf("refused without a reason: %v", err)
		}
		return
	}
	// The words of a template are replaced in one pass, so a value is never read again.
	words := []string{}
	for key, v := range values {
		for _, spelling := range []string{"{{" + key + "}}", "{{ " + key + " }}"} {
			words = append(words, spelling, v)
		}
	}
	replace := strings.NewReplacer(words...)
	filled := append(slices.Clone(got.Argv), got.Cwd)
	for name := range a.Env {
		template, filled = append(template, a.Env[name]), append(filled, got.Env[name])
	}
	if len(filled) != len(template) || len(got.Argv) != len(a.Argv) || !maps.EqualFunc(got.Env, a.Env, func(_, _ string) bool { return true }) {
		t.Fatalf("%q of %q", filled, template)
	}
	dashes := false
	for i, text := range filled {
		if want := replace.Replace(template[i]); text != want {
			t.Fatalf("%q is filled to %q, want %q", template[i], text, want)
		}
		if text != template[i] && (!utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > limits.FilledBytesMax) {
			t.Fatalf("%q is filled to %.100q", template[i], text)
		}
		if i > 0 && i < len(got.Argv) && strings.HasPrefix(text, "-") && !strings.HasPrefix(template[i], "-") && !dashes {
			t.Fatalf("%q became the option %q", template[i], text)
		}
		dashes = dashes || i > 0 && template[i] == "--"
	}
}

// FuzzFill is TestFillKeepsElements for one element and one value of any bytes.
func FuzzFill(f *testing.F) {
	for _, seed := range [][2]string{{"{{a}}", "x"}, {"-{{ a }}", "-"}, {"{{a}}{{a}}", "{{a}}"}, {"{{wr.a}}{{a}}", ""}, {"{{{a}}}", "\xff"},
		{"/{{a}}", ".."}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, element, value string) {
		// Templates are JSON texts. Other spellings than these two are not what the comparison replaces.
		if rest := strings.NewReplacer("{{a}}", "", "{{ a }}", "").Replace(element); strings.Contains(rest, "{{") || !utf8.ValidString(element) {
			t.Skip()
		}
		values := map[string]string{"a": value}
		checkFill(t, source.Action{Argv: []string{"p", element}, Cwd: "d", Env: map[string]string{"E": element}},
			canon.OfMembers(canon.Member{Name: "a", Value: canon.OfString(value)}), values)
	})
}
