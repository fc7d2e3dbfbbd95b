package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Findings writes findings and returns the numbers of errors and warnings. The path is on the
// first line of each, and is therefore removed from the message below it.
func Findings(p *page.Page, findings []manifest.Finding) (errs, warns int) {
	for _, f := range findings {
		word := p.Warn("warning")
		if f.Severity == manifest.SeverityError {
			word = p.Bad("error")
			errs++
		}
		p.Line("  %s  %s  %s", word, f.Code, page.OneLine(f.Path))
		p.Text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
	}
	return errs, len(findings) - errs
}
