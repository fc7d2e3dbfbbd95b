package render

import (
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/run/check"
)

// Check writes the result of a check in one line, and of one that did not pass the end of its output.
func Check(p *page.Page, indent string, c check.Brief) {
	took := " after " + page.Duration(time.Duration(c.DurationMs)*time.Millisecond)
	counts := ""
	if t := c.Tests; t != nil {
		counts = ": " + page.Itoa(int(t.Passed)) + " passed, " + page.Itoa(int(t.Failed)) + " failed, " + page.Itoa(int(t.Skipped)) +
			" skipped (" + t.Format + ")"
	}
	if c.Passed {
		p.StyledText(indent+p.Good("✓")+" ", "check "+c.ID+" passed"+took+counts, p.Dim)
		return
	}
	p.Text(indent+p.Bad("✗")+" ", "check "+c.ID+" "+c.Why+took+counts)
	end := strings.TrimRight(c.StderrTail, "\r\n")
	if strings.TrimSpace(end) == "" {
		end = strings.TrimRight(c.StdoutTail, "\r\n")
	}
	if end != "" {
		p.Quote(indent+"  ", end, p.Dim)
	}
}
