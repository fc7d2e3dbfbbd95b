package views

import (
	"bytes"
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Events returns the stored events of a run and those of its session that
// belong to no run, unchanged and in order, with the verdict over the log. A
// damaged log yields the events of its valid prefix.
func (o *Views) Events(ctx context.Context, ref string) (events []event.Event, v manifest.Verdict, err error) {
	v, err = EachEvent(ctx, o, ref, func(e event.Event, _ []byte) error {
		events = append(events, e)
		return nil
	})
	return events, v, err
}

// EachEvent passes what Events returns, one event after the other, each with its line as it is stored, without
// its newline. It is one pass over the log, in memory that does not depend on the log's length. line is valid
// during the call.
func EachEvent(ctx context.Context, o *Views, ref string, each func(e event.Event, line []byte) error) (manifest.Verdict,
	error) {
	found, err := o.r.Find(ctx, ref)
	if err != nil {
		return manifest.Verdict{}, err
	}
	has := false
	v, err := o.r.Each(ctx, found.Session, func(seg manifest.Segment, _ manifest.Head) error {
		return eachOfRun(seg, found.Run, func(e event.Event, line []byte) error {
			has = has || e.Scope.RunID == found.Run
			return each(e, line)
		})
	})
	if err == nil && !has {
		err = found.NotRead()
	}
	return v, err
}

// eachOfRun passes the events of a segment that are of a run or of no run, with their lines.
func eachOfRun(seg manifest.Segment, run id.Run, each func(e event.Event, line []byte) error) error {
	rest := seg.Bytes
	for _, e := range seg.Events {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if !ofRun(e, run) {
			continue
		}
		if err := each(e, line); err != nil {
			return err
		}
	}
	return nil
}
