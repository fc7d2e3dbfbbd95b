package hosting

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/wire"
)

// Notice is a message of a live stream that is in no log of run events.
type Notice struct {
	Type    openwop.EventType
	Payload canon.Value
	AtMs    int64
}

// Notes are the annotations of a run that are recorded while it is followed. They are for one goroutine at a time.
type Notes struct {
	logs ports.Logs
	run  id.Run
	log  manifest.Log
	head manifest.Head
}

// Follow begins to follow the annotations of a run, behind those that are recorded.
func (f Feedback) Follow(ctx context.Context, at engine.Position) (*Notes, error) {
	n := &Notes{logs: f.runs.logs, run: at.Run, log: feedback.LogOf(at.Session)}
	_, err := n.read(ctx, nil)
	return n, err
}

// Next returns the annotations since the last call, with the ids of a projection of the run.
func (n *Notes) Next(ctx context.Context, log *wire.Log) ([]Notice, error) {
	return n.read(ctx, func(a feedback.Annotation) (canon.Value, error) { return Shown(log, a) })
}

// read reads what is new in the log. show is nil if nothing is to be returned. An unreadable or damaged log, and one that
// was replaced, has no notices: which of its annotations are new is not known, and the run itself can be followed.
func (n *Notes) read(ctx context.Context, show func(feedback.Annotation) (canon.Value, error)) (out []Notice, err error) {
	v, err := n.logs.Read(ctx, ports.ReadRequest{Log: n.log, From: n.head}, func(manifest.Head) ports.Visitor {
		out = nil
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
			for _, e := range seg.Events {
				a, _, ok := feedback.AnnotationOf(e)
				if !ok || show == nil || e.Index < n.head.Next || a.Target.RunID != n.run {
					continue
				}
				payload, err := show(a)
				if err != nil {
					return err
				}
				out = append(out, Notice{openwop.RunAnnotated, payload, e.TimestampMs})
			}
			return nil
		})
	})
	switch {
	case errors.Is(err, manifest.ErrNotOnChain):
		n.head = manifest.Head{}
		return n.read(ctx, nil)
	case err != nil:
		return nil, err
	}
	n.head = v.Head
	return out, nil
}
