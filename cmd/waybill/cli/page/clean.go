package page

import (
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/pattern"
)

// Clean makes text from other sources safe to print: characters that a terminal executes, or that
// reorder or hide text, become visible symbols of one column, so that no file can color, hide or
// reorder what is read. Characters that only shape their neighbors are left out; see invisible.Shapes. Line
// ends (LF and CR LF) are kept, tabs become spaces.
//
// Text that a person consents to has a symbol for each of them; see Page.Quote and Name.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	run := 0 // characters left out since the last one that is shown
	return strings.Map(func(r rune) rune {
		if !invisible.Shapes(r) {
			run = 0
			return symbol(r)
		}
		if run++; run > invisible.ShapingMax {
			return symbol(r)
		}
		return -1
	}, spelledOut.Replace(text))
}

// marked is Clean with a symbol for each character that cannot be seen.
func marked(text string) string {
	if isClean(text) {
		return text
	}
	return strings.Map(symbol, spelledOut.Replace(text))
}

// OneLine is Clean for names, titles and sentences: line breaks of any kind and other white space
// become single spaces, so that the text cannot move what follows it off the screen.
func OneLine(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }

// Scrub is Clean for text that Waybill has styled: colors remain.
func Scrub(text string) string {
	if isClean(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, esc)
		if at < 0 {
			at = len(text)
		}
		b.WriteString(Clean(text[:at]))
		text = text[at:]
		style := styleSequence.FindString(text)
		b.WriteString(style)
		if text = text[len(style):]; style == "" && text != "" {
			b.WriteRune(symbol(esc))
			text = text[1:]
		}
	}
	return b.String()
}

// isPlain reports text of printable ASCII characters and line feeds.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// isClean reports text of line feeds and characters that are printed as they are: ASCII, and those of cleanRanges.
func isClean(text string) bool {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if r != '\n' && (r < ' ' || r > '~') {
				return false
			}
		case !isCleanRune(r):
			return false
		}
	}
	return true
}

// cleanRanges are the letters of western languages, typographic signs and lines that the views write themselves: none
// of them is unprintable or shapes its neighbors. Text that has only these needs no further look at its characters.
var cleanRanges = [...][2]rune{{0xa1, 0xac}, {0xae, 0x24f}, {0x2010, 0x2027}, {0x2190, 0x21ff}, {0x2500, 0x25ff}}

// isCleanRune reports a character of cleanRanges.
func isCleanRune(r rune) bool {
	for _, span := range cleanRanges {
		if r <= span[1] {
			return r >= span[0]
		}
	}
	return false
}

// spelledOut replaces the control characters that a page writes in its own way.
var spelledOut = strings.NewReplacer("\r\n", "\n", "\t", "    ")

// symbol returns the symbol of a character that is not printed, and any other character unchanged.
func symbol(r rune) rune {
	switch {
	case r == '\n' || !isControl(r):
		return r
	case r < ' ':
		return '␀' + r // the Unicode symbols of the control characters, in their order
	}
	return utf8.RuneError
}

// Unprintable reports a character that no text view writes as it is (docs/design.md#printed-text):
// control and format characters (general categories Cc and Cf), line and paragraph separators (Zl,
// Zp), and characters that Unicode defines as invisible (Default_Ignorable_Code_Point), such as
// zero-width letters, variation selectors and tags.
func Unprintable(r rune) bool {
	return invisible.Is(r)
}

// isControl is Unprintable with the replacement of bytes that are not UTF-8.
func isControl(r rune) bool { return r == utf8.RuneError || Unprintable(r) }

// OutputLine makes a line of program output safe to print: of its escape sequences only colors
// remain, and only with keepColor; of a line that was overwritten (carriage return) the last state
// remains.
//
// Tabs become spaces up to the next multiple of tabStop. An escape sequence that does not end is
// removed up to the end of the line.
func OutputLine(line string, keepColor bool) string {
	line = strings.TrimSuffix(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if !strings.ContainsFunc(line, isControl) {
		return line
	}
	var b strings.Builder
	colored, column := false, 0
	for line != "" {
		r, n := utf8.DecodeRuneInString(line)
		switch {
		case r == esc:
			sequence := escapeSequence.FindString(line)
			n = len(sequence)
			if keepColor && selectsColors.MatchString(sequence) && !conceals.MatchString(sequence) {
				b.WriteString(sequence)
				colored = true
			}
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

// escapeSequence matches an escape sequence (ECMA-48), as far as it is in the line: a control
// sequence, a string up to BEL or ESC \, or a short one.
var escapeSequence = pattern.New(`(?s)^\x1b(?:\[[^@-~]*[@-~]?|[]P^_X].*?(?:\x07|\x1b\\|$)|[ -/]*.?)`)

// selectsColors matches a control sequence that changes colors only.
var selectsColors = pattern.New(`^\x1b\[[0-9;:]*m$`)

// conceals matches a control sequence that hides text (SGR 8).
var conceals = pattern.New(`[\[;:]0*8[;:m]`)
