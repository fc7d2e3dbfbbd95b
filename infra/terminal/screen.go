package terminal

import (
	"io"
	"strings"
	"sync"
	"time"
)

// Screen prints lines in order and keeps a spinner line at the end, which is redrawn in place. It
// is safe for concurrent use.
type Screen struct {
	out   io.Writer
	draws bool
	width func() int

	mu    sync.Mutex
	frame int
	spin  func(frame int) string // text of the spinner line; nil without one
	drawn bool                   // the spinner line is on the terminal now
	timer *time.Timer
}

// NewScreen returns a screen that writes to out. With draws false there is no spinner line, and
// only text is written. width returns the current number of columns, 0 when it is unknown.
//
// The first frame is drawn after spinDelay and then replaced every spinEvery.
func NewScreen(out io.Writer, draws bool, width func() int) *Screen {
	return &Screen{out: out, draws: draws, width: width}
}

// Width is the width to which text should be wrapped: that of the terminal, at most widthMax; 0 for
// no wrapping.
func (s *Screen) Width() int {
	return min(s.width(), widthMax)
}

const (
	// widthMax in columns: longer lines are hard to read (typographers recommend 45 to 90).
	widthMax = 96
	// spinDelay prevents a spinner that flashes during short tasks.
	spinDelay = 150 * time.Millisecond
	spinEvery = 100 * time.Millisecond
)

// Frames are the images of a spinner.
var Frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// clearLine returns to the start of the line and erases it.
const clearLine = "\r\x1b[2K"

// Print writes text above the spinner line. The text must end with a line end.
func (s *Screen) Print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	b.WriteString(s.erase())
	b.WriteString(text)
	if s.spin != nil && s.frame > 0 {
		b.WriteString(s.draw())
	}
	_, _ = io.WriteString(s.out, b.String())
}

// StartSpinner shows a spinner line at the end of the screen until ClearSpinner is called. line returns its text
// for each frame; it is cut to the width.
func (s *Screen) StartSpinner(line func(frame int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draws {
		return
	}
	s.stopSpinner()
	s.spin, s.frame = line, 0
	s.timer = time.AfterFunc(spinDelay, s.tick)
}

// ClearSpinner removes the spinner line.
func (s *Screen) ClearSpinner() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone := s.stopSpinner(); gone != "" {
		_, _ = io.WriteString(s.out, gone)
	}
}

// stopSpinner stops the timer and returns what erases the line. mu is held, as for the functions
// below.
func (s *Screen) stopSpinner() string {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.spin, s.frame = nil, 0
	return s.erase()
}

// tick draws the next frame.
func (s *Screen) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spin == nil {
		return
	}
	s.frame++
	_, _ = io.WriteString(s.out, s.erase()+s.draw())
	s.timer.Reset(spinEvery)
}

// erase returns what erases the spinner line, "" when it is not drawn.
func (s *Screen) erase() string {
	if !s.drawn {
		return ""
	}
	s.drawn = false
	return clearLine
}

// draw returns the current frame. It leaves the last column empty: a full line makes some terminals
// scroll.
func (s *Screen) draw() string {
	s.drawn = true
	return Cut(s.spin(s.frame), max(s.width()-1, 0))
}
