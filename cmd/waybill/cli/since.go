package cli

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// SinceMs returns the moment that --since names, in milliseconds since 1970 UTC; 0 for "".
func SinceMs(a *App, cmd *cobra.Command, since string) (int64, error) {
	if since == "" {
		return 0, nil
	}
	// The clock of the call and not time.Now, so that tests can set it.
	at, ok := page.Since(since, a.Clock())
	if !ok {
		return 0, UsageFault(cmd, "--since %q is neither a time nor a duration", since).
			Suggest("Give a date such as 2006-01-02, or a duration before now: 36h, 7d, 2w.")
	}
	return at.UnixMilli(), nil
}
