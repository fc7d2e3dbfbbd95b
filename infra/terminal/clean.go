package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from other sources safe to print: control characters become visible symbols, so
// that no file can color, hide or reorder what the user decides on. Line ends are kept, tabs become
// spaces.
func Clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && isControl(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || !isControl(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r) // the Unicode symbols of the control characters, in their order
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// isControl reports a character that a terminal executes instead of showing: control characters and
// bidirectional formatting characters.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r)
}

// OutputLine makes a line of program output safe to print: of its escape sequences only colors
// remain, and only with keepColor; of a line that was overwritten (carriage return) the last state
// remains.
//
// Tabs become spaces up to the next multiple of tabStop. An escape sequence that does not end is
// removed up to the end of the line.
func OutputLine(line string, keepColor bool) string {
	line = strings.TrimSuffix(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.ContainsFunc(line, isControl) {
		return line
	}
	var b strings.Builder
	colored, column := false, 0
	for line != "" {
		if line[0] == esc {
			n, sgr := escapeSequence(line)
			if sgr && keepColor {
				b.WriteString(line[:n])
				colored = true
			}
			line = line[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		switch {
		case r == '\t':
			pad := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", pad))
			column += pad
		case r == utf8.RuneError || !isControl(r):
			b.WriteRune(r)
			column++
		}
		line = line[n:]
	}
	if colored {
		b.WriteString("\x1b[0m") // an unfinished color must not continue in the following lines
	}
	return b.String()
}

const (
	esc     = 0x1b
	tabStop = 8
)

// escapeSequence returns the length of the escape sequence at the start of s (ECMA-48), and whether
// it only selects colors.
func escapeSequence(s string) (length int, sgr bool) {
	if len(s) < 2 {
		return len(s), false
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1, s[i] == 'm' && strings.Trim(s[2:i], "0123456789;:") == ""
			}
		}
		return len(s), false
	case ']', 'P', '^', '_', 'X': // strings, up to BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1, false
			}
			if s[i] == esc && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2, false
			}
		}
		return len(s), false
	}
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	return min(i+1, len(s)), false
}
