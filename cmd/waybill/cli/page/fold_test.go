package page

import (
	"slices"
	"strings"
	"testing"
)

func TestFoldBreaksAtWordsAndClusters(t *testing.T) {
	cases := []struct {
		width int
		in    string
		want  []string
	}{
		{5, "ab cd ef", []string{"ab cd", "ef"}},
		{5, "ab  cdef gh", []string{"ab", "cdef", "gh"}},
		{5, "abcdefgh ij", []string{"abcde", "fgh", "ij"}},
		{5, "a-bcde-f", []string{"a-", "bcde-", "f"}},
		{5, "abcd ef   ", []string{"abcd", "ef   "}},
		{5, "abcde    ", []string{"abcde"}},
		{5, "    abcde", []string{"abcde"}},
		{5, "日本語日本", []string{"日本", "語日", "本"}},
		{3, "e\u0301e\u0301e\u0301e\u0301", []string{"e\u0301e\u0301e\u0301", "e\u0301"}},
		{5, "ab\u00a0cd\u00a0e", []string{"ab\u00a0cd", "\u00a0e"}},
		{4, "\x1b[31mab\x1b[0m cd\x1b[0m", []string{"\x1b[31mab\x1b[0m", "cd\x1b[0m"}},
		{2, "b  \x1b[0m", []string{"b\x1b[0m"}},
		{4, "abcd \x1b[m  \x1b[0m", []string{"abcd\x1b[m\x1b[0m"}},
		{3, "\x1b[1;31mab cd\x1b[0m ef", []string{"\x1b[1;31mab\x1b[m", "\x1b[1;31mcd\x1b[0m", "ef"}},
	}
	for _, c := range cases {
		if got := Fold(c.in, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%d, %q: %q, want %q", c.width, c.in, got, c.want)
		}
	}
}

// Each parameter selects or ends what ECMA-48 says, so that the style of a part is that of the text before it.
func TestFoldRepeatsTheStyle(t *testing.T) {
	long := strings.Repeat("1", styleBytesMax)
	for in, want := range map[string]string{
		"1": "1", "1;3;4": "1;3;4", "1;22": "", "2;22": "", "3;4;23": "4", "4;24": "", "21": "21", "5;6;25": "", "7;27": "",
		"9;29": "", "31;32": "32", "97": "97", "31;39": "", "41;102": "102", "41;49": "", "58;5;3": "58;5;3", "58;5;3;59": "",
		"38;5;200;1": "1;38;5;200", "38;2;1;2;3;4": "4;38;2;1;2;3", "48:2::1:2:3": "48:2::1:2:3", "1;0": "", "1;": "",
		"1;0;31": "31", "38": "38", "38;5": "38;5", "1;38:2:" + long: "1", "200": "", "1;99999999999999999999": "1",
	} {
		if want != "" {
			want = "\x1b[" + want + "m"
		}
		got := Fold("\x1b["+in+"mab cd", 3)
		if len(got) != 2 || !strings.HasPrefix(got[1], want+"cd") {
			t.Errorf("%q: %q, want the style %q", in, got, want)
		}
		if ends := strings.HasSuffix(got[0], "\x1b[m"); ends != (want != "") {
			t.Errorf("%q: the first part %q does not end the style", in, got[0])
		}
	}
}

// The style of a part is short however many sequences precede it.
func TestFoldIsLinear(t *testing.T) {
	line := strings.Repeat("\x1b[38;2;1;2;3m\x1b[4mx\x1b[9m", 10_000)
	size := 0
	for _, part := range Fold(line, 10) {
		size += len(part)
	}
	if size > 2*len(line) {
		t.Errorf("%d bytes became %d", len(line), size)
	}
}

func TestCutKeepsTheEndOfStyles(t *testing.T) {
	for _, c := range []struct {
		width    int
		in, want string
	}{
		{4, "\x1b[31mabcdef\x1b[m", "\x1b[31mabc\x1b[m…"}, {4, "日本語", "日…"}, {1, "abc", "…"}, {3, "e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301…"},
	} {
		if got := Cut(c.in, c.width); got != c.want {
			t.Errorf("%d, %q: %q, want %q", c.width, c.in, got, c.want)
		}
	}
}
