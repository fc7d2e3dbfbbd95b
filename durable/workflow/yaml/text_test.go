package yaml_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// values generates JSON values of a depth, with texts that look like something else.
func values(depth int) *rapid.Generator[canon.Value] {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "true", "~", "null", "1.2.3", "0x10", "- a", "a: b", "a #b", "a\nb",
		"a\nb\n", "\n", "a\n\nb\n\n", " a\nb", "a \nb", "a\n  b", "key:", "<<", "=", "yes", "1e3", "\u2028", "\ufeff", "\u0085", "a\tb",
		"\"q\"", "'", "{x}", "[y]", "*a", "&a", "!t", "%d", "---", "...", "a\r\nb", "\x7f\nb", "@at", "a, b", ".5", "0o7", "-"}))
	return rapid.Custom(func(t *rapid.T) canon.Value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind = kind % 4
		}
		switch kind {
		case 0:
			return canon.OfString(texts.Draw(t, "text"))
		case 1:
			return canon.OfBool(rapid.Bool().Draw(t, "bool"))
		case 2:
			return canon.OfInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "n"))
		case 3:
			return canon.Value{}
		case 4:
			return canon.OfList(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "list")...)
		}
		out := canon.OfMembers()
		for _, key := range rapid.SliceOfNDistinct(texts, 0, 3, rapid.ID[string]).Draw(t, "keys") {
			out = out.With(key, values(depth-1).Draw(t, "member"))
		}
		return out
	})
}

// TestTextIsReadBack: what Text writes is the same value for Parse.
func TestTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		if len(v.JCS()) > 0 && v.Kind() == canon.Object {
			// Keys that differ in case only are no JSON document of Waybill's.
			if _, err := canon.Parse(v.JCS()); err != nil {
				t.Skip()
			}
		}
		text := yaml.Text(v)
		for _, r := range string(text) {
			if r != '\n' && invisible.Is(r) {
				t.Fatalf("%U is written as it is: %q", r, text)
			}
		}
		got, err := yaml.Parse(text)
		if err != nil || !got.Equal(v) {
			if _, bad := canon.Parse(v.JCS()); bad != nil {
				t.Skip()
			}
			t.Fatalf("%v\n%s\n%s\n%s", err, v.JCS(), text, got.JCS())
		}
	})
}
