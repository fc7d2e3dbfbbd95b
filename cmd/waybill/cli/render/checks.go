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
	if c.GitHead != "" {
		counts += ", at commit " + c.GitHead[:min(len(c.GitHead), commitShownMax)]
	}
	if c.Passed {
		p.StyledText(indent+p.Good("✓")+" ", "check "+c.ID+" passed"+took+counts, p.Dim)
		elsewhere(p, indent, c)
		return
	}
	p.Text(indent+p.Bad("✗")+" ", "check "+c.ID+" "+c.Why+took+counts)
	elsewhere(p, indent, c)
	end := strings.TrimRight(c.StderrTail, "\r\n")
	if strings.TrimSpace(end) == "" {
		end = strings.TrimRight(c.StdoutTail, "\r\n")
	}
	if end != "" {
		p.Quote(indent+"  ", end, p.Dim)
	}
}

// commitShownMax is the length of the id of a commit that is shown.
const commitShownMax = 12

// elsewhere writes a line about a check that ran in another folder than the run was started in.
func elsewhere(p *page.Page, indent string, c check.Brief) {
	if c.Elsewhere {
		p.Text(indent+"  "+p.Warn("!")+" ", "checked in another folder than the run was started in ("+c.Root.String()+")")
	}
}
