package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// HTTPKeys prints the keys of programs that call the server, without omitting anything, for a question whose answer confirms
// them.
func HTTPKeys(p *page.Page, list httpkeys.List) {
	for _, k := range list.Keys {
		HTTPKey(p, k)
	}
	if len(list.Keys) == 0 {
		p.Line("  none")
	}
}

// HTTPKey prints a key with what each of its scopes permits.
func HTTPKey(p *page.Page, k httpkeys.Key) {
	p.Text("  ", page.Argument(k.Name)+", added on "+page.ClockTime(k.AddedMs, "2006-01-02 15:04"))
	for _, s := range k.Scopes {
		p.Text("    ", string(s)+": "+s.Allows())
	}
}
