package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/projections/markup"
)

// inline returns the text of a paragraph, a heading or a cell.
func inline(text string) *markup.Node { return span(text, 0, false) }

// spans is one reading of a text for emphasis, code and links.
type spans struct {
	text   string
	depth  int
	linked bool            // in a link, which has no other links
	from   int             // of the text that was not written
	failed map[string]bool // ends that the rest of the text does not have
	close  map[int]int     // where the bracket at a place is closed
	out    markup.Group
}

// span is inline for a part of a text.
func span(text string, depth int, linked bool) *markup.Node {
	if depth >= depthMax {
		return markup.Text(text)
	}
	s := &spans{text: text, depth: depth, linked: linked, failed: map[string]bool{}}
	for i := 0; i < len(text); {
		end, n := s.at(i)
		if n == nil {
			i = end
			continue
		}
		s.flush(i)
		s.out = append(s.out, n)
		s.from, i = end, end
	}
	s.flush(len(text))
	return s.out.Node()
}

// flush writes the text before a place.
func (s *spans) flush(end int) {
	if s.from < end {
		s.out = append(s.out, markup.Text(s.text[s.from:end]))
	}
	s.from = end
}

// at reads what begins at a place. It returns the place behind it, and the node; nil for text.
func (s *spans) at(i int) (end int, n *markup.Node) {
	switch c := s.text[i]; c {
	case '\\':
		return s.escape(i)
	case '`':
		return s.code(i)
	case '*', '_', '~':
		return s.emphasis(i)
	case '!', '[':
		return s.link(i)
	case '<':
		return s.autolink(i)
	case 'h':
		return s.address(i)
	case '\n':
		// Two spaces before the end of a line break it.
		if strings.HasSuffix(s.text[s.from:i], "  ") {
			return i + 1, markup.E(markup.Br)
		}
	}
	return i + 1, nil
}

// escape reads a backslash: the character behind it has no meaning, and a line that ends with it is broken.
func (s *spans) escape(i int) (int, *markup.Node) {
	if i+1 >= len(s.text) {
		return i + 1, nil
	}
	switch c := s.text[i+1]; {
	case c == '\n':
		return i + 2, markup.E(markup.Br)
	case strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) >= 0:
		return i + 2, markup.Text(s.text[i+1 : i+2])
	}
	return i + 1, nil
}

// runAt returns the run of equal characters at a place.
func (s *spans) runAt(i int) string {
	n := i
	for n < len(s.text) && s.text[n] == s.text[i] {
		n++
	}
	return s.text[i:n]
}

// code reads code between two runs of as many backquotes.
func (s *spans) code(i int) (int, *markup.Node) {
	run := s.runAt(i)
	begin := i + len(run)
	if s.failed[run] {
		return begin, nil
	}
	for at := begin; at < len(s.text); {
		next := strings.IndexByte(s.text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		if end := s.runAt(at); end == run {
			text := strings.ReplaceAll(s.text[begin:at], "\n", " ")
			if inner := strings.TrimSpace(text); inner != "" && strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
				text = text[1 : len(text)-1]
			}
			return at + len(run), markup.E(markup.Code, markup.Text(text))
		} else {
			at += len(end)
		}
	}
	s.failed[run] = true
	return begin, nil
}

// emphasized are the elements by what encloses them.
var emphasized = map[string]markup.Tag{"*": markup.Em, "_": markup.Em, "**": markup.Strong, "__": markup.Strong, "~~": markup.Del}

// emphasis reads text between two equal runs of signs.
func (s *spans) emphasis(i int) (int, *markup.Node) {
	run := s.runAt(i)
	begin := i + len(run)
	mark := run
	if len(run) == 3 && run != "~~~" { // strong and emphasized
		mark = run[:2]
	}
	tag, known := emphasized[mark]
	if !known || s.failed[run] || !s.opens(i, begin) {
		return begin, nil
	}
	for at := begin; at < len(s.text); {
		next := strings.IndexAny(s.text[at:], run[:1]+"`\\")
		if next < 0 {
			break
		}
		at += next
		switch {
		case s.text[at] == '\\':
			at += 2
			continue
		case s.text[at] == '`':
			at, _ = s.code(at)
			continue
		}
		end := s.runAt(at)
		if end == run && s.closes(at, at+len(run)) {
			inner := span(s.text[begin:at], s.depth+1, s.linked)
			if len(run) == 3 {
				inner = markup.E(markup.Em, inner)
			}
			return at + len(run), markup.E(tag, inner)
		}
		at += len(end)
	}
	s.failed[run] = true
	return begin, nil
}

// around returns the characters before and behind a part of the text, spaces at its ends.
func (s *spans) around(from, to int) (before, behind rune) {
	before, behind = ' ', ' '
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(s.text[:from])
	}
	if to < len(s.text) {
		behind, _ = utf8.DecodeRuneInString(s.text[to:])
	}
	return before, behind
}

// opens reports that signs can begin emphasis; those of _ not within a word.
func (s *spans) opens(from, to int) bool {
	before, behind := s.around(from, to)
	return !unicode.IsSpace(behind) && (s.text[from] != '_' || !isWord(before))
}

// closes reports that signs can end emphasis.
func (s *spans) closes(from, to int) bool {
	before, behind := s.around(from, to)
	return !unicode.IsSpace(before) && (s.text[from] != '_' || !isWord(behind))
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// addressBytesMax bounds an address.
const addressBytesMax = 2048

// link reads a link or an image. One with an address that a page does not link to is text.
func (s *spans) link(i int) (int, *markup.Node) {
	image := s.text[i] == '!'
	begin := i
	if image {
		begin++
	}
	if begin >= len(s.text) || s.text[begin] != '[' {
		return begin, nil
	}
	end, ok := s.brackets()[begin]
	if !ok || s.linked || !strings.HasPrefix(s.text[end+1:], "(") {
		return begin + 1, nil
	}
	inside := s.text[end+2 : min(end+2+addressBytesMax, len(s.text))]
	address, length := destination(inside)
	to, ok := markup.External(address)
	if length < 0 || !ok {
		return begin + 1, nil
	}
	label := s.text[begin+1 : end]
	var content *markup.Node = span(label, s.depth+1, true)
	if image {
		content = markup.Group{markup.Text("image: "), markup.Text(orElse(label, address))}.Node()
	}
	return end + 2 + length, markup.Link(to, content)
}

func orElse(text, other string) string {
	if strings.TrimSpace(text) == "" {
		return other
	}
	return text
}

// destination reads an address, a title that is left out, and the parenthesis behind them. length is -1 for another
// text.
func destination(text string) (address string, length int) {
	open := 0
	i := 0
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			open++
			continue
		case c == ')' && open > 0:
			open--
			continue
		case c > ' ' && c != ')' && c != '<' && c != '>':
			continue
		}
		break
	}
	address = text[:i]
	rest := strings.TrimLeft(text[i:], " ")
	if strings.HasPrefix(rest, `"`) {
		n := strings.IndexByte(rest[1:], '"')
		if n < 0 {
			return "", -1
		}
		rest = strings.TrimLeft(rest[n+2:], " ")
	}
	if !strings.HasPrefix(rest, ")") {
		return "", -1
	}
	return address, len(text) - len(rest) + 1
}

// brackets returns where each bracket is closed.
func (s *spans) brackets() map[int]int {
	if s.close != nil {
		return s.close
	}
	s.close = map[int]int{}
	var open []int
	for i := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open) - 1; n >= 0 {
				s.close[open[n]] = i
				open = open[:n]
			}
		}
	}
	return s.close
}

// autolink reads an address in angle brackets.
func (s *spans) autolink(i int) (int, *markup.Node) {
	inside := s.text[i+1 : min(i+1+addressBytesMax, len(s.text))]
	n := strings.IndexAny(inside, "> \n<")
	if n <= 0 || inside[n] != '>' || s.linked {
		return i + 1, nil
	}
	to, ok := markup.External(inside[:n])
	if !ok {
		return i + 1, nil
	}
	return i + 1 + n + 1, markup.Link(to, markup.Text(inside[:n]))
}

// address reads an address that is written without brackets.
func (s *spans) address(i int) (int, *markup.Node) {
	rest := s.text[i:min(i+addressBytesMax, len(s.text))]
	before, _ := s.around(i, i)
	if s.linked || isWord(before) || !strings.HasPrefix(rest, "https://") && !strings.HasPrefix(rest, "http://") {
		return i + 1, nil
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"`*|[]", r) })
	if n < 0 {
		n = len(rest)
	}
	found := strings.TrimRight(rest[:n], ".,:;!?'")
	if !strings.Contains(found, "(") {
		found = strings.TrimRight(found, ").,:;!?'")
	}
	to, ok := markup.External(found)
	if !ok {
		return i + 1, nil
	}
	return i + len(found), markup.Link(to, markup.Text(found))
}
