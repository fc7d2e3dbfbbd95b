//go:build linux

package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// shown collects what a terminal shows.
type shown struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// editedLines returns a reader that edits, what it shows, and the side on which the user types.
func editedLines(t *testing.T) (user *os.File, l *Lines, screen *shown) {
	t.Helper()
	user, tty := openTerminal(t)
	screen = &shown{}
	wide := func(s string) (n int) {
		for _, r := range s {
			if n++; r >= 0x1100 {
				n++
			}
		}
		return n
	}
	return user, NewEditedLines(tty, screen, wide), screen
}

// TestTextOfAnyLength: what a terminal in line mode drops behind 4,095 bytes arrives, on one line and on many.
func TestTextOfAnyLength(t *testing.T) {
	user, l, _ := editedLines(t)
	for _, n := range []int{1, 4095, 4096, 9_000, 100_000, textMax} {
		if n == 100_000 {
			patiently(t)
		}
		for _, unit := range []string{"x", "é", "one line\n"} {
			want := strings.TrimRight(strings.Repeat(unit, n/len(unit)+1)[:n-n%len(unit)+0], "\n")
			if want == "" {
				continue
			}
			end := l.Edit()
			go func() { _, _ = user.WriteString(want); _, _ = user.WriteString("\r") }()
			got, err := l.ReadText(context.Background(), textMax)
			end()
			if err != nil || got != want {
				t.Errorf("%d bytes of %q: %d bytes, %v", n, unit, len(got), err)
			}
		}
	}
}

// patiently has pastes whose writer is slow, as on a machine with much else to do, read as one text.
func patiently(t *testing.T) {
	before := pasteGap
	pasteGap = 600 * time.Millisecond
	t.Cleanup(func() { pasteGap = before })
}

// TestTextThatIsTooLong is refused, its rest and the Enter that ends it answer nothing.
func TestTextThatIsTooLong(t *testing.T) {
	patiently(t)
	for name, tc := range map[string]struct{ paste, later string }{
		"one line":    {strings.Repeat("x", textMax+1), ""},
		"with Enter":  {strings.Repeat("x", textMax+1) + "\r", ""},
		"Enter later": {strings.Repeat("x", textMax+1), "\r"},
		"many lines":  {strings.Repeat("line\r", textMax/4), ""},
		"twice it":    {strings.Repeat("y\r", textMax), ""},
	} {
		t.Run(name, func(t *testing.T) {
			user, l, _ := editedLines(t)
			defer l.Edit()()
			go func() { _, _ = user.WriteString(tc.paste) }()
			if got, err := l.ReadText(context.Background(), textMax); !errors.Is(err, ErrTooLong) || got != "" {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			typeText(t, user, tc.later+"short\r")
			if got, err := l.ReadText(context.Background(), textMax); got != "short" || err != nil {
				t.Errorf("the next answer: %d bytes, %v", len(got), err)
			}
		})
	}
}

// TestKeysThatEdit have the effects that they have in line mode.
func TestKeysThatEdit(t *testing.T) {
	user, l, screen := editedLines(t)
	defer l.Edit()()
	for name, tc := range map[string]struct{ typed, want, shown string }{
		"backspace":           {"hellp\x7fo\r", "hello", "hellp\b \bo\n"},
		"of two bytes":        {"é\x7fe\r", "e", "é\b \be\n"},
		"of two columns":      {"日\x08本\r", "本", "日\b \b\b \b本\n"},
		"at the beginning":    {"\x7f\x7fa\r", "a", "a\n"},
		"a word":              {"one two  \x17\x17three\r", "three", ""},
		"the line":            {"one two\x15three\r", "three", ""},
		"not the line before": {"one\rtwo\x15\x7f\x17three\r", "one\nthree", ""},
		"arrows":              {"a\x1b[D\x1b[1;5C\x1bOAb\r", "ab", "ab\n"},
		"control characters":  {"a\x01\x0e\x1fb\r", "ab", "ab\n"},
		"a tab":               {"a\tb\x7f\x7f\x7fc\r", "c", ""},
		"marks of a paste":    {"\x1b[200~one\rtwo\x7f\x04\x15\x1b[201~!\r", "one\ntwo!", ""},
		"not UTF-8":           {"a\xffb\r", "a\uFFFDb", ""},
		"what is not seen":    {"a\u202eb\u200b\r", "a\u202eb\u200b", "ab\n"},
		"Ctrl-D in a line":    {"a\x04b\r", "ab", "ab\n"},
		"Ctrl-D twice":        {"no end\x04\x04", "no end", ""},
		"Ctrl-D on a line":    {"one\r\x04", "one", ""},
	} {
		before := screen.String()
		typeText(t, user, tc.typed)
		got, err := l.ReadText(context.Background(), textMax)
		if got != tc.want || err != nil {
			t.Errorf("%s: read %q, %v; want %q", name, got, err, tc.want)
		}
		if s := strings.TrimPrefix(screen.String(), before); tc.shown != "" && s != tc.shown {
			t.Errorf("%s: shown %q, want %q", name, s, tc.shown)
		}
	}
	typeText(t, user, "\x04")
	if got, err := l.ReadText(context.Background(), textMax); got != "" || err != io.EOF {
		t.Errorf("Ctrl-D: %q, %v", got, err)
	}
	typeText(t, user, "a\x1b")
	time.AfterFunc(100*time.Millisecond, func() { _, _ = user.WriteString("b\r") })
	if got, err := l.ReadText(context.Background(), textMax); got != "ab" || err != nil {
		t.Errorf("the Escape key alone: %q, %v", got, err)
	}
}

// TestReadLineLeavesWhatFollows for the next answer, unless it is discarded.
func TestReadLineLeavesWhatFollows(t *testing.T) {
	user, l, _ := editedLines(t)
	end := l.Edit()
	long := strings.Repeat("x", 9000)
	go func() { _, _ = user.WriteString(long + "\rtwo\rthree\r") }()
	for _, want := range []string{long, "two"} {
		if got, err := l.ReadLine(context.Background(), textMax); got != want || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	l.Discard()
	end()
	typeText(t, user, "n\n")
	if got, err := l.Read(context.Background()); got != "n" || err != nil {
		t.Errorf("%q, %v: input before the question answers it", got, err)
	}
}

// TestEarlyInputIsDiscarded also what was typed without Enter in one mode and is read in the other.
func TestEarlyInputIsDiscarded(t *testing.T) {
	user, l, _ := editedLines(t)
	for range 3 {
		typeText(t, user, "y\nye")
		time.Sleep(20 * time.Millisecond)
		end := l.Edit()
		l.Discard()
		typeText(t, user, "n\n")
		if got, err := l.ReadText(context.Background(), textMax); got != "n" || err != nil {
			t.Errorf("edited: %q, %v", got, err)
		}
		typeText(t, user, "y\nye")
		time.Sleep(20 * time.Millisecond)
		end()
		l.Discard()
		typeText(t, user, "n\n")
		if got, err := l.Read(context.Background()); got != "n" || err != nil {
			t.Errorf("a line: %q, %v", got, err)
		}
	}
}

// TestTerminalIsRestored after an answer, a canceled question and a panic. A signal's key remains one.
func TestTerminalIsRestored(t *testing.T) {
	user, l, _ := editedLines(t)
	before, _ := mode(l.in)
	check := func(when string) {
		t.Helper()
		if now, ok := mode(l.in); !ok || now != before {
			t.Errorf("%s: the mode differs", when)
		}
	}
	end := l.Edit()
	if now, _ := mode(l.in); now.Lflag&(syscall.ICANON|syscall.ECHO) != 0 || now.Lflag&syscall.ISIG == 0 {
		t.Errorf("mode %x", now.Lflag)
	}
	l.Edit()() // within another
	typeText(t, user, "a\r")
	if got, err := l.ReadText(context.Background(), textMax); got != "a" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	end()
	end()
	check("an answer")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	func() {
		defer l.Edit()()
		if _, err := l.ReadText(ctx, textMax); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}()
	check("canceled")
	func() {
		defer func() { _ = recover() }()
		defer l.Edit()()
		panic("in a question")
	}()
	check("a panic")
	typeText(t, user, "later\n")
	if got, err := l.Read(context.Background()); got != "later" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestErasingALongLine starts a new row: a cursor does not go back over the end of one.
func TestErasingALongLine(t *testing.T) {
	user, l, screen := editedLines(t)
	if err := pty.Setsize(l.in, &pty.Winsize{Rows: 10, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	defer l.Edit()()
	typeText(t, user, strings.Repeat("word ", 30)+"\x15short\r")
	if got, err := l.ReadText(context.Background(), textMax); got != "short" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s := screen.String(); !strings.HasSuffix(s, " \nshort\n") {
		t.Errorf("%q", s)
	}
}
