package page

import (
	"strings"
)

// BarWidthMin is the width in columns below which lists omit progress bars.
const BarWidthMin = 68

// Column is one column of a table. If the terminal is too narrow, flexible columns are
// narrowed first, down to a minimum; then spare columns are omitted, from the left.
type Column struct {
	Title string
	Right bool // right-aligned, for numbers
	Flex  bool // narrowed if the table is too wide
	Spare bool // omitted if narrowing is not enough
}

// Cell is the text of one table cell and its style. Line breaks become spaces.
type Cell struct {
	Text  string
	Paint func(string) string // nil: no style
}

// Gap separates two columns.
const Gap = "  "

// flexMin is the minimum width of a flexible column, in columns of the terminal.
const flexMin = 8

// omitted is the width of a column that is not shown.
const omitted = -1

// Table writes the titles of the columns and the rows below them. A column is as wide as its
// widest cell unless it is narrowed. Each row must have one cell per column. Table replaces
// the texts of the cells by cleaned ones; on an exact page they have the marks of Name.
func (p *Page) Table(columns []Column, rows [][]Cell) {
	widths, head := make([]int, len(columns)), make([]Cell, len(columns))
	for i, c := range columns {
		head[i] = Cell{c.Title, p.Dim}
		widths[i] = TextWidth(c.Title)
		for _, row := range rows {
			row[i].Text = p.Inline(row[i].Text)
			widths[i] = max(widths[i], TextWidth(row[i].Text))
		}
	}
	for i, c := range columns {
		if p.fit(columns, widths) > 0 && c.Spare {
			widths[i] = omitted
		}
	}
	for _, row := range append([][]Cell{head}, rows...) {
		var line []string
		for i, c := range row {
			if widths[i] != omitted {
				line = append(line, columns[i].cell(c, widths[i]))
			}
		}
		p.Line("%s", strings.Join(line, Gap))
	}
}

// Inline returns a name or title for this page as one line: Name on an exact page, else OneLine.
func (p *Page) Inline(text string) string {
	if p.exact {
		return Name(text)
	}
	return OneLine(text)
}

// cell returns a cell cut or padded to a width.
func (c Column) cell(content Cell, width int) string {
	text := Cut(content.Text, width)
	rest := strings.Repeat(" ", max(width-TextWidth(text), 0))
	if content.Paint != nil {
		text = content.Paint(text)
	}
	if c.Right {
		return rest + text
	}
	return text + rest
}

// fit narrows the flexible columns to the width of the page. It returns by how many columns of
// the terminal the table is still too wide; 0 or less if it fits.
func (p *Page) fit(columns []Column, widths []int) (over int) {
	if p.Width == 0 || p.exact { // an exact page folds the rows of a wide table and cuts no cell
		return 0
	}
	over = -len(Gap) - p.Width
	for _, w := range widths {
		if w != omitted {
			over += w + len(Gap)
		}
	}
	for i, c := range columns {
		if take := min(over, widths[i]-flexMin); c.Flex && take > 0 {
			widths[i] -= take
			over -= take
		}
	}
	return over
}
