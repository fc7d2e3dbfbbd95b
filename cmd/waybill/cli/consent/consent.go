// Package consent asks the person at a terminal for a consent: trust, an approval, a change of the
// settings that decide who may do what, and what cannot be undone. Asker is the one way to ask, for
// all commands. It shows everything that the answer covers before it asks, takes no answer that was
// typed before the question, and asks nothing unless one terminal is the input and shows all output
// (docs/design.md#consent). It does not know what is consented to.
package consent

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/infra/terminal"
)

// Asker asks the person who is at the terminal of this process. It is used by one goroutine.
type Asker struct {
	screen *os.File
	lines  *terminal.Lines
	print  func(string)
	colors bool
	able   bool
}

// New returns an asker for the three streams of a process. It writes to errOut.
func New(in io.Reader, out, errOut io.Writer, colors bool) *Asker {
	files := make([]*os.File, 3)
	for i, stream := range []any{in, out, errOut} {
		files[i], _ = stream.(*os.File) // nil for other streams, as in tests: no terminal
	}
	a := &Asker{screen: files[2], lines: terminal.NewLines(files[0]), colors: colors, able: terminal.Same(files...)}
	a.print = func(text string) { _, _ = io.WriteString(errOut, text) }
	return a
}

// Through returns an asker that reads with lines and writes with print, for a caller that shares the
// terminal with it.
func (a *Asker) Through(lines *terminal.Lines, print func(string)) *Asker {
	shared := *a
	shared.lines, shared.print = lines, print
	return &shared
}

// Able reports whether a consent can be asked for: stdin, stdout and stderr are one terminal. With
// another stream, a program could read the question or answer it, or the person would not see all.
func (a *Asker) Able() bool { return a.able }

// Columns and rows of a terminal that does not report its size, and the most that are believed: a
// person sees no more at once.
const (
	columnsDefault, columnsMax = 80, 240
	rowsDefault, rowsMax       = 24, 200
)

// Size returns the columns and rows that a page may use.
func (a *Asker) Size() (columns, rows int) {
	columns, rows = terminal.Size(a.screen)
	if columns <= 0 || rows <= 0 {
		return columnsDefault, rowsDefault
	}
	return min(columns, columnsMax), min(rows, rowsMax)
}

// Ask shows the text of show, which is everything that the answer covers, and then a question that
// ends with its answers, such as "Trust them? [y/N]". It returns the answer in lower case without
// surrounding spaces.
//
// Text that does not fit the terminal is shown page by page. After each page but the last, the
// person is asked for the next one; any answer but yes to that is returned as "", which is a no. If
// the window changes its size, the text is shown from its beginning.
//
// The error is io.EOF at the end of the input, or that of ctx.
func (a *Asker) Ask(ctx context.Context, show func(*page.Page), question string) (string, error) {
	for {
		columns, rows := a.Size()
		p := page.NewExact(a.colors, columns)
		show(p)
		pages := split(p.Rows(), columns, rows, rowsOf(pageQuestion(p.Len(), p.Len()), columns), rowsOf(question, columns))
		answer, done, err := a.askPages(ctx, pages, question, columns, rows)
		if done || err != nil {
			return answer, err
		}
	}
}

// askPages shows pages that were laid out for a size, and asks after each. done is false if the size
// of the window has changed, so that the pages are laid out again.
func (a *Asker) askPages(ctx context.Context, pages []string, question string, columns, rows int) (answer string,
	done bool, err error) {
	for i, text := range pages {
		if c, r := a.Size(); c != columns || r != rows {
			a.print("The size of the window has changed; all is shown again.\n\n")
			return "", false, nil
		}
		a.print(text)
		if i == len(pages)-1 {
			break
		}
		answer, err = a.answer(ctx, pageQuestion(i+1, len(pages)))
		if err != nil || !Yes(answer) {
			return "", true, err
		}
	}
	answer, err = a.answer(ctx, question)
	return answer, true, err
}

// pageQuestion is asked after a page that is not the last one.
func pageQuestion(n, of int) string {
	return fmt.Sprintf("Page %d of %d: show the next page? [y/N]", n, of)
}

// answer asks one question. What was typed before is discarded: it answers a question that the
// person has not seen.
func (a *Asker) answer(ctx context.Context, question string) (string, error) {
	a.lines.Discard()
	columns, _ := a.Size()
	a.print(wrapped(question, columns) + " ")
	line, err := a.lines.Read(ctx)
	if err != nil {
		a.print("\n") // the cursor is behind the question or an echoed ^C
	}
	return strings.ToLower(strings.TrimSpace(line)), err
}

// Yes reports whether an answer is a yes: "y" or "yes". Every other one is a no.
func Yes(answer string) bool { return answer == "y" || answer == "yes" }

// split returns the lines of a text as pages. Below each page there is room for its question on a
// terminal of so many rows: for that of a page, and on the last one for the question that is asked.
func split(text []string, columns, rows, pageQuestion, question int) []string {
	room := max(rows-question, 1)
	each := max(rows-pageQuestion, 1)
	var pages []string
	for len(text) > 1 && linesIn(text, columns, room) < len(text) {
		n := min(max(linesIn(text, columns, each), 1), len(text)-1)
		pages = append(pages, join(text[:n]))
		text = text[n:]
	}
	return append(pages, join(text))
}

// linesIn returns how many lines of a text fit so many rows.
func linesIn(text []string, columns, rows int) int {
	for i, line := range text {
		if rows -= max((page.TextWidth(line)+columns-1)/columns, 1); rows < 0 {
			return i
		}
	}
	return len(text)
}

func join(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows, "\n") + "\n"
}

// rowsOf returns the rows that a question and a short answer to it occupy.
func rowsOf(question string, columns int) int {
	rows := 0
	for line := range strings.SplitSeq(wrapped(question, columns), "\n") {
		rows += (page.TextWidth(line)+len(" yes"))/columns + 1
	}
	return rows
}

// wrapped returns a question on rows of a terminal, with room for the answer behind it.
func wrapped(question string, columns int) string {
	return page.Wrap(question, max(columns-len(" yes"), 1))
}
