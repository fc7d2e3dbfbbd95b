package terminal

import (
	"io"
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
	spin  func(frame, width int) string // text of the spinner line; nil without one
	drawn bool                          // the spinner line is on the terminal now
	timer *time.Timer
}

// NewScreen returns a screen that writes to out. With draws false there is no spinner line, and
// only text is written. width returns the current number of columns, 0 when it is unknown.
//
// The first frame is drawn after spinDelay and then replaced every spinEvery.
func NewScreen(out io.Writer, draws bool, width func() int) *Screen {
	return &Screen{out: out, draws: draws, width: width}
}

// Width is the present number of columns, 0 when it is unknown.
func (s *Screen) Width() int { return s.width() }

const (
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
	text = s.erase() + text
	if s.frame > 0 {
		text += s.draw()
	}
	_, _ = io.WriteString(s.out, text)
}

// StartSpinner shows a spinner line at the end of the screen until ClearSpinner is called. line
// returns its text for each frame, in at most width columns; 0 for any number.
func (s *Screen) StartSpinner(line func(frame, width int) string) {
	s.StartSpinnerAfter(spinDelay, line)
}

// StartSpinnerAfter is StartSpinner with the time after which the first frame is drawn.
func (s *Screen) StartSpinnerAfter(delay time.Duration, line func(frame, width int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draws {
		return
	}
	s.stopSpinner()
	s.spin, s.frame = line, 0
	s.timer = time.AfterFunc(delay, s.tick)
}

// ClearSpinner removes the spinner line.
func (s *Screen) ClearSpinner() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, s.stopSpinner())
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
	return s.spin(s.frame, max(s.width()-1, 0))
}
