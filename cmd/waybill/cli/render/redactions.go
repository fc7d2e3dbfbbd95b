package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/redact"
)

// Redactions writes one line for each place of a request from which a secret was removed before it was
// recorded, with the rule that found it (docs/design.md#answers-about-redaction).
func Redactions(p *page.Page, all []redact.Finding) {
	for _, f := range all {
		p.Text(p.Warn("! "), "redacted: "+f.Pointer+" ("+string(f.Rule)+")")
	}
}
