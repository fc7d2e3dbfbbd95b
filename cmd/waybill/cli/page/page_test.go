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
	p.Prose("→ ", "one two three four five six seven eight\n\nnine", Plain)
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

// window is a screen whose width changes.
type window struct {
	strings.Builder
	columns int
}

func (w *window) Print(text string) { w.WriteString(text + "|") }
func (w *window) Width() int        { return w.columns }

// TestLivePagePrintsEachLine: lines are printed at once and wrapped to the present width.
func TestLivePagePrintsEachLine(t *testing.T) {
	w := &window{columns: 16}
	p := NewLive(false, w)
	p.Blank()
	p.Block("- ", "  ", "one two three four", p.Bold)
	w.columns = 60
	p.Text("- ", "one two three four \n")
	p.Blank()
	p.Blank()
	p.Print("Sure? ")
	p.Blank()
	if want := "- one two three\n|  four\n|- one two three four\n|\n|Sure? |\n|"; w.String() != want || p.Len() > 0 {
		t.Errorf("printed %q, want %q; %d bytes are collected", w.String(), want, p.Len())
	}
}

func TestTimeInDay(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	p := plainPage(40)
	at, heading := p.TimeInDay("", day/2, "2006")
	_, again := p.TimeInDay(heading, day/2+1, "2006")
	_, next := p.TimeInDay(heading, 2*day, "2006")
	if at != "1970" || heading == "" || again != heading || p.String() != heading+"\n"+next+"\n" {
		t.Errorf("at %q under %q, %q and %q: %q", at, heading, again, next, p.String())
	}
	p = plainPage(0)
	if at, heading := p.TimeInDay("", day, "2006"); len(at) < len("1970-01-02T00:00:00Z") || heading != "" || p.Len() > 0 {
		t.Errorf("in a pipe: %q under %q", at, heading)
	}
}
