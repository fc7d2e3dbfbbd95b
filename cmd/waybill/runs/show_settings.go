package runs

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
)

// showSettings prints one line about the settings that are others than at the start of the run.
func showSettings(p *page.Page, r views.RunDetails) {
	var changed []string
	for _, c := range r.SettingsChanged {
		changed = append(changed, string(c.Key)+" "+settingText(c.Applied)+" -> "+settingText(c.Now))
	}
	switch {
	case r.SettingsUnknown:
		p.Text("", "settings changed since its start: which ones is not on record")
	case len(changed) > 0:
		p.Text("", "settings changed since its start: "+strings.Join(changed, ", "))
	}
}

// settingText returns a value in one line: a word as it is, other values as JSON.
func settingText(v canon.Value) string {
	if v.Kind() == canon.String {
		return page.Value(v.Text())
	}
	return page.Value(string(v.JCS()))
}
