package terminal

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// sheet is a writer that may be looked at while it is written to.
type sheet struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *sheet) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sheet) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// seen is what stands on a terminal after text was written to it.
func seen(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if i := strings.LastIndex(line, clearLine); i >= 0 {
			line = line[i+len(clearLine):]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestTheLiveLineStaysBelowWhatIsPrinted(t *testing.T) {
	var out sheet
	s := NewScreen(&out, true, func() int { return 20 })
	s.Print("first\n")
	s.Spin(func(frame int) string { return fmt.Sprintf("turning %d and on and on", frame) })
	time.Sleep(spinDelay + 2*spinEvery)
	if got := seen(out.String()); !strings.HasPrefix(got, "first\nturning ") || TextWidth(got[6:]) > 19 {
		t.Errorf("seen: %q", got)
	}
	s.Print("second\n")
	if got := seen(out.String()); !strings.HasPrefix(got, "first\nsecond\nturning ") {
		t.Errorf("seen: %q", got)
	}
	s.Still()
	s.Print("third\n")
	time.Sleep(2 * spinEvery)
	if got := seen(out.String()); got != "first\nsecond\nthird\n" {
		t.Errorf("seen: %q", got)
	}
}

func TestAShortWorkHasNoLiveLine(t *testing.T) {
	var out sheet
	s := NewScreen(&out, true, func() int { return 0 })
	s.Spin(func(int) string { return "turning" })
	s.Still()
	if got := out.String(); got != "" {
		t.Errorf("the live line flashed: %q", got)
	}
	// A timer that goes on would draw the next work's line too early.
	if s.timer.Stop() {
		t.Error("the timer of the work before goes on")
	}
}

func TestNoLiveLineWhereNothingCanBeDrawn(t *testing.T) {
	var out sheet
	s := NewScreen(&out, false, func() int { return 0 })
	s.Spin(func(int) string { return "turning" })
	s.Print("text\n")
	time.Sleep(spinDelay + spinEvery)
	s.Still()
	if got := out.String(); got != "text\n" {
		t.Errorf("written: %q", got)
	}
}

func TestWidthIsForReading(t *testing.T) {
	for have, want := range map[int]int{0: 0, 40: 40, 300: widthMax} {
		if got := NewScreen(nil, true, func() int { return have }).Width(); got != want {
			t.Errorf("%d columns: %d, want %d", have, got, want)
		}
	}
}
