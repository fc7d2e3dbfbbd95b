package page

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// cells divides text into what is not divided further: clusters of characters, with the columns that they occupy, and
// escape sequences, which occupy none.
var cells = displaywidth.Options{ControlSequences: true}

// Cut shortens a line to width and ends it with an ellipsis. Escape sequences of the rest remain, so that styles end.
func Cut(line string, width int) string {
	if width <= 0 || TextWidth(line) <= width {
		return line
	}
	var b strings.Builder
	room := width - 1
	for cell := cells.StringGraphemes(line); cell.Next(); {
		if room -= cell.Width(); room >= 0 || cell.Value()[0] == esc {
			b.WriteString(cell.Value())
		}
	}
	return b.String() + "…"
}

// Fold breaks a line that is wider than width, at words where possible and inside them where
// necessary, and repeats colors on each part. It is for program output, which must not exceed the
// width.
func Fold(line string, width int) []string {
	if width <= 0 || len(line) <= width || TextWidth(line) <= width {
		return []string{line}
	}
	f := fold{width: width}
	for cell := cells.StringGraphemes(line); cell.Next(); {
		f.add(cell.Value(), cell.Width())
	}
	return f.end()
}

// fold is the state of Fold. Each text is beside its columns: a line, the white space behind it, and the word behind that.
type fold struct {
	width                int
	parts                []string
	line, space, word    []byte
	lineW, spaceW, wordW int
	style                style // at the begin of the line
}

// add adds a cell. White space and a hyphen end a word; white space is omitted where the line is broken.
func (f *fold) add(cell string, width int) {
	r, _ := utf8.DecodeRuneInString(cell)
	switch {
	case unicode.IsSpace(r) && r != '\u00a0':
		f.endWord()
		f.space, f.spaceW = append(f.space, cell...), f.spaceW+width
		return
	case cell == "-" && f.lineW+f.spaceW+f.wordW < f.width:
		f.word, f.wordW = append(f.word, cell...), f.wordW+1
		f.endWord()
		return
	case f.wordW+width > f.width: // a word longer than a line
		f.endWord()
	}
	f.word, f.wordW = append(f.word, cell...), f.wordW+width
	if width > 0 && f.lineW+f.spaceW+f.wordW > f.width {
		f.endLine()
	}
}

// endWord moves the white space and the word to the line.
func (f *fold) endWord() {
	if len(f.word) == 0 {
		return
	}
	if f.lineW+f.spaceW+f.wordW > f.width { // a word of escape sequences alone
		f.space, f.spaceW = f.space[:0], 0
	}
	f.line = append(append(f.line, f.space...), f.word...)
	f.lineW += f.spaceW + f.wordW
	f.space, f.spaceW, f.word, f.wordW = f.space[:0], 0, f.word[:0], 0
}

// endLine ends the line, with the end of its style, and omits the white space behind it. The next one begins in the style.
func (f *fold) endLine() {
	f.space, f.spaceW = f.space[:0], 0
	if f.lineW == 0 {
		return
	}
	begin := f.style.String()
	f.style.read(string(f.line))
	part := begin + string(f.line)
	if f.style != (style{}) {
		part += "\x1b[m"
	}
	f.parts = append(f.parts, part)
	f.line, f.lineW = f.line[:0], 0
}

// end returns the parts. White space at the end of the text remains where it fits.
func (f *fold) end() []string {
	if f.wordW > 0 || f.lineW+f.spaceW <= f.width {
		f.line = append(f.line, f.space...)
	}
	f.line, f.lineW = append(f.line, f.word...), max(f.lineW, 1)
	f.endLine()
	return f.parts
}

// style is what SGR sequences (ECMA-48) have selected: the parameters of the attributes 1 to 9 at their numbers, and of three
// colors behind them.
type style [13]string

const (
	foreground, background, underlined = 10, 11, 12
	// styleBytesMax bounds one parameter, which is repeated on each part of a line.
	styleBytesMax = 32
)

// String returns the sequence that selects the style, "" if nothing is selected.
func (s *style) String() string {
	var set []string
	for _, parameter := range s {
		if parameter != "" {
			set = append(set, parameter)
		}
	}
	if set == nil {
		return ""
	}
	return "\x1b[" + strings.Join(set, ";") + "m"
}

// read changes the style by the sequences in text.
func (s *style) read(text string) {
	for cell := cells.StringGraphemes(text); cell.Next(); {
		parameters, isControl := strings.CutPrefix(cell.Value(), "\x1b[")
		parameters, isStyle := strings.CutSuffix(parameters, "m")
		if !isControl || !isStyle {
			continue
		}
		list := strings.Split(parameters, ";")
		for n := 0; len(list) > 0; list = list[n:] {
			code, _, _ := strings.Cut(list[0], ":")
			n = 1
			if colors := code == "38" || code == "48" || code == "58"; colors && code == list[0] && len(list) > 1 {
				n = min(map[string]int{"5": 3, "2": 5}[list[1]], len(list))
				n = max(n, 1)
			}
			s.set(code, strings.Join(list[:n], ";"))
		}
	}
}

// set changes the style by one parameter, which begins with a code.
func (s *style) set(code, parameter string) {
	n, _ := strconv.Atoi(code)
	if len(parameter) > styleBytesMax {
		return
	}
	switch {
	case n == 0:
		*s = style{}
	case n < foreground:
		s[n] = parameter
	case n == 21:
		s[4] = parameter // underlined twice
	case n == 22:
		s[1], s[2] = "", ""
	case n == 25:
		s[5], s[6] = "", ""
	case n > 22 && n < 30:
		s[n-20] = ""
	case n == 39:
		s[foreground] = ""
	case n >= 30 && n < 39, n >= 90 && n < 98:
		s[foreground] = parameter
	case n == 49:
		s[background] = ""
	case n >= 40 && n < 49, n >= 100 && n < 108:
		s[background] = parameter
	case n == 58:
		s[underlined] = parameter
	case n == 59:
		s[underlined] = ""
	}
}
