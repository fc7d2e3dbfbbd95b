package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/learning/capabilities"
)

const capabilitiesLong = `Show what this store provides to programs that ask: which feedback it takes, what may be
proposed and how that is activated. With --json it is the capabilities document of
OpenWOP. What the configuration turns off is not in it, and its commands refuse.`

func newCapabilitiesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "capabilities",
		GroupID: groupSetup,
		Short:   "Show what this store provides",
		Long:    capabilitiesLong,
		Example: "  waybill capabilities\n  waybill capabilities --json",
		Args:    none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			c, err := o.Config(cmd.Context())
			if err != nil {
				return err
			}
			d := capabilities.Of(c, a.version)
			return a.answer("capabilities", d, func(p *page) { p.capabilities(d) })
		},
	}
}

func (p *page) capabilities(d capabilities.Document) {
	if d.Feedback.Supported {
		p.text("feedback   ", wordsOf(d.Feedback.Signals)+"; of a "+wordsOf(d.Feedback.Targets))
	} else {
		p.text("feedback   ", "off; 'waybill config set feedback on' turns it on")
	}
	if d.Agents != nil {
		of := d.Agents.Proposals
		p.text("proposals  ", wordsOf(of.ArtifactKinds)+"; activated by "+of.Activation)
	} else {
		p.text("proposals  ", "off; 'waybill config set proposals on' turns them on")
	}
}

// wordsOf joins the words of a closed set.
func wordsOf[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
