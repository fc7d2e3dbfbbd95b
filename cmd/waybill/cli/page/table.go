package page

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/terminal"
)

// BarWidthMin is the width below which a list does without its bars.
const BarWidthMin = 68

// Column is one column of a table. Where a terminal is too narrow, flexible
// columns are cut first, down to a minimum; then spare columns are left out,
// from the left.
type Column struct {
	Title string
	Right bool // numbers
	Flex  bool // gives way where the terminal is narrow
	Spare bool // is left out where that is not enough
}

// Cell is the text of one place in a table, and its style. Line breaks in it
// become blanks.
type Cell struct {
	Text  string
	Paint func(string) string // nil: as it is
}

// Gap is what separates two columns.
const Gap = "  "

// flexMin is the width that a flexible column keeps.
const flexMin = 8

// Table writes rows below the titles of their columns, every column as wide as
// its widest cell. Each row must have a cell for each column. Table cleans the
// texts in place.
func (p *Page) Table(columns []Column, rows [][]Cell) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = terminal.TextWidth(c.Title)
		for _, row := range rows {
			// A cell is one line: line breaks in it become blanks.
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

// fit narrows the flexible columns to the width of the page, and returns by how
// many characters the table is still too wide.
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
