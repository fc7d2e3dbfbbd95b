package page

import (
	"strings"
	"testing"
)

func TestNameMarksWhatLooksLikeOther(t *testing.T) {
	for text, want := range map[string]string{
		"Release 2.4": "Release 2.4", "Größe prüfen…": "Größe prüfen…", "Обновить API": "Обновить API", "日本語のテスト": "日本語のテスト",
		"роса и вода": "роса и вода", "раypal": "раypal ⟨U+0440 U+0430⟩", "раура": "раура ⟨U+0440 U+0430 U+0443⟩",
		"ｆull": "ｆull ⟨U+FF46⟩", "a․b⁄c": "a․b⁄c ⟨U+2024 U+2044⟩", "a\u200bb": "a\uFFFDb ⟨U+200B⟩",
		"x │ y ⟨U+0440⟩":                                "x \uFFFD y \uFFFDU+0440\uFFFD ⟨U+2502 U+27E8 U+27E9⟩",
		strings.Repeat("\n", 60) + "a\u2028b\rc\u0085d": "a b c d",
	} {
		if got := Name(text); got != want {
			t.Errorf("Name(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestArgumentMarksAllThatIsNoPlainLetter(t *testing.T) {
	for word, want := range map[string]string{
		"make": "make", "./päckchen": "'./päckchen'", "версия": "'версия'", "раypal": "'раypal' ⟨U+0440 U+0430⟩",
		"аре": "'аре' ⟨U+0430 U+0440 U+0435⟩", "a–b": "'a–b' ⟨U+2013⟩", "ｒm": "'ｒm' ⟨U+FF52⟩", "a\u202eb": `"a\u202eb"`,
		"a\ufe0fb": `"a\ufe0fb"`, "│": `"\u2502"`, "a\nb": `"a\nb"`, "\u3164": `"\u3164"`, "ı": "'ı' ⟨U+0131⟩", "١": "'١' ⟨U+0661⟩",
	} {
		if got := Argument(word); got != want {
			t.Errorf("Argument(%q) = %s, want %s", word, got, want)
		}
	}
	if got := Variable("A=B", "c") + Variable("A", "b c"); got != `"A=B"=cA='b c'` {
		t.Error(got)
	}
}

// TestExactPageOmitsNothing: each row fits, quoted rows have the bar, and no other row can have one.
func TestExactPageOmitsNothing(t *testing.T) {
	long := strings.Repeat("word │ ", 40) + strings.Repeat("界", 90) + strings.Repeat("e\u0301", 50)
	p := NewExact(false, 40)
	p.Quote("  ", long, Plain)
	for _, row := range p.Rows() {
		if !strings.HasPrefix(row, "  │ ") {
			t.Errorf("a row without a bar: %q", row)
		}
	}
	p = NewExact(true, 40)
	p.Quote("  ", long+"\n│ second", p.Bold)
	p.Text("", Name(long))
	p.Verbatim("    ", Argument(strings.Repeat("a b", 60)), p.Dim)
	p.Line("  %s", strings.Repeat("x", 100))
	plain := ""
	for _, row := range p.Rows() {
		row = strings.NewReplacer("\x1b[m", "", "\x1b[1m", "", "\x1b[2m", "").Replace(row)
		if TextWidth(row) > 39 {
			t.Errorf("%d columns: %q", TextWidth(row), row)
		}
		if quoted := strings.HasPrefix(row, "  │ "); strings.HasPrefix(strings.TrimLeft(row, " "), "│") != quoted {
			t.Errorf("a bar that is none: %q", row)
		}
		plain += row
	}
	if strings.Count(plain, "word") != 80 || strings.Count(plain, "界") != 180 || strings.Count(plain, "x") != 100 ||
		strings.Count(plain, "\u0301") != 100 {
		t.Errorf("something is omitted:\n%s", p.String())
	}
}

func TestExactTableCutsNothing(t *testing.T) {
	p, long := NewExact(false, 40), strings.Repeat("0123456789", 9)
	p.Table([]Column{{Title: "A", Flex: true}, {Title: "B", Spare: true}}, [][]Cell{{{Text: long}, {Text: "end"}}})
	if text := strings.Join(strings.Fields(p.String()), ""); !strings.Contains(text, long+"end") {
		t.Errorf("something is cut:\n%s", p.String())
	}
}
