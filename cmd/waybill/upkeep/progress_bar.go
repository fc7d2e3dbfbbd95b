package upkeep

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
)

// progressBar draws a progress bar on one line of a terminal. It writes only if
// the text has changed, so that the line does not flicker.
type progressBar struct {
	// w is the terminal.
	w     io.Writer
	last  time.Time // time of the last update
	drawn string    // text that is on the line now
}

// Dimensions of the bar in time and space.
const (
	barEvery = 100 * time.Millisecond // minimum time between two updates
	barWidth = 30                     // length in terminal cells, without the brackets
)

// newProgressBar returns a bar on a terminal. Nothing is drawn before barEvery
// has passed, so that a short check shows no bar. The caller must call erase,
// also after an error.
func newProgressBar(w io.Writer) *progressBar { return &progressBar{w: w, last: time.Now()} }

// update draws the progress of a verification: a bar with a percentage if the
// total is known, and always the number of events.
func (b *progressBar) update(p verify.VerifyProgress) {
	// Verification calls this for each batch of events, more often than a
	// terminal should be written to.
	if time.Since(b.last) < barEvery {
		return
	}
	b.last = time.Now()
	text := page.Plural(int(p.Events), "event") + " checked"
	// The total is not known for every kind of verification.
	if p.Of > 0 {
		done := min(p.Bytes, p.Of)
		full := int(done * barWidth / p.Of)
		text = fmt.Sprintf("[%s%s] %3d%%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
			done*100/p.Of, text)
	}
	b.draw(text)
}

// draw replaces the text on the line if it has changed.
func (b *progressBar) draw(text string) {
	if text != b.drawn {
		// Return to the first column, write, and clear the rest of a longer text.
		_, _ = fmt.Fprintf(b.w, "\r%s\x1b[K", text)
		b.drawn = text
	}
}

// erase removes the bar from the terminal. It does nothing for a nil bar, which a
// call without --watch-progress has.
func (b *progressBar) erase() {
	if b != nil && b.drawn != "" {
		_, _ = io.WriteString(b.w, "\r\x1b[K")
	}
}
