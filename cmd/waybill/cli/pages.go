package cli

import (
	"fmt"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// NewPage makes a page for a stream of this call.
func (a *App) NewPage(to any) *page.Page { return page.New(a.Colors(to), a.WidthOf(to)) }

// Ago is a time in the past, as people say it.
func (a *App) Ago(ms int64) string {
	d := time.Duration(a.NowMs()-ms) * time.Millisecond
	switch {
	case ms == 0:
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
