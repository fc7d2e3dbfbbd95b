package page

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/invisible"
)

func TestCleanReplacesControlCharacters(t *testing.T) {
	cases := map[string]string{
		"plain, ünïcode ✓\nnext":           "plain, ünïcode ✓\nnext",
		"a\tb":                             "a    b",
		"win\r\nline":                      "win\nline",
		"\x1b[31mred\x1b[0m":               "␛[31mred␛[0m",
		"over\rwritten":                    "over␍written",
		"bell\a del\x7f":                   "bell␇ del\uFFFD",
		"c1 \u009b31m":                     "c1 \uFFFD31m",
		"user\u202Egnp.exe":                "user\uFFFDgnp.exe",
		"⚠\ufe0f ok":                       "⚠ ok",
		"می\u200cخواهم":                    "میخواهم",
		"\u2764\ufe0f\u200d\U0001F525":     "\u2764\U0001F525",
		"so\u00adft\u2060\ufeff\u061c!":    "soft!",
		"a\u200b\u200b\u200b\u200b\u200bb": "a\uFFFD\uFFFDb",
		"\U000E0100\u034f\u180b葛":          "葛",
		"tag\U000E0041 \u3164\u2067":       "tag\uFFFD \uFFFD\uFFFD",
		"bad \xff utf":                     "bad \uFFFD utf",
		"\x1b]0;title\a\x1b[2J ok\n":       "␛]0;title␇␛[2J ok\n",
	}
	for in, want := range cases {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCleanRangesNeedNoCleaning: each character that is printed without a further look is one that cleaning would not
// change, alone and after others.
func TestCleanRangesNeedNoCleaning(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if isCleanRune(r) && (isControl(r) || invisible.Shapes(r) || symbol(r) != r || unicode.IsSpace(r)) {
			t.Errorf("%U is in a clean range", r)
		}
	}
	for _, text := range []string{"“a” — é", "a\u00adb", "\u202ea", "a\xffb", "\u2028", "\u200d"} {
		if want := !strings.ContainsFunc(text, func(r rune) bool { return isControl(r) || invisible.Shapes(r) }); isClean(text) != want {
			t.Errorf("isClean(%q) is %v", text, !want)
		}
	}
}

func TestOutputLineKeepsColorsOnly(t *testing.T) {
	cases := []struct{ in, colored, plain string }{
		{"plain", "plain", "plain"},
		{"a\tb\tc", "a       b       c", "a       b       c"},
		{"10%\r50%\r100%", "100%", "100%"},
		{"dos\r", "dos", "dos"},
		{"\x1b[1;32mok\x1b[0m", "\x1b[1;32mok\x1b[0m\x1b[0m", "ok"},
		{"\x1b[31mleft on", "\x1b[31mleft on\x1b[0m", "left on"},
		{"\x1b[2Kcleared\x1b[10;10H\x1b[?25lmoved", "clearedmoved", "clearedmoved"},
		{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab", "ab"},
		{"\x1b(Bset\x1b7save\x1b", "setsave", "setsave"},
		{"\x1b[<1m not colors", " not colors", " not colors"},
		{"back\bspace \a", "backspace ", "backspace "},
		{"\x1b]0;Übung\x07a\x1béb", "ab", "ab"},
		{"\x1b[", "", ""},
		{"\x1bP never ends", "", ""},
	}
	for _, c := range cases {
		if got := OutputLine(c.in, true); got != c.colored {
			t.Errorf("with color, %q: %q, want %q", c.in, got, c.colored)
		}
		if got := OutputLine(c.in, false); got != c.plain {
			t.Errorf("plain, %q: %q, want %q", c.in, got, c.plain)
		}
	}
}

func FuzzOutputLine(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;x\x07", "\x1b", "x\ry", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := OutputLine(s, false); strings.ContainsAny(got, "\x1b\r\n\a\b\x7f\u009b\u202e") &&
			!strings.Contains(s, "\n") {
			t.Errorf("%q gives %q", s, got)
		}
		if got := Clean(s); strings.ContainsAny(got, "\x1b\r\a\b\x7f\u009b\u202e") {
			t.Errorf("%q is cleaned to %q", s, got)
		}
	})
}

func TestWrap(t *testing.T) {
	cases := []struct {
		width    int
		in, want string
	}{
		{0, "as long as it wants to be", "as long as it wants to be"},
		{10, "one two three four", "one two\nthree four"},
		{10, "  in by two words", "  in by\n  two\n  words"},
		{12, "- a bullet that hangs", "- a bullet\n  that hangs"},
		{12, "10. a number too", "10. a number\n    too"},
		{8, "a verylongwordindeed b", "a\nverylongwordindeed\nb"},
		{8, "    code stays as it is", "    code stays as it is"},
		{8, "```\nfenced code stays\n```\nnot this one", "```\nfenced code stays\n```\nnot this\none"},
		{8, "日本 日本 日本", "日本\n日本\n日本"},
		{9, "a\n\nb", "a\n\nb"},
		{10, "add --no-color or so", "add\n--no-color\nor so"},
		{22, "Show it by 'waybill run --run x'.", "Show it by\n'waybill run --run x'."},
		{20, "Show it by 'waybill run --run x'.", "Show it by 'waybill\nrun --run x'."},
	}
	for _, c := range cases {
		if got := Wrap(c.in, c.width); got != c.want {
			t.Errorf("%d: %q is\n%s\nwant\n%s", c.width, c.in, got, c.want)
		}
	}
}

func TestFoldAndCut(t *testing.T) {
	long := strings.Repeat("x", 25)
	for _, part := range Fold(long, 10) {
		if TextWidth(part) > 10 {
			t.Errorf("%q is wider than 10", part)
		}
	}
	if got := strings.Join(Fold(long, 10), ""); got != long {
		t.Errorf("folding lost something: %q", got)
	}
	if got := Fold("\x1b[31m"+long+"\x1b[0m", 10); len(got) != 3 || !strings.Contains(got[1], "\x1b[31m") {
		t.Errorf("the color is not carried over: %q", got)
	}
	if got := Cut("0123456789", 5); got != "0123…" {
		t.Errorf("got %q", got)
	}
	if got := Cut("日本語日本語", 6); TextWidth(got) > 6 {
		t.Errorf("%q is wider than 6", got)
	}
	if got := Cut("fits", 4) + Cut("any", 0); got != "fitsany" {
		t.Errorf("got %q", got)
	}
}

func TestStyles(t *testing.T) {
	plain, color := NewStyles(false), NewStyles(true)
	if got := plain.Bold("x") + plain.Bad("y"); got != "xy" {
		t.Errorf("plain styles write %q", got)
	}
	if got := color.Good("x"); !strings.HasPrefix(got, "\x1b[") || TextWidth(got) != 1 {
		t.Errorf("color styles write %q", got)
	}
	if color.Dim("") != "" {
		t.Error("an empty text is styled")
	}
}

// TestTextWidthOfASCII: each text of printable ASCII has the width of its bytes, and each other one that of its columns.
func TestTextWidthOfASCII(t *testing.T) {
	for b := range byte(0x80) {
		want := 0 // a control character
		if b >= ' ' && b <= '~' {
			want = 1
		}
		for text, want := range map[string]int{string(rune(b)): want, "a" + string(rune(b)) + "=": 2 + want} {
			if b == '\n' {
				want = min(want, 1) // of the widest line
			}
			if b == esc && want > 0 {
				want-- // ESC = is an escape sequence
			}
			if got := TextWidth(text); got != want {
				t.Errorf("%q has %d columns, want %d", text, got, want)
			}
		}
	}
	for text, want := range map[string]int{"": 0, "é": 1, "日本": 4, "\x1b[31mred\x1b[0m": 3} {
		if got := TextWidth(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
}

func TestTextWidthIsBounded(t *testing.T) {
	for window, want := range map[int]int{0: 0, 40: 36, 300: TextWidthMax - 4, 14: 10, 13: TextWidthMin} {
		if got := Columns(window, 4); got != want {
			t.Errorf("%d columns: %d, want %d", window, got, want)
		}
	}
}
