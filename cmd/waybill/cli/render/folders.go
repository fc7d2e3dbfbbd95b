package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/store/sources"
)

// Folders prints attached folders on a page that a person consents to: each name and complete path.
func Folders(p *page.Page, list sources.List) {
	for _, f := range list.Folders {
		p.Line("  plugin:%s", page.Name(f.Name))
		p.Verbatim("      ", page.Argument(f.Dir), page.Plain)
	}
}
