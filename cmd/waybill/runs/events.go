package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// newEvents returns "runs events". Without --json it prints the stored lines unchanged on
// stdout, and a warning about a damaged log on stderr. At a terminal, and with --json, where they
// are members of one document, characters that a terminal executes or hides are escaped.
func newEvents(a *cli.App) *cobra.Command {
	var format string
	return cli.WithOptions(&cobra.Command{
		Use:   "events [RUN]",
		Short: "Print the events of a run exactly as they are stored",
		Long: `Print the events of a run, and the events of its session that belong to no run, exactly
as they are stored: one JSON object per line, in log order. Without RUN, print those of
the latest run. Of a damaged log the valid prefix is printed.

At a terminal, and in the document of --json, control and invisible characters are
written as \u escapes. The values are the same; digests are of the bytes in a pipe.

With --format openwop, print the run events that clients of the OpenWOP protocol get: one
JSON object per line, derived from what is stored, without secrets.`,
		Example: "  waybill runs events @last\n  waybill runs events k3j2a7 | jq -c '[.eventIndex, .kind]'\n" +
			"  waybill runs events @last --format openwop | jq -c '[.sequence, .type]'",
		Args: cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				if format == openWOP {
					return printRunEvents(ctx, a, o, cli.RunArg(args))
				}
				return printEvents(ctx, a, o, cli.RunArg(args))
			})
		},
	},
		formatOption(&format, "print them in FORMAT: openwop"), cli.Lines(a, "events"))
}

// noteHealth says that a log could not be read to its end. It prints on stderr, since stdout has JSON.
func noteHealth(a *cli.App, h manifest.Health) {
	if h == manifest.Healthy {
		return
	}
	a.Note(func(p *page.Page) {
		p.Text(p.Bad("! "), "The log of the session is "+render.Health(h)+": later events are not shown.")
	})
}

// printEvents prints the events of a run as they are stored, byte for byte, so that readers can check digests. They
// are printed while the log is read.
func printEvents(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	defer cli.LimitHeap()()
	if a.Flags.JSON {
		return documentEvents(ctx, a, o, ref)
	}
	out := stream.New(a.WriteStored, &a.Unfinished)
	v, err := lines.Each(ctx, o.Reader, ref, func(line []byte) error {
		return out.Add(line, []byte("\n"))
	})
	if err != nil {
		return err
	}
	if err := out.End(); err != nil {
		return err
	}
	noteHealth(a, v.Health)
	return nil
}

// documentEvents prints the document "events". The lines are its items: they are not decoded and encoded again, which
// could hide what is stored.
func documentEvents(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	if a.PrintsLines() {
		return cli.StreamLines(a, "events", func(add func(any) error) (any, error) {
			v, err := lines.Each(ctx, o.Reader, ref, func(line []byte) error {
				return add(stream.Encoded(line))
			})
			return struct {
				Health manifest.Health `json:"health"`
			}{v.Health}, err
		})
	}
	out, before := stream.New(a.WriteJSON, &a.Unfinished), []byte(`{"v":1,"kind":"events","data":{"events":[`)
	v, err := lines.Each(ctx, o.Reader, ref, func(line []byte) error {
		err := out.Add(before, line)
		before = []byte{','}
		return err
	})
	if err != nil {
		return err
	}
	return out.End([]byte(`],"health":"` + string(v.Health) + "\"}}\n"))
}

// storedLine returns an event as a line, byte for byte as it is in the log. The error is INTERNAL, for an event
// that cannot be encoded.
func storedLine(e event.Event) ([]byte, error) {
	line, err := event.Domain.AppendLine(nil, e)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "cannot encode event %d: %v", e.Index, err)
	}
	return line, nil
}
