package upkeep

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
)

// barWidth is the length of a progress bar in terminal cells, without the brackets.
const barWidth = 30

// progressLine returns a bar with a percentage if the total is known, and always the number of
// events.
func progressLine(p verify.VerifyProgress) string {
	text := page.Plural(int(p.Events), "event") + " checked"
	// The total is not known for every kind of verification.
	if p.Of > 0 {
		done := min(p.Bytes, p.Of)
		full := int(done * barWidth / p.Of)
		text = fmt.Sprintf("[%s%s] %3d%%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
			done*100/p.Of, text)
	}
	return text
}
