package page

import (
	"strings"
	"testing"
)

func plainPage(width int) *Page { return New(false, width) }

func TestTableFitsWidth(t *testing.T) {
	rows := [][]Cell{{{Text: "a"}, {Text: "a title that is far too long for its window"}, {Text: "1"}},
		{{Text: "bb"}, {Text: "日本語の題名"}, {Text: "22"}},
		{{Text: "c"}, {Text: "two\nlines\tand \x1b[31mcolor"}, {Text: "3"}}}
	columns := []Column{{Title: "ID"}, {Title: "TITLE", Flex: true}, {Title: "N", Right: true}}
	p := plainPage(30)
	p.Table(columns, rows)
	lines := strings.Split(strings.TrimRight(p.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), p.String())
	}
	for _, l := range lines {
		if TextWidth(l) != 30 || strings.Contains(l, "\x1b") {
			t.Errorf("%d wide: %q", TextWidth(l), l)
		}
	}
	if !strings.Contains(lines[1], "…") {
		t.Errorf("no ellipsis in truncated cell: %q", lines[1])
	}
}

func TestTextIndentsWrappedLines(t *testing.T) {
	p := plainPage(30)
	p.Text("→ ", "one two three four five six seven eight\n\nnine")
	want := "→ one two three four five six\n  seven eight\n\n  nine\n"
	if p.String() != want {
		t.Errorf("got\n%s", p.String())
	}
	p = plainPage(0)
	p.Text("  ", strings.Repeat("x ", 100))
	if strings.Count(p.String(), "\n") != 1 {
		t.Error("text in a pipe was wrapped")
	}
	p = plainPage(20)
	p.Facts("short", "a longer fact", "end")
	if p.String() != "short\na longer fact · end\n" {
		t.Errorf("facts:\n%s", p.String())
	}
}
