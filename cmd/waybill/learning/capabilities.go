package learning

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/learning/capabilities"
)

// capabilitiesLong is what 'waybill capabilities --help' prints above the
// usage.
const capabilitiesLong = `Show what this store provides to programs that ask: which feedback it takes, what may be
proposed and how that is activated. With --json it is the capabilities document of
OpenWOP. What the configuration turns off is not in it, and its commands refuse.`

// NewCapabilities makes the command "capabilities". The document has the form
// of OpenWOP's capabilities and follows from the store's configuration alone.
func NewCapabilities(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "capabilities",
		GroupID: cli.GroupSetup,
		Short:   "Show what this store provides",
		Long:    capabilitiesLong,
		Example: "  waybill capabilities\n  waybill capabilities --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "capabilities",
				func(ctx context.Context, o *cli.Store) (capabilities.Document, error) {
					c, err := o.Config(ctx)
					if err != nil {
						return capabilities.Document{}, err
					}
					return capabilities.Of(c, a.Version), nil
				},
				showCapabilities)
		},
	}
}

// showCapabilities prints each family of features: what it provides, or the
// command that turns it on.
func showCapabilities(p *page.Page, d capabilities.Document) {
	if d.Feedback.Supported {
		p.Text("feedback   ", page.Words(d.Feedback.Signals)+"; of a "+page.Words(d.Feedback.Targets))
	} else {
		p.Text("feedback   ", "off; 'waybill config set feedback on' turns it on")
	}
	if d.Agents != nil {
		of := d.Agents.Proposals
		p.Text("proposals  ", page.Words(of.ArtifactKinds)+"; activated by "+of.Activation)
	} else {
		p.Text("proposals  ", "off; 'waybill config set proposals on' turns them on")
	}
}
