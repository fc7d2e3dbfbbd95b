package invisible

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// defaultIgnorable is the property as DerivedCoreProperties.txt of Unicode lists it.
var defaultIgnorable = []span{{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
	{0x180B, 0x180F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},
	{0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}}

// formats are the characters of category Cf that are not default ignorable, as UnicodeData.txt lists them.
var formats = []span{{0x600, 0x605}, {0x6DD, 0x6DD}, {0x70F, 0x70F}, {0x890, 0x891}, {0x8E2, 0x8E2}, {0xFFF9, 0xFFFB},
	{0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}}

// others are the controls and the separators of lines and paragraphs.
var others = []span{{0, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}}

// TestIsAgreesWithUnicodeData compares every code point with the lists of the standard.
func TestIsAgreesWithUnicodeData(t *testing.T) {
	t.Parallel()
	want := map[rune]bool{}
	for _, list := range [][]span{defaultIgnorable, formats, others} {
		for _, s := range list {
			for r := s.first; r <= s.last; r++ {
				want[r] = true
			}
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		// A later version of the tables may add formats to those of the lists.
		if got := Is(r); got != want[r] && !(got && unicode.Is(unicode.Cf, r)) {
			t.Errorf("%U: %v, want %v", r, got, want[r])
		}
	}
	for _, r := range []rune{-1, unicode.MaxRune + 1, utf8.RuneError, ' ', 'a', 0xA0, 0x3000, 0x1F600} {
		if Is(r) {
			t.Errorf("%U is invisible", r)
		}
	}
}

// TestEscapeJSONOfEachCharacter: no invisible character is left, the value is the same, and what is visible is not
// changed.
func TestEscapeJSONOfEachCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		text := "a" + string(r) + "b"
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := EscapeJSON(raw)
		if visible := !Is(r); visible != bytes.Equal(got, raw) && r >= del && r != 0x2028 && r != 0x2029 {
			t.Fatalf("%U: %s of %s", r, got, raw)
		}
		if strings.ContainsFunc(string(got), Is) {
			t.Fatalf("%U is left in %q", r, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != text {
			t.Fatalf("%U: %s is %q, %v", r, got, back, err)
		}
	}
}

// TestEscapeJSONKeepsValues: documents have the same value, are escaped once, and white space between tokens stays.
func TestEscapeJSONKeepsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SampledFrom([]rune("\u200b\u202e\U000e0041\x7f\u009b\\u\"\n"))
		text := rapid.StringOfN(rapid.OneOf(rapid.Rune(), chosen), 0, 40, -1)
		value := map[string]any{text.Draw(t, "key"): []any{text.Draw(t, "value"), 1.5, nil, true}}
		raw, err := json.MarshalIndent(value, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		once := EscapeJSON(raw)
		var back map[string]any
		if err := json.Unmarshal(once, &back); err != nil || fmt.Sprint(back) != fmt.Sprint(value) {
			t.Fatalf("%s: %v, %v", once, back, err)
		}
		lines := func(b []byte) int { return bytes.Count(b, []byte{'\n'}) }
		if again := EscapeJSON(once); !bytes.Equal(again, once) || lines(once) != lines(raw) {
			t.Fatalf("%q, again %q", once, again)
		}
	})
}

func TestEscapeJSONOfOtherBytes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                   "",
		"{}\r\n":             "{}\r\n",
		"\"\x9b31m\"":        `"\ufffd31m"`,
		"\"\xe2\x80\"":       `"\ufffd\ufffd"`,
		"\"\ufffd\"":         "\"\ufffd\"",
		"# \x1b[31m\x00":     `# \u001b[31m\u0000`,
		"\"\U000e0041\x7f\"": `"\udb40\udc41\u007f"`,
	} {
		if got := string(EscapeJSON([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	plain := []byte(`{"title":"größer 日本"}`)
	if got := EscapeJSON(plain); &got[0] != &plain[0] {
		t.Error("plain text is copied")
	}
}

// TestEscapeJSONOfEachByteAtEachPlace: texts of up to three words of eight bytes are searched as byte for byte.
func TestEscapeJSONOfEachByteAtEachPlace(t *testing.T) {
	t.Parallel()
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := bytes.Repeat([]byte{"~ "[at%2]}, length)
				text[at] = byte(c)
				escaped := c < ' ' && c != '\n' && c != '\t' && c != '\r' || c >= del
				if got := next(text, 0); escaped && got != at || !escaped && got != length {
					t.Fatalf("byte %#x at %d of %d: %d", c, at, length, got)
				}
			}
		}
	}
}

// TestWriterCutsBetweenCharacters: text that is written in pieces of any length is the same as in one.
func TestWriterCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	text := []byte("{\"a\":\"x\u202e日本\U000e0041\u009b größer\"}\n")
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := NewWriter(&out)
		for from := 0; from < len(text); from += size {
			if n, err := w.Write(text[from:min(from+size, len(text))]); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if err := w.Flush(); err != nil || !bytes.Equal(out.Bytes(), EscapeJSON(text)) {
			t.Errorf("in pieces of %d: %q, %v", size, out.Bytes(), err)
		}
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	if _, err := w.Write([]byte("a\xe2\x80")); err != nil || w.Flush() != nil || out.String() != `a\ufffd\ufffd` {
		t.Errorf("a cut character: %q, %v", out.String(), err)
	}
}

func BenchmarkEscapeJSON(b *testing.B) {
	for name, text := range map[string]string{"ascii": strings.Repeat("plain text ", 1000),
		"letters": strings.Repeat("größer 日本 ", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				EscapeJSON([]byte(text))
			}
		})
	}
}
