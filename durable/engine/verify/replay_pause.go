package verify

import (
	"context"

	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
)

// pause decides the pause of a run again.
func (a *replay) pause(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	return a.held(seg, advance.Pause)
}

// resume decides the end of a pause again.
func (a *replay) resume(_ context.Context, seg manifest.Segment) (manifest.Plan, bool, error) {
	return a.held(seg, advance.Resume)
}

// held plans a pause or its end. A run that has ended takes neither.
func (a *replay) held(seg manifest.Segment, plan func(advance.PauseFacts, advance.Hold) (manifest.Plan, error)) (manifest.Plan,
	bool, error) {
	p, err := a.runPosition(seg)
	if err == nil {
		err = p.TakesFacts()
	}
	if err != nil {
		return manifest.Plan{}, false, err
	}
	planned, err := plan(pausing.FactsOf(p), redrive.HoldOf(seg.Events))
	return planned, false, err
}
