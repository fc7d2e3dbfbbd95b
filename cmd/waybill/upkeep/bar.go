package upkeep

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
)

// bar shows on a terminal how far something is. It draws over itself, some times a
// second, and only what changed: a bar that flickers is worse than none.
type bar struct {
	w     io.Writer
	last  time.Time
	drawn string
}

const (
	barEvery = 100 * time.Millisecond
	barWidth = 30
)

func newBar(w io.Writer) *bar { return &bar{w: w, last: time.Now()} }

// verified draws the progress of a verification.
func (b *bar) verified(p engine.VerifyProgress) {
	if time.Since(b.last) < barEvery {
		return
	}
	b.last = time.Now()
	text := page.Plural(int(p.Events), "event") + " checked"
	if p.Of > 0 {
		done := min(p.Bytes, p.Of)
		full := int(done * barWidth / p.Of)
		text = fmt.Sprintf("[%s%s] %3d%%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
			done*100/p.Of, text)
	}
	b.draw(text)
}

func (b *bar) draw(text string) {
	if text != b.drawn {
		// To the first column, the text, and what is left of a longer one goes.
		_, _ = fmt.Fprintf(b.w, "\r%s\x1b[K", text)
		b.drawn = text
	}
}

// end takes the bar away.
func (b *bar) end() {
	if b != nil && b.drawn != "" {
		_, _ = io.WriteString(b.w, "\r\x1b[K")
	}
}
