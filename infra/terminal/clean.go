package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text that others wrote safe to show: what would drive the terminal
// becomes visible instead, so that no file can color, hide or reorder what a
// person decides on. Line ends stay, tabs become spaces.
func Clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && drives(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || !drives(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r) // the pictures of the control characters, in their order
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// drives reports a character that a terminal acts on instead of showing it: the
// control characters, and those that turn the direction of what follows.
func drives(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r)
}

// OutputLine makes a line of a program's output fit to stand among our own: only
// colors are left of its escape sequences, and those only where keepColor says so;
// of a line that was drawn over (carriage return) the last state counts.
func OutputLine(line string, keepColor bool) string {
	line = strings.TrimSuffix(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.ContainsFunc(line, drives) {
		return line
	}
	var b strings.Builder
	colored, column := false, 0
	for line != "" {
		if line[0] == esc {
			n, sgr := sequence(line)
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
		case r == utf8.RuneError || !drives(r):
			b.WriteRune(r)
			column++
		}
		line = line[n:]
	}
	if colored {
		b.WriteString("\x1b[0m") // a color that was left on must not run into our lines
	}
	return b.String()
}

const (
	esc     = 0x1b
	tabStop = 8
)

// sequence measures the escape sequence that s begins with (ECMA-48) and tells
// whether all it does is choose colors.
func sequence(s string) (length int, sgr bool) {
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
