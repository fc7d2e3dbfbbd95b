package runs

import (
	"bytes"
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
)

// openWOP is the format that --format selects: what a run is for clients of the OpenWOP protocol
// (docs/design.md#openwop).
const openWOP = "openwop"

// formatOption is the flag --format.
func formatOption(value *string, usage string) cli.Option {
	return cli.OneOf(value, "format FORMAT", []string{openWOP}, usage)
}

// printRunEvents prints the run events of a run while the log is read: one JSON object per line, or with --json one document.
func printRunEvents(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	defer cli.LimitHeap()()
	if a.PrintsLines() {
		return cli.StreamLines(a, "run_events", func(add func(any) error) (any, error) {
			page, err := eachRunEvent(ctx, o, ref, func(event []byte) error { return add(stream.Encoded(event)) })
			return withoutEvents(page), err
		})
	}
	out := stream.New(a.WriteJSON, &a.Unfinished)
	if a.Flags.JSON {
		return documentRunEvents(ctx, a, o, ref, out)
	}
	page, err := eachRunEvent(ctx, o, ref, func(event []byte) error { return out.Add(event, []byte{'\n'}) })
	if err == nil {
		err = out.End()
	}
	if err != nil {
		return err
	}
	noteHealth(a, page.Health)
	return nil
}

// withoutEvents is the document "run_events" without its list, which is printed before the rest is known.
func withoutEvents(page wire.Page) document.RunEvents {
	return document.RunEvents{Events: []openwop.RunEvent{}, Status: page.Status, Health: page.Health}
}

// documentRunEvents prints the document "run_events".
func documentRunEvents(ctx context.Context, a *cli.App, o *cli.Store, ref string, out *stream.Stream) error {
	begin := []byte(`{"v":1,"kind":"run_events","data":{"events":[`)
	before := begin
	page, err := eachRunEvent(ctx, o, ref, func(event []byte) error {
		err := out.Add(before, event)
		before = []byte{','}
		return err
	})
	if err != nil {
		return err
	}
	if len(before) == len(begin) { // there is no event
		if err := out.Add(before); err != nil {
			return err
		}
	}
	rest, err := canon.Marshal(withoutEvents(page))
	if err != nil {
		return stream.EncodingFault(err)
	}
	_, rest, _ = bytes.Cut(rest, []byte(`"events":[`)) // its first member
	return out.End(rest, []byte("}\n"))
}

// eachRunEvent passes each run event of a run as JSON.
func eachRunEvent(ctx context.Context, o *cli.Store, ref string, each func(event []byte) error) (wire.Page, error) {
	return o.Wire.Each(ctx, ref, -1, func(events []openwop.RunEvent) error {
		for _, e := range events {
			raw, err := canon.Marshal(e)
			if err != nil {
				return fault.Wrap(err, fault.Internal, "cannot encode the run event %d as JSON", e.Sequence)
			}
			if err := each(raw); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeRunEvents prints run events, one a line.
func writeRunEvents(a *cli.App, events []openwop.RunEvent) error {
	var lines []byte
	for _, e := range events {
		line, err := canon.Marshal(e)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "cannot encode the run event %d as JSON", e.Sequence)
		}
		lines = append(append(lines, line...), '\n')
	}
	return a.WriteJSON(lines)
}

// printSnapshot prints the state of a run for clients of the protocol: a JSON object on one line, with --json as the
// data of a document.
func printSnapshot(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	run, health, err := o.Wire.Snapshot(ctx, ref)
	if err != nil {
		return err
	}
	noteHealth(a, health)
	if a.Flags.JSON {
		return a.Answer("run_snapshot", run, nil)
	}
	raw, err := canon.Marshal(run)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cannot encode the snapshot as JSON")
	}
	return a.WriteJSON(append(raw, '\n'))
}

// runEvents follows a run and prints its run events.
type runEvents struct {
	app *cli.App
	*wire.Follower
}

// followRunEvents begins behind the run events so far, or with all set before the first one.
func followRunEvents(ctx context.Context, a *cli.App, o *cli.Store, run string, all bool) (runEvents, error) {
	f, err := o.Wire.Follow(ctx, run)
	for seen := !all; err == nil && seen; {
		var events []openwop.RunEvent
		var ended bool
		events, ended, err = f.Next(ctx)
		seen = !ended && len(events) > 0
	}
	return runEvents{a, f}, err
}

// printNew implements newsOf.
func (f runEvents) printNew(ctx context.Context) (some, over bool, err error) {
	for {
		events, ended, err := f.Next(ctx)
		if err != nil {
			return some, ended, err
		}
		if err := writeRunEvents(f.app, events); err != nil || ended || len(events) == 0 {
			return some || len(events) > 0, ended, err
		}
		some = true
	}
}
