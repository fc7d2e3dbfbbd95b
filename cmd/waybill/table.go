package main

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/infra/terminal"
)

// column is one column of a table.
type column struct {
	title string
	right bool // numbers
	flex  bool // gives way where the terminal is narrow
	spare bool // is left out where that is not enough
}

// cell is a text and how it is shown.
type cell struct {
	text  string
	paint func(string) string // nil: as it is
}

// gap stands between two columns.
const gap = "  "

// flexMin is what is left of a column that gives way.
const flexMin = 8

// table writes rows below their titles, every column as wide as its widest cell.
func (p *page) table(columns []column, rows [][]cell) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = terminal.TextWidth(c.title)
		for _, row := range rows {
			// A cell is one line, whatever stands in it.
			row[i].text = strings.Join(strings.Fields(clean(row[i].text)), " ")
			widths[i] = max(widths[i], terminal.TextWidth(row[i].text))
		}
	}
	for at := 0; p.fit(columns, widths) > 0 && at < len(columns); {
		if !columns[at].spare {
			at++
			continue
		}
		columns, widths = slices.Delete(slices.Clone(columns), at, at+1), slices.Delete(widths, at, at+1)
		for i := range rows {
			rows[i] = slices.Delete(slices.Clone(rows[i]), at, at+1)
		}
	}
	head := make([]cell, len(columns))
	for i, c := range columns {
		head[i] = cell{c.title, p.dim}
	}
	for _, row := range append([][]cell{head}, rows...) {
		var b strings.Builder
		for i, c := range row {
			text := terminal.Cut(c.text, widths[i])
			pad := strings.Repeat(" ", max(widths[i]-terminal.TextWidth(text), 0))
			if c.paint != nil {
				text = c.paint(text)
			}
			if columns[i].right {
				text = pad + text
			} else {
				text += pad
			}
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(gap)
			}
		}
		p.line("%s", b.String())
	}
}

// fit takes from the columns that give way what the terminal has not, and returns
// what is still too much.
func (p *page) fit(columns []column, widths []int) (over int) {
	if p.width == 0 {
		return 0
	}
	over = len(gap)*(len(widths)-1) - p.width
	for _, w := range widths {
		over += w
	}
	for i, c := range columns {
		if take := min(over, widths[i]-flexMin); c.flex && take > 0 {
			widths[i] -= take
			over -= take
		}
	}
	return over
}
