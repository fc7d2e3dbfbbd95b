package main

import (
	"strings"
	"unicode/utf8"
)

// column is one column of a table.
type column struct {
	title string
	right bool // numbers
	flex  bool // gives way where the terminal is narrow
}

// cell is a text and how it is shown.
type cell struct {
	text  string
	paint func(string) string // nil: as it is
}

// gap stands between two columns.
const gap = "  "

// flexMin is what is left of a column that gives way.
const flexMin = 12

// table writes rows below their titles, every column as wide as its widest cell.
func (p *page) table(columns []column, rows [][]cell) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(clean(row[i].text)))
		}
	}
	p.fit(columns, widths)
	head := make([]cell, len(columns))
	for i, c := range columns {
		head[i] = cell{c.title, p.dim}
	}
	for _, row := range append([][]cell{head}, rows...) {
		var b strings.Builder
		for i, c := range row {
			text := cut(clean(c.text), widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
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
		p.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// fit takes from the columns that give way what the terminal has not.
func (p *page) fit(columns []column, widths []int) {
	if p.width == 0 {
		return
	}
	over := len(gap)*(len(widths)-1) - p.width
	for _, w := range widths {
		over += w
	}
	for i, c := range columns {
		if take := min(over, widths[i]-flexMin); c.flex && take > 0 {
			widths[i] -= take
			over -= take
		}
	}
}

// cut shortens a text to n characters, the last of which says so.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}
