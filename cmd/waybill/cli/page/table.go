package page

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/terminal"
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

// Table writes the titles of the columns and the rows below them. A column is as wide as its
// widest cell unless it is narrowed. Each row must have one cell per column. Table replaces
// the texts of the cells by cleaned ones.
func (p *Page) Table(columns []Column, rows [][]Cell) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = terminal.TextWidth(c.Title)
		for _, row := range rows {
			// A cell is one line: line breaks become spaces.
			row[i].Text = strings.Join(strings.Fields(Clean(row[i].Text)), " ")
			widths[i] = max(widths[i], terminal.TextWidth(row[i].Text))
		}
	}
	for at := 0; p.fit(columns, widths) > 0 && at < len(columns); {
		if !columns[at].Spare {
			at++
			continue
		}
		columns, widths = slices.Delete(slices.Clone(columns), at, at+1), slices.Delete(widths, at, at+1)
		for i := range rows {
			rows[i] = slices.Delete(slices.Clone(rows[i]), at, at+1)
		}
	}
	head := make([]Cell, len(columns))
	for i, c := range columns {
		head[i] = Cell{c.Title, p.Dim}
	}
	for _, row := range append([][]Cell{head}, rows...) {
		var b strings.Builder
		for i, c := range row {
			text := terminal.Cut(c.Text, widths[i])
			pad := strings.Repeat(" ", max(widths[i]-terminal.TextWidth(text), 0))
			if c.Paint != nil {
				text = c.Paint(text)
			}
			if columns[i].Right {
				text = pad + text
			} else {
				text += pad
			}
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(Gap)
			}
		}
		p.Line("%s", b.String())
	}
}

// fit narrows the flexible columns to the width of the page. It returns by how many columns of
// the terminal the table is still too wide; 0 or less if it fits.
func (p *Page) fit(columns []Column, widths []int) (over int) {
	if p.Width == 0 {
		return 0
	}
	over = len(Gap)*(len(widths)-1) - p.Width
	for _, w := range widths {
		over += w
	}
	for i, c := range columns {
		if take := min(over, widths[i]-flexMin); c.Flex && take > 0 {
			widths[i] -= take
			over -= take
		}
	}
	return over
}
