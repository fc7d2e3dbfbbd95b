package terminal

import (
	"io"
	"strings"
	"sync"
	"time"
)

// Screen is where lines go, one after the other, and at its end, on a terminal, one
// line that is drawn over: the live line. It may be used from several goroutines.
type Screen struct {
	out   io.Writer
	draws bool
	width func() int

	mu    sync.Mutex
	frame int
	spin  func(frame int) string // what the live line says; nil: there is none
	drawn bool                   // it stands on the terminal now
	timer *time.Timer
}

// NewScreen makes a screen. Where draws is false there is no live line at all, and
// nothing is written that is not text. width may change; 0 is not known.
func NewScreen(out io.Writer, draws bool, width func() int) *Screen {
	return &Screen{out: out, draws: draws, width: width}
}

// Width is how wide text should be: that of the terminal, up to what is read with
// ease; 0 where nothing has to be broken.
func (s *Screen) Width() int {
	return min(s.width(), widthMax)
}

const (
	// widthMax: longer lines are hard to read (typographers say 45 to 90).
	widthMax = 96
	// spinDelay keeps the live line from flashing at work that takes no time.
	spinDelay = 150 * time.Millisecond
	spinEvery = 100 * time.Millisecond
)

// Frames are the pictures of a spinner.
var Frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// clearLine goes to the beginning of the line and empties it.
const clearLine = "\r\x1b[2K"

// Print writes text, which ends with a line end, above the live line.
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

// Spin keeps a live line at the end of the screen until Still. line gives it for
// each frame; it is cut to the width.
func (s *Screen) Spin(line func(frame int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draws {
		return
	}
	s.halt()
	s.spin, s.frame = line, 0
	s.timer = time.AfterFunc(spinDelay, s.tick)
}

// Still takes the live line away.
func (s *Screen) Still() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone := s.halt(); gone != "" {
		_, _ = io.WriteString(s.out, gone)
	}
}

func (s *Screen) halt() string {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.spin, s.frame = nil, 0
	return s.erase()
}

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

func (s *Screen) erase() string {
	if !s.drawn {
		return ""
	}
	s.drawn = false
	return clearLine
}

// draw leaves the last column free: a full line makes some terminals go to the next.
func (s *Screen) draw() string {
	s.drawn = true
	return Cut(s.spin(s.frame), max(s.width()-1, 0))
}
