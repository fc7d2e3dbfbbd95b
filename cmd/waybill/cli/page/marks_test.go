package page

import (
	"strings"
	"testing"
)

func TestNameMarksWhatLooksLikeOther(t *testing.T) {
	for text, want := range map[string]string{
		"раypal": "U+0440 U+0430", "раура": "U+0440 U+0430 U+0443", "ｆull": "U+FF46", "a․b⁄c": "U+2024 U+2044",
		"раypal в порядке": "U+0440 U+0430", "Αdmin": "U+0391", "adοbe": "U+03BF", "mıcrosoft": "U+0131", "𝐩𝐚𝐲": "U+1D429 U+1D41A U+1D432",
		"he口p": "U+53E3", "he口p 日本": "U+53E3", "rm：x": "U+FF1A", "第２回": "", "v２": "U+FF12", "ᴀdmin": "U+1D00", "deploy١": "U+0661",
		"ABC\u212a": "U+212A", "ⅠI": "U+2160", "ӏogin": "U+04CF", "ＡＰＩの説明": "U+FF21 U+FF30 U+FF29", "a∕b": "U+2215", "a\u037e": "U+037E",
	} {
		if want != "" {
			want = " ⟨" + want + "⟩"
		}
		if got := Name(text); got != text+want {
			t.Errorf("Name(%q) = %q, want %q", text, got, text+want)
		}
	}
	for text, want := range map[string]string{"a\u200bb": "a\uFFFDb ⟨U+200B⟩", "⚠\ufe0f ok": "⚠\uFFFD ok ⟨U+FE0F⟩",
		"x │ y ⟨U+0440⟩":                                "x \uFFFD y \uFFFDU+0440\uFFFD ⟨U+2502 U+27E8 U+27E9⟩",
		strings.Repeat("\n", 60) + "a\u2028b\rc\u0085d": "a b c d",
	} {
		if got := Name(text); got != want {
			t.Errorf("Name(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestNameLeavesOrdinaryTitles: what a title is ordinarily written with has no marks.
func TestNameLeavesOrdinaryTitles(t *testing.T) {
	for _, text := range []string{"Release 2.4", "Größe prüfen…", "Обновить API", "日本語のテスト", "роса и вода", "使用API接口", "APIの一覧",
		"テスト（その１）：準備、実行。", "发布：第２版！", "Don’t “quote” – ever… ½ • a—b × 3 „so“ ‹x› «y»", "Cafe\u0301 re\u0301sume\u0301", "한글 API 테스트",
		"\u1112\u1161\u11ab 글", "5 µs, 10 Ω, 20 °C, 3²", "λ-Ausdruck", "Yazılım sürümünü hazırla, değiştir", "Kimlər gəlir", "з’єднання", "зʼєднання", "Nº 5, 1ª, №7, ©®™",
		"الإصدار ٢ جاهز", "नया संस्करण २", "Şişli Nguyễn Łódź", "🚀 Ship it ➕", "①②③ 手順", "Ελληνικά και API", "בדיקה ב-API", "עברית׃"} {
		if got := Name(text); got != text {
			t.Errorf("Name(%q) = %q", text, got)
		}
	}
}

// TestValueIsStrict: in what a program reads, typography is marked as well.
func TestValueIsStrict(t *testing.T) {
	for text, want := range map[string]string{"ada": "ada", `["“ada”"]`: `["“ada”"] ⟨U+201C U+201D⟩`, "a–b": "a–b ⟨U+2013⟩",
		"аda": "аda ⟨U+0430⟩", "a\u200bb": "a\uFFFDb ⟨U+200B⟩"} {
		if got := Value(text); got != want {
			t.Errorf("Value(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestArgumentMarksAllThatIsNoPlainLetter(t *testing.T) {
	for word, want := range map[string]string{
		"make": "make", "./päckchen": "'./päckchen'", "версия": "'версия'", "раypal": "'раypal' ⟨U+0440 U+0430⟩",
		"аре": "'аре' ⟨U+0430 U+0440 U+0435⟩", "a–b": "'a–b' ⟨U+2013⟩", "ｒm": "'ｒm' ⟨U+FF52⟩", "a\u202eb": `"a\u202eb"`,
		"a\ufe0fb": `"a\ufe0fb"`, "│": `"\u2502"`, "a\nb": `"a\nb"`, "\u3164": `"\u3164"`, "ı": "'ı' ⟨U+0131⟩", "١": "'١' ⟨U+0661⟩",
		"API接口": "'API接口' ⟨U+63A5 U+53E3⟩", "e\u0301": "'e\u0301' ⟨U+0301⟩", "a\u0338b": "'a\u0338b' ⟨U+0338⟩", "½": "'½' ⟨U+00BD⟩", "x’": "'x’' ⟨U+2019⟩",
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

// TestExactPageMarksWhatCannotBeSeen: text of all kinds has a symbol for each character that is left
// out elsewhere, and cells have the marks of names.
func TestExactPageMarksWhatCannotBeSeen(t *testing.T) {
	const text = "a\u200bb\ufe0fc\u00ad"
	write := map[string]func(*Page){"Quote": func(p *Page) { p.Quote("", text, Plain) }, "Text": func(p *Page) { p.Text("", text) },
		"QuoteExactly": func(p *Page) { p.QuoteExactly("", text, Plain) }, "Prose": func(p *Page) { p.Prose("", text, Plain) },
		"Table": func(p *Page) { p.Table([]Column{{Title: "T"}}, [][]Cell{{{Text: text}}}) }}
	for name, f := range write {
		exact, list := NewExact(false, 80), New(false, 80)
		f(exact)
		f(list)
		if got := exact.String(); strings.Count(got, "\uFFFD") != 3 {
			t.Errorf("%s before a consent: %q", name, got)
		}
		if got := list.String(); strings.Count(got, "\uFFFD") != 0 || !strings.Contains(got, "abc") {
			t.Errorf("%s in a list: %q", name, got)
		}
	}
	p := NewExact(false, 80)
	p.Table([]Column{{Title: "T"}}, [][]Cell{{{Text: "раypal"}}})
	if !strings.Contains(p.String(), "⟨U+0440 U+0430⟩") {
		t.Errorf("a cell before a consent: %q", p.String())
	}
}

// TestExactParagraphsAreWrappedOnce: the further rows of a sentence are indented, and none of them is
// folded again because of that.
func TestExactParagraphsAreWrappedOnce(t *testing.T) {
	p := NewExact(false, 40)
	p.Text("  ", strings.Repeat("abc ", 60))
	for i, row := range p.Rows() {
		if last := i == len(p.Rows())-1; !last && TextWidth(row) < 30 || i > 0 && !strings.HasPrefix(row, "      abc") {
			t.Errorf("row %d: %q in:\n%s", i, row, p)
		}
	}
}

// TestUnbrokenIsOneLine: a command to copy is not folded, however narrow the page is.
func TestUnbrokenIsOneLine(t *testing.T) {
	p, line := NewExact(false, 20), "od -c "+strings.Repeat("x", 100)
	p.Unbroken(line)
	p.Line("%s", strings.Repeat("y", 30))
	if rows := p.Rows(); len(rows) != 3 || rows[0] != line {
		t.Errorf("%q", rows)
	}
}

func TestExactTableCutsNothing(t *testing.T) {
	p, long := NewExact(false, 40), strings.Repeat("0123456789", 9)
	p.Table([]Column{{Title: "A", Flex: true}, {Title: "B", Spare: true}}, [][]Cell{{{Text: long}, {Text: "end"}}})
	if text := strings.Join(strings.Fields(p.String()), ""); !strings.Contains(text, long+"end") {
		t.Errorf("something is cut:\n%s", p.String())
	}
}
