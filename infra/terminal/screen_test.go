package terminal

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// syncBuffer is a writer that can be read while it is written to.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// visibleText is what a terminal shows after text was written to it.
func visibleText(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if i := strings.LastIndex(line, clearLine); i >= 0 {
			line = line[i+len(clearLine):]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSpinnerStaysBelowPrintedText(t *testing.T) {
	var out syncBuffer
	s := NewScreen(&out, true, func() int { return 20 })
	s.Print("first\n")
	s.StartSpinner(func(frame, width int) string { return fmt.Sprintf("turning %d and on and on", frame)[:width] })
	time.Sleep(spinDelay + 2*spinEvery)
	if got := visibleText(out.String()); !strings.HasPrefix(got, "first\nturning ") || len(got[6:]) > 19 {
		t.Errorf("seen: %q", got)
	}
	s.Print("second\n")
	if got := visibleText(out.String()); !strings.HasPrefix(got, "first\nsecond\nturning ") {
		t.Errorf("seen: %q", got)
	}
	s.ClearSpinner()
	s.Print("third\n")
	time.Sleep(2 * spinEvery)
	if got := visibleText(out.String()); got != "first\nsecond\nthird\n" {
		t.Errorf("seen: %q", got)
	}
}

func TestShortTaskShowsNoSpinner(t *testing.T) {
	var out syncBuffer
	s := NewScreen(&out, true, func() int { return 0 })
	s.StartSpinner(func(int, int) string { return "turning" })
	s.ClearSpinner()
	if got := out.String(); got != "" {
		t.Errorf("the spinner was shown: %q", got)
	}
	// A running timer would draw the next task's spinner too early.
	if s.timer.Stop() {
		t.Error("the timer of the previous task still runs")
	}
}

func TestNoSpinnerWithoutRedraw(t *testing.T) {
	var out syncBuffer
	s := NewScreen(&out, false, func() int { return 0 })
	s.StartSpinner(func(int, int) string { return "turning" })
	s.Print("text\n")
	time.Sleep(spinDelay + spinEvery)
	s.ClearSpinner()
	if got := out.String(); got != "text\n" {
		t.Errorf("written: %q", got)
	}
}
