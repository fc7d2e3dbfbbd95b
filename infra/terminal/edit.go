package terminal

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Edit lets ReadLine and ReadText edit what is typed, without the limit of a terminal's lines, until
// the returned function is called. Call it before the question is shown: what is typed or pasted
// after that arrives whole. Ctrl-C and Ctrl-Z remain signals. Where the system cannot, it does
// nothing, and lines are those of the terminal.
func (l *Lines) Edit() (end func()) {
	if l.echo == nil || l.editing {
		return func() {}
	}
	restore, ok := keyMode(l.in)
	if !ok {
		return func() {}
	}
	l.editing = true
	return func() {
		restore()
		l.editing = false
	}
}

// typing is the text that is being typed.
type typing struct {
	text   []byte
	screen strings.Builder // what is to be shown
	width  func(string) int
	room   int // columns that can be erased on the screen
	escape []byte
	pasted bool // between the marks that a terminal sends around a pasted text
	ends   int  // Ctrl-D keys in a row
	single bool
}

// Keys that edit a line; a terminal in line mode has the same by default.
const (
	keyEnd       = 0x04 // Ctrl-D
	keyBackspace = 0x08
	keyKill      = 0x15 // Ctrl-U
	keyWord      = 0x17 // Ctrl-W
	keyEscape    = 0x1b
	keyDelete    = 0x7f
)

// tabShown is what is shown for a tab: a width that can be erased.
const tabShown = "    "

// edit reads a line, or a text with all lines that follow without a pause.
func (l *Lines) edit(ctx context.Context, most int, single bool) (string, error) {
	t := &typing{width: l.width, room: max(Width(l.in), 20) - 8, single: single}
	for {
		data, rest := l.rest, []byte(nil)
		l.rest = nil
		if len(data) == 0 || !utf8.FullRune(data) {
			part, err := l.readPart(ctx)
			if err != nil {
				l.rest = data
				return "", err
			}
			data = append(data, part...)
			if len(part) == 0 {
				return "", io.EOF
			}
		}
		if l.refused = l.refused && len(t.text) == 0; l.refused && isLineEnd(data[0]) {
			data, l.refused = data[1:], false
		}
		ended, end := false, false
		for len(data) > 0 && !end && !(single && ended) {
			if !utf8.FullRune(data) {
				rest = data
				break
			}
			r, n := utf8.DecodeRune(data)
			data = data[n:]
			ended, end = t.key(r)
		}
		if len(rest) == 0 {
			rest = data
		}
		l.rest = bytes.Clone(rest)
		_, _ = io.WriteString(l.echo, t.screen.String())
		t.screen.Reset()
		switch text := bytes.TrimSuffix(t.text, []byte("\n")); {
		case len(text) > most:
			return "", l.refuse(ctx, ended)
		case end && len(t.text) == 0:
			return "", io.EOF
		case end, ended && single, ended && !t.pasted && !inputFollows(l.in, pasteGap):
			return string(text), nil
		case len(t.escape) == 1 && !inputFollows(l.in, pasteGap):
			t.escape = nil // the Escape key alone
		}
	}
}

// isLineEnd reports whether a key ends a line.
func isLineEnd(key byte) bool { return key == '\n' || key == '\r' }

// key takes one key. ended reports that it was a line end, end that it ends the input.
func (t *typing) key(r rune) (ended, end bool) {
	if len(t.escape) > 0 || r == keyEscape {
		t.control(byte(min(r, unicode.MaxASCII)))
		return false, false
	}
	ends := t.ends
	t.ends = 0
	switch {
	case r == '\n' || r == '\r':
		t.text = append(t.text, '\n')
		t.screen.WriteString("\n")
		return true, false
	case r == '\t':
		t.add(r, tabShown)
	case t.pasted && unicode.IsControl(r):
		// Keys in a pasted text are no keys.
	case r == keyBackspace || r == keyDelete:
		t.erase(func(line string) int { _, n := utf8.DecodeLastRuneInString(line); return n })
	case r == keyKill:
		t.erase(func(line string) int { return len(line) })
	case r == keyWord:
		t.erase(func(line string) int {
			words := strings.TrimRightFunc(line, unicode.IsSpace)
			return len(line) - (strings.LastIndexFunc(words, unicode.IsSpace) + 1)
		})
	case r == keyEnd:
		// As in line mode: on an empty line it ends the input, else the second one in a row does.
		t.ends = ends + 1
		return false, t.line() == "" || t.ends > 1
	case unicode.IsControl(r):
	default:
		shown := string(r)
		if !unicode.IsPrint(r) {
			shown = ""
		}
		t.add(r, shown)
	}
	return false, false
}

// add appends a rune to the text.
func (t *typing) add(r rune, shown string) {
	t.text = utf8.AppendRune(t.text, r)
	t.screen.WriteString(shown)
}

// line is the last line of the text, the only one that can be edited.
func (t *typing) line() string { return string(t.text[bytes.LastIndexByte(t.text, '\n')+1:]) }

// erase removes as many bytes from the end of the line as count returns.
func (t *typing) erase(count func(line string) int) {
	line := t.line()
	n := count(line)
	gone := line[len(line)-n:]
	t.text = t.text[:len(t.text)-n]
	columns := t.columns(gone)
	if n > 1 && t.columns(line) > t.room && utf8.RuneCountInString(gone) > 1 {
		// The line occupies several rows, and a cursor does not go back over their ends.
		t.screen.WriteString("\n" + lastColumns(t.line(), t.room))
		return
	}
	t.screen.WriteString(strings.Repeat("\b \b", columns))
}

// columns is the width of a part of a line on the screen.
func (t *typing) columns(s string) int {
	return t.width(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\t", tabShown)))
}

// lastColumns returns the end of a line, of about so many columns.
func lastColumns(line string, columns int) string {
	runes := []rune(line)
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(runes[max(0, len(runes)-columns/2):]))
}

// Marks that a terminal may send around a pasted text.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// escapeBytesMax bounds what counts as one key: no key sends more.
const escapeBytesMax = 32

// control takes a byte of what a key without a character sends, such as an arrow. They do nothing.
func (t *typing) control(b byte) {
	t.escape = append(t.escape, b)
	s := t.escape
	switch {
	case len(s) == 1 || len(s) == 2 && (s[1] == '[' || s[1] == 'O'):
		return
	case len(s) > 2 && s[1] == '[' && b < 0x40 && len(s) < escapeBytesMax:
		return // parameters
	}
	switch string(s) {
	case pasteBegins:
		t.pasted = true
	case pasteEnds:
		t.pasted = false
	}
	t.escape = nil
}
