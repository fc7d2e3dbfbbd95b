package runs

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// newEvents makes "runs events". Without --json it prints the stored lines as
// they are, and a remark about a damaged log goes to stderr, beside the lines.
// With --json the same bytes are put into one document.
func newEvents(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "events [RUN]",
		Short: "Print the events of a run exactly as they are stored",
		Long: `Print the events of a run, and those of its session that belong to no run, exactly as
they are stored: one JSON object a line, in their order. Without RUN, of the latest run.`,
		Example: "  waybill runs events @last\n  waybill runs events k3j2a7 | jq -c '[.eventIndex, .kind]'",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.Close()
			events, v, err := o.Events(cmd.Context(), cli.RunArg(args))
			if err != nil {
				return err
			}
			// The bytes of the log, so that digests can be checked from
			// them.
			lines, err := stored(events)
			if err != nil {
				return err
			}
			if !a.Flags.JSON {
				if v.Health != manifest.Healthy {
					// Beside the lines and not among them, which are JSON.
					p := a.NewPage(a.Err)
					p.Text(p.Bad("! "), "The session is "+render.Health(v.Health)+
						": what stands behind these events is not told.")
					_, _ = a.Err.Write(p.Bytes())
				}
				return a.Write(lines)
			}
			// The bytes go in as they are: decoding and encoding them again would no
			// longer show what is stored. A line holds no raw line end, so that the ones
			// between them can become commas.
			list := bytes.ReplaceAll(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"), []byte(","))
			return a.Document("events", []byte(`{"events":[`+string(list)+`],"health":"`+string(v.Health)+`"}`))
		},
	}
}

// stored are the lines of events with line ends, byte for byte as the log has
// them.
func stored(events []event.Event) (out []byte, err error) {
	for _, e := range events {
		if out, err = event.Domain.AppendLine(out, e); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "event %d cannot be written: %v", e.Index, err)
		}
	}
	return out, nil
}
