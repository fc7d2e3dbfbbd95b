package runs

import (
	"context"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
)

// withSettings adds under which settings the run was started, and which are others now. What cannot be read is
// left out: the run is shown all the same.
func withSettings(ctx context.Context, a *cli.App, o *cli.Store, r views.RunDetails) views.RunDetails {
	if r.SessionID.IsZero() {
		return r // it was not found
	}
	then, err := settings.AppliedAt(ctx, o.Settings, r.SessionID, r.StartedAtMs)
	if err != nil {
		log := a.Log()
		log.Debug().Str("code", string(fault.CodeOf(err))).Msg("the settings at the start of the run cannot be read")
		return r
	}
	r.AppliedConfigHash, r.SettingsChanged, r.SettingsUnknown = then.Hash, then.Changed, then.Unknown
	return r
}

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
