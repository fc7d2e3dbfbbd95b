package markdown

import (
	"strings"

	"github.com/waybill/waybill/projections/markup"
)

// marker is what an item of a list begins with.
type marker struct {
	ordered bool
	number  string // of an ordered item
	sign    byte   // behind the number, or the bullet
	width   int    // columns before the content
	text    string // of the first line
}

// numberDigitsMax is the number of digits of an item, as browsers read them.
const numberDigitsMax = 9

// item returns the marker of a line that begins an item.
func item(line string) (m marker, ok bool) {
	before := indent(line)
	text := strings.TrimLeft(line, " ")
	if before >= codeIndent || text == "" || isRule(line) {
		return m, false
	}
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n <= numberDigitsMax && n < len(text) && (text[n] == '.' || text[n] == ')'):
		m = marker{ordered: true, number: text[:n], sign: text[n]}
	case n == 0 && strings.IndexByte("-*+", text[0]) >= 0:
		m = marker{sign: text[0]}
	default:
		return m, false
	}
	rest := text[n+1:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return m, false
	}
	space := min(max(indent(rest), 1), codeIndent)
	m.width, m.text = before+n+1+space, outdent(rest, space)
	return m, true
}

// list returns a list: items with the same kind of marker. Lines that are indented as far as the content of an item
// belong to it, and lines of its paragraph also without that.
func (b *blocks) list(depth int) *markup.Node {
	first, _ := item(b.lines[b.at])
	var items []*markup.Node
	if first.ordered && first.number != "1" {
		items = append(items, markup.Set(markup.Start, first.number))
	}
	for b.at < len(b.lines) {
		m, ok := item(b.lines[b.at])
		if !ok || m.ordered != first.ordered || m.sign != first.sign {
			break
		}
		items = append(items, b.item(m, depth))
	}
	if first.ordered {
		return markup.E(markup.Ol, items...)
	}
	return markup.E(markup.Ul, items...)
}

// item returns one item with the blocks in it.
func (b *blocks) item(m marker, depth int) *markup.Node {
	in := blocks{top: b.top}
	text := checkBox(m.text)
	in.lines = append(in.lines, text)
	blank := false
	for b.at++; b.at < len(b.lines); b.at++ {
		line := b.lines[b.at]
		_, next := item(line)
		level, _ := heading(line)
		switch {
		case isBlank(line):
			blank = true
			in.lines = append(in.lines, "")
			continue
		case indent(line) >= m.width:
			in.lines = append(in.lines, outdent(line, m.width))
			continue
		case !blank && !next && level == 0 && fence(line) == "" && !isRule(line):
			in.lines = append(in.lines, strings.TrimLeft(line, " \t")) // continues the paragraph
			continue
		}
		break
	}
	content := in.render(depth + 1)
	// An item of one paragraph is a line of the list.
	if len(content) == 1 && !blank && isProse(text) && !strings.HasPrefix(strings.TrimSpace(text), ">") &&
		depth+1 < depthMax {
		content = markup.Group{inline(strings.Join(in.lines, "\n"))}
	}
	return markup.E(markup.Li, content...)
}

// isProse reports a line that begins a paragraph.
func isProse(line string) bool {
	level, _ := heading(line)
	_, marked := item(line)
	return level == 0 && !marked && fence(line) == "" && !isRule(line) && indent(line) < codeIndent
}

// checkBox returns the first line of an item with the box of a task as a character.
func checkBox(text string) string {
	for box, sign := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if rest, ok := strings.CutPrefix(text, box); ok {
			return sign + rest
		}
	}
	return text
}

// columnsMax bounds the columns of a table; one with more is text.
const columnsMax = 50

// isTable reports that the next two lines are the head of a table.
func (b *blocks) isTable() bool {
	if b.at+1 >= len(b.lines) || !strings.Contains(b.lines[b.at], "|") {
		return false
	}
	under := cells(b.lines[b.at+1])
	for _, c := range under {
		if text := strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); text == "" || strings.Trim(text, "-") != "" {
			return false
		}
	}
	n := len(cells(b.lines[b.at]))
	return n == len(under) && n <= columnsMax && strings.Contains(b.lines[b.at+1], "-")
}

// table returns a table. A row has as many cells as the head.
func (b *blocks) table() *markup.Node {
	head := cells(b.lines[b.at])
	var top, rows []*markup.Node
	for _, c := range head {
		top = append(top, markup.E(markup.Th, markup.Set(markup.Scope, "col"), inline(c)))
	}
	for b.at += 2; b.at < len(b.lines); b.at++ {
		line := b.lines[b.at]
		if isBlank(line) || !strings.Contains(line, "|") {
			break
		}
		row, all := []*markup.Node{}, cells(line)
		for i := range min(len(head), len(all)) {
			row = append(row, markup.E(markup.Td, inline(all[i])))
		}
		rows = append(rows, markup.E(markup.Tr, row...))
	}
	return markup.E(markup.Div, markup.Cls("scroll"), markup.Num(markup.TabIndex, 0), markup.E(markup.Table,
		markup.E(markup.Thead, markup.E(markup.Tr, top...)), markup.E(markup.Tbody, rows...)))
}

// cells returns the cells of a line of a table. A bar behind a backslash is a character of a cell.
func cells(line string) (out []string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	cell, code := "", false
	from := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell += line[from:i]
			i++
			from = i
		case line[i] == '`':
			code = !code
		case line[i] == '|' && !code:
			out = append(out, strings.TrimSpace(cell+line[from:i]))
			cell, from = "", i+1
		}
	}
	if rest := strings.TrimSpace(cell + line[from:]); rest != "" || len(out) == 0 {
		out = append(out, rest)
	}
	return out
}
