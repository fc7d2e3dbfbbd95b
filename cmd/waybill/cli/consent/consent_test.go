//go:build linux

package consent

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// ask asks at a terminal of a size, where a person gives the answers one after another: each after a
// question has appeared.
func ask(t *testing.T, size pty.Winsize, show func(*page.Page), answers ...string) (answer, screen string, err error) {
	t.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &size); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string)
	go func() {
		var all []byte
		buf := make([]byte, 1<<16)
		for {
			n, err := user.Read(buf)
			all = append(all, buf[:n]...)
			if err != nil {
				seen <- strings.ReplaceAll(string(all), "\r\n", "\n")
				return
			}
			if bytes.HasSuffix(all, []byte("/N] ")) && len(answers) > 0 {
				next := answers[0]
				if answers = answers[1:]; next == "resize" {
					_ = pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 50})
					next = "y\n"
				}
				_, _ = user.WriteString(next)
			}
		}
	}()
	answer, err = New(tty, tty, tty, false).Ask(context.Background(), show, "Sure? [y/N]")
	_ = tty.Close()
	screen = <-seen
	_ = user.Close()
	return answer, screen, err
}

func lines(n int) func(*page.Page) {
	return func(p *page.Page) {
		for i := range n {
			p.Line("line %d", i)
		}
	}
}

// TestPages: a text that fits is one page; a longer one is confirmed page by page, and any other answer
// ends the question. Without a known size a page has 24 rows.
func TestPages(t *testing.T) {
	y := func(n int) []string { return strings.SplitAfter(strings.Repeat("y\n", n), "\n")[:n] }
	for _, c := range []struct {
		rows, lines int
		answers     []string
		want        string
		pages       int
	}{{24, 23, y(1), "y", 1}, {24, 24, y(1), "", 2}, {24, 24, y(2), "y", 2}, {0, 23, y(1), "y", 1}, {0, 24, y(2), "y", 2},
		{10, 100, y(20), "y", 12}, {10, 100, []string{"y\n", "\n"}, "", 2}, {10, 100, []string{"yes\n", "q\n"}, "", 2},
		{1, 3, y(3), "y", 3}, {10, 0, y(1), "y", 1}} {
		if len(c.answers) == 1 && c.pages > 1 {
			c.answers = append(c.answers, "\x04")
		}
		columns := uint16(80)
		if c.rows == 0 {
			columns = 0
		}
		answer, screen, _ := ask(t, pty.Winsize{Rows: uint16(c.rows), Cols: columns}, lines(c.lines), c.answers...)
		if answer != c.want || strings.Count(screen, "/N] ") != c.pages {
			t.Errorf("%d lines on %d rows, %q: %q after %d questions, want %q after %d", c.lines, c.rows, c.answers, answer,
				strings.Count(screen, "/N] "), c.want, c.pages)
		}
	}
}

// TestLongArgumentIsShownWhole shows 400 kB in one line.
func TestLongArgumentIsShownWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 40_000)
	answers := strings.SplitAfter(strings.Repeat("y\n", 400), "\n")
	answer, screen, err := ask(t, pty.Winsize{Rows: 50, Cols: 120}, func(p *page.Page) {
		p.Verbatim("  $ ", page.Argument(long), page.Plain)
	}, answers...)
	shown := 0
	for line := range strings.SplitSeq(screen, "\n") {
		if !strings.HasPrefix(line, "Page ") && !strings.HasPrefix(line, "Sure? ") {
			shown += strings.Count(line, "5")
		}
	}
	if answer != "y" || err != nil || shown != 40_000 {
		t.Errorf("%q, %v; %d of 40000 are shown", answer, err, shown)
	}
}

// TestUnbrokenLinesTakeTheirRows: a line that the terminal breaks counts as all of its rows.
func TestUnbrokenLinesTakeTheirRows(t *testing.T) {
	answer, screen, err := ask(t, pty.Winsize{Rows: 10, Cols: 40}, func(p *page.Page) {
		for range 5 {
			p.Line("line")
		}
		p.Unbroken(strings.Repeat("x", 200))
	}, "y\n", "y\n")
	if answer != "y" || err != nil || strings.Count(screen, "Page 1 of 2") != 1 ||
		!strings.Contains(screen, "\n"+strings.Repeat("x", 200)+"\n") {
		t.Errorf("%q, %v:\n%s", answer, err, screen)
	}
}

// TestQuestionIsWrappedAtWords: a long question is broken between words, with room for the answer.
func TestQuestionIsWrappedAtWords(t *testing.T) {
	const question = "Install it without the approvals that it needs? [y/N]"
	for columns, want := range map[int]string{40: "Install it without the approvals\nthat it needs? [y/N]",
		56: "Install it without the approvals that it needs?\n[y/N]", 58: question, 80: question} {
		if got := wrapped(question, columns); got != want {
			t.Errorf("%d columns: %q", columns, got)
		}
		if got := rowsOf(question, columns); got != strings.Count(want, "\n")+1 {
			t.Errorf("%d columns: %d rows", columns, got)
		}
	}
}

func TestNewSizeStartsAtTheFirstPage(t *testing.T) {
	answer, screen, err := ask(t, pty.Winsize{Rows: 20, Cols: 80}, lines(50), "resize", "y\n", "y\n")
	if answer != "y" || err != nil || strings.Count(screen, "line 0\n") != 2 || strings.Count(screen, "line 49\n") != 1 {
		t.Errorf("%q, %v:\n%s", answer, err, screen)
	}
}

func TestEndOfInput(t *testing.T) {
	for _, n := range []int{1, 100} {
		if answer, _, err := ask(t, pty.Winsize{Rows: 20, Cols: 80}, lines(n), "\x04"); Yes(answer) || err != io.EOF {
			t.Errorf("%q, %v", answer, err)
		}
	}
}

// TestTypedAheadIsDiscarded types before the first question, and before each page's.
func TestTypedAheadIsDiscarded(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = user.Close(), tty.Close() }()
	_ = pty.Setsize(tty, &pty.Winsize{Rows: 10, Cols: 80})
	go func() { _, _ = io.Copy(io.Discard, user) }()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, _ = user.WriteString("y\ny\ny\ny\n")
	time.Sleep(20 * time.Millisecond)
	if answer, err := New(tty, tty, tty, false).Ask(ctx, lines(20), "Sure? [y/N]"); Yes(answer) || ctx.Err() == nil {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestOneTerminalIsRequired(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = user.Close(), tty.Close() }()
	user2, other, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = user2.Close(), other.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !New(tty, tty, tty, false).Able() {
		t.Error("one terminal is not enough")
	}
	for _, stream := range []*os.File{other, null, nil} {
		if New(stream, tty, tty, false).Able() || New(tty, stream, tty, false).Able() || New(tty, tty, stream, false).Able() {
			t.Errorf("%v is taken for the terminal", stream)
		}
	}
	if New(strings.NewReader("y\n"), tty, tty, false).Able() || New(tty, &bytes.Buffer{}, tty, false).Able() {
		t.Error("a buffer is taken for a terminal")
	}
}
