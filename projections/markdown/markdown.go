// Package markdown shows the Markdown that people and agents write in notes, as HTML of package markup: headings,
// paragraphs, lists, tables, quotes, code, emphasis and links. What it does not know, such as HTML, entities, reference
// links and addresses of other schemes than http, https and mailto, stays visible text. An image is a link to it.
//
// Its time and its output are proportional to the length of the text, for any text: containers and emphasis are
// nested up to a depth, and a search that found nothing is not repeated (docs/decisions/0074-own-pages-and-markdown.md).
package markdown

import (
	"strings"

	"github.com/waybill/waybill/projections/markup"
)

// depthMax bounds how deep quotes, lists and emphasis are nested; what is deeper is text.
const depthMax = 8

// Render returns a text as content of a page. The highest level of its headings is that of the element h5.
func Render(text string) *markup.Node {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	b := blocks{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	b.top = b.topLevel()
	return b.render(0).Node()
}

// blocks are the lines of a container: of the text, a quote or an item.
type blocks struct {
	lines []string
	at    int
	top   int // the highest level of headings of the text
}

// topLevel returns the highest level of a heading, 1 is higher than 2.
func (b *blocks) topLevel() int {
	top := headingMax
	for _, line := range b.lines {
		if n, _ := heading(line); n > 0 {
			top = min(top, n)
		}
	}
	return top
}

// render returns the blocks of the remaining lines.
func (b *blocks) render(depth int) markup.Group {
	var out markup.Group
	for b.at < len(b.lines) {
		line := b.lines[b.at]
		level, title := heading(line)
		_, marked := item(line)
		switch {
		case isBlank(line):
			b.at++
		case depth >= depthMax:
			out = append(out, b.rest())
		case level > 0:
			b.at++
			tag := markup.H5
			if level > b.top {
				tag = markup.H6
			}
			out = append(out, markup.E(tag, inline(title)))
		case fence(line) != "":
			out = append(out, b.fenced())
		case isRule(line):
			b.at++
			out = append(out, markup.E(markup.Hr))
		case strings.HasPrefix(strings.TrimLeft(line, " "), ">") && indent(line) < codeIndent:
			out = append(out, b.quote(depth))
		case marked:
			out = append(out, b.list(depth))
		case indent(line) >= codeIndent:
			out = append(out, b.indented())
		case b.isTable():
			out = append(out, b.table())
		default:
			out = append(out, b.paragraph())
		}
	}
	return out
}

// codeIndent is the indentation of code.
const codeIndent = 4

// headingMax is the lowest level of headings.
const headingMax = 6

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// indent returns the number of columns of the white space before a line.
func indent(line string) (n int) {
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += codeIndent - n%codeIndent
		default:
			return n
		}
	}
	return n
}

// outdent removes up to n columns of white space before a line.
func outdent(line string, n int) string {
	for n > 0 && line != "" {
		switch line[0] {
		case ' ':
			n--
		case '\t':
			n -= codeIndent
		default:
			return line
		}
		line = line[1:]
	}
	return line
}

// heading returns the level and the text of a heading; level 0 for another line.
func heading(line string) (level int, text string) {
	text = strings.TrimLeft(line, " ")
	if len(line)-len(text) >= codeIndent {
		return 0, ""
	}
	for level < len(text) && text[level] == '#' {
		level++
	}
	if level == 0 || level > headingMax || level < len(text) && text[level] != ' ' && text[level] != '\t' {
		return 0, ""
	}
	text = strings.TrimSpace(text[level:])
	if end := strings.TrimRight(text, "#"); end == "" || strings.HasSuffix(end, " ") {
		text = strings.TrimSpace(end)
	}
	return level, text
}

// isRule reports a thematic break.
func isRule(line string) bool {
	text := strings.ReplaceAll(strings.TrimSpace(line), " ", "")
	return len(text) >= 3 && indent(line) < codeIndent && strings.ContainsRune("-*_", rune(text[0])) && strings.Trim(text,
		text[:1]) == ""
}

// fence returns the fence with which a line begins a block of code, "" for another line.
func fence(line string) string {
	text := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && indent(line) < codeIndent && !(c == "`" && strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

// fenced returns a block of code; one without an end reaches to the end of its container.
func (b *blocks) fenced() *markup.Node {
	mark, before := fence(b.lines[b.at]), indent(b.lines[b.at])
	var code []string
	for b.at++; b.at < len(b.lines); b.at++ {
		line := b.lines[b.at]
		if text := strings.TrimSpace(line); strings.HasPrefix(text, mark) && strings.Trim(text, mark[:1]) == "" && indent(line) < codeIndent {
			b.at++
			break
		}
		code = append(code, outdent(line, before))
	}
	return codeBlock(code)
}

// indented returns a block of code that is marked by its indentation.
func (b *blocks) indented() *markup.Node {
	var code []string
	for ; b.at < len(b.lines) && (isBlank(b.lines[b.at]) || indent(b.lines[b.at]) >= codeIndent); b.at++ {
		code = append(code, outdent(b.lines[b.at], codeIndent))
	}
	return codeBlock(strings.Split(strings.TrimRight(strings.Join(code, "\n"), " \n"), "\n"))
}

// codeBlock returns lines as code. A reader with a keyboard can scroll in it.
func codeBlock(lines []string) *markup.Node {
	return markup.E(markup.Pre, markup.Num(markup.TabIndex, 0), markup.E(markup.Code, markup.Text(strings.Join(lines, "\n"))))
}

// quote returns a quote.
func (b *blocks) quote(depth int) *markup.Node {
	in := blocks{top: b.top}
	for ; b.at < len(b.lines); b.at++ {
		line, marked := strings.CutPrefix(strings.TrimLeft(b.lines[b.at], " "), ">")
		if !marked {
			break
		}
		in.lines = append(in.lines, strings.TrimPrefix(line, " "))
	}
	return markup.E(markup.Blockquote, in.render(depth+1)...)
}

// rest returns the remaining lines as text: they are nested too deep.
func (b *blocks) rest() *markup.Node {
	text := strings.Join(b.lines[b.at:], "\n")
	b.at = len(b.lines)
	return markup.E(markup.P, markup.Text(text))
}

// paragraph returns the lines up to a blank one, or one that begins another block.
func (b *blocks) paragraph() *markup.Node {
	from := b.at
	for b.at++; b.at < len(b.lines); b.at++ {
		line := b.lines[b.at]
		level, _ := heading(line)
		m, marked := item(line)
		if isBlank(line) || level > 0 || fence(line) != "" || isRule(line) ||
			strings.HasPrefix(strings.TrimLeft(line, " "), ">") || marked && (!m.ordered || m.number == "1") {
			break
		}
	}
	return markup.E(markup.P, inline(strings.Join(b.lines[from:b.at], "\n")))
}
