package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

// Wrap breaks the lines of text at words so that they fit width columns; 0 breaks nothing. A line
// keeps its indentation, and text after a bullet or number is indented behind it. Code (fenced or
// indented by four), single words that are too long, and quoted commands that fit one line are not
// broken.
//
// Widths are those of TextWidth, so wide characters count as two columns.
func Wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if !fenced && !fence && !strings.HasPrefix(line, "    ") && TextWidth(line) > width {
			lines[i] = wrapLine(line, width)
		}
	}
	return strings.Join(lines, "\n")
}

// linePrefix matches what precedes the words of a line: indentation, quote signs, a bullet or
// number.
var linePrefix = pattern.New(`^[ \t]*(?:> )*(?:[-*+•→] |[0-9]{1,3}[.)] )?`)

// hangMax bounds the hanging indentation in columns, so that narrow terminals have space for text.
const hangMax = 8

// wrapLine breaks one line.
func wrapLine(line string, width int) string {
	current := ""
	if !isLetter(line[0]) { // with which no prefix begins
		current = linePrefix.FindString(line)
	}
	hang := strings.Repeat(" ", min(TextWidth(current), hangMax))
	var out []string
	between := ""
	for _, word := range words(line[len(current):], width-len(hang)) {
		if between != "" && TextWidth(current+between+word) > width {
			out = append(out, current)
			current, between = hang, ""
		}
		current += between + word
		between = " "
	}
	return strings.Join(append(out, current), "\n")
}

// wordOrCommand matches what is not broken: a word, or a command to copy, as errors and hints name
// it, with adjacent punctuation.
var wordOrCommand = pattern.New(`[^\s\pZ]*'waybill [^']*'[^\s\pZ]*|[^\s\pZ]*"waybill [^"]*"[^\s\pZ]*|[^\s\pZ]+`)

// words splits text into units that are not broken. A quoted command is one unit where it fits
// width: broken, it could not be copied.
func words(text string, width int) (out []string) {
	units := strings.FieldsFunc(text, isBlank)
	// Most texts have no command, and are those of the help, which each call composes.
	if strings.Contains(text, "'waybill ") || strings.Contains(text, `"waybill `) {
		units = wordOrCommand.FindAllString(text, -1)
	}
	for _, unit := range units {
		if TextWidth(unit) > width {
			out = append(out, strings.Fields(unit)...)
			continue
		}
		out = append(out, unit)
	}
	return out
}

// isBlank reports what separates words: [\s\pZ] of wordOrCommand.
func isBlank(r rune) bool {
	return strings.ContainsRune(" \t\n\f\r", r) || r >= utf8.RuneSelf && unicode.Is(unicode.Z, r)
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }
