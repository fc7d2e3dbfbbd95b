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
const capabilitiesLong = `Show the optional features that this store offers to other programs: the kinds of
feedback that it accepts, the artifacts that can be proposed, and how they are
activated. With --json this is the capabilities document of OpenWOP. A feature that the
configuration turns off is not listed, and its commands are refused.
Nothing is changed.`

// NewCapabilities returns the command "capabilities". The document has the form
// of OpenWOP's capabilities; it depends only on the version of Waybill and the
// configuration of the store (docs/design.md#capabilities).
func NewCapabilities(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "capabilities",
		GroupID: cli.GroupSetup,
		Short:   "Show the features that this store provides",
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
					return capabilities.DocumentOf(c, a.Version), nil
				},
				showCapabilities)
		},
	}
}

// showCapabilities prints a line for each family of features: its members, or the
// command that turns the family on.
func showCapabilities(p *page.Page, d capabilities.Document) {
	if d.Feedback.Supported {
		p.Text("feedback   ", page.JoinWords(d.Feedback.Signals)+"; of a "+page.JoinWords(d.Feedback.Targets))
	} else {
		p.Text("feedback   ", "off; 'waybill config set feedback on' turns it on")
	}
	if d.Agents != nil {
		of := d.Agents.Proposals
		p.Text("proposals  ", page.JoinWords(of.ArtifactKinds)+"; activated by "+of.Activation)
	} else {
		p.Text("proposals  ", "off; 'waybill config set proposals on' turns them on")
	}
}
