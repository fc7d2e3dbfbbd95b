package upkeep

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// bar draws a progress bar on a terminal, over itself and a few times a second.
// It writes only where the text has changed, since a bar that flickers is worse
// than none.
type bar struct {
	// the terminal
	w     io.Writer
	last  time.Time
	drawn string
}

// How often the bar is drawn, and how long it is in characters.
const (
	barEvery = 100 * time.Millisecond
	barWidth = 30
)

// newBar makes a bar on a terminal. It draws nothing before barEvery has
// passed: a check that is quick shows none. The caller must call end, also
// after an error.
func newBar(w io.Writer) *bar { return &bar{w: w, last: time.Now()} }

// verified draws how far a verification is: a bar where the total is known, and
// the number of events in any case.
func (b *bar) verified(p engine.VerifyProgress) {
	// Verification calls this for each batch of events, far more often than
	// eyes can follow.
	if time.Since(b.last) < barEvery {
		return
	}
	b.last = time.Now()
	text := page.Plural(int(p.Events), "event") + " checked"
	// Without a total there is only a number.
	if p.Of > 0 {
		done := min(p.Bytes, p.Of)
		full := int(done * barWidth / p.Of)
		text = fmt.Sprintf("[%s%s] %3d%%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
			done*100/p.Of, text)
	}
	b.draw(text)
}

// draw replaces the line with a text where that is another one.
func (b *bar) draw(text string) {
	if text != b.drawn {
		// To the first column, the text, and what is left of a longer one goes.
		_, _ = fmt.Fprintf(b.w, "\r%s\x1b[K", text)
		b.drawn = text
	}
}

// end removes the bar. A nil bar, which is that of a call without one, has
// nothing to remove.
func (b *bar) end() {
	if b != nil && b.drawn != "" {
		_, _ = io.WriteString(b.w, "\r\x1b[K")
	}
}
