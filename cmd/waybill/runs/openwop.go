package runs

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
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

// printRunEvents prints the run events of a run: one JSON object per line, or with --json one document.
func printRunEvents(ctx context.Context, a *cli.App, o *cli.Store, ref string) error {
	doc := document.RunEvents{Events: []openwop.RunEvent{}}
	page, err := o.Wire.Each(ctx, ref, -1, func(events []openwop.RunEvent) error {
		if a.Flags.JSON {
			doc.Events = append(doc.Events, events...)
			return nil
		}
		return writeRunEvents(a, events)
	})
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		doc.Status, doc.Health = page.Status, page.Health
		return a.Answer("run_events", doc, nil)
	}
	noteHealth(a, page.Health)
	return nil
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
