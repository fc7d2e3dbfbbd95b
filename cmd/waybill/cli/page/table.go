package page

import "bytes"

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
	var line []byte
	p.row(&line, columns, widths, head)
	for _, row := range rows {
		p.row(&line, columns, widths, row)
	}
}

// row writes a row without trailing spaces. line is memory for it.
func (p *Page) row(line *[]byte, columns []Column, widths []int, row []Cell) {
	text, gap := (*line)[:0], ""
	for i, c := range row {
		if widths[i] != omitted {
			text = columns[i].append(append(text, gap...), c, widths[i])
			gap = Gap
		}
	}
	*line = append(bytes.TrimRight(text, " "), '\n')
	p.Print(string(*line))
}

// Inline returns a name or title for this page as one line: Name on an exact page, else OneLine.
func (p *Page) Inline(text string) string {
	if p.exact {
		return Name(text)
	}
	return OneLine(text)
}

// append appends a cell that is cut or padded to a width.
func (c Column) append(line []byte, content Cell, width int) []byte {
	text := Cut(content.Text, width)
	rest := width - TextWidth(text)
	if content.Paint != nil {
		text = content.Paint(text)
	}
	if c.Right {
		return append(pad(line, rest), text...)
	}
	return pad(append(line, text...), rest)
}

// pad appends spaces.
func pad(line []byte, n int) []byte {
	for range n {
		line = append(line, ' ')
	}
	return line
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
