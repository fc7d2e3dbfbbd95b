package wire

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports"
	projection "github.com/waybill/waybill/projections/wire"
)

// Suspended is what a run waits for, or waited for, at a node.
type Suspended struct {
	Place
	// Open is the request that waits for an answer, nil for none at this node.
	Open *projection.Interrupt
	// Resolved are the newest resolved requests of the node, the last one first.
	Resolved []projection.Resolution
	// Requested reports that the node has requested an answer, open or not.
	Requested bool
	Status    openwop.Status
}

// Suspended returns what a run waits for at a node, by its id on the wire; "" for the node where it waits. Errors:
// RUN_NOT_FOUND, RUN_AMBIGUOUS, SESSION_UNHEALTHY, those of reading.
func (w *Wire) Suspended(ctx context.Context, ref, nodeID string) (out Suspended, err error) {
	if out.Place, err = w.Locate(ctx, ref); err != nil {
		return out, err
	}
	s := w.share(out.Place)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.f.drain(ctx, func([]openwop.RunEvent) error { return nil }); err != nil {
		return out, err
	}
	w.keep(s)
	if s.f.health != manifest.Healthy {
		return out, ports.Unhealthy(manifest.SessionEvents(out.Session), manifest.Verdict{Health: s.f.health})
	}
	log := s.f.log
	out.Status = log.Status()
	if open, ok := log.Open(); ok && out.Status != openwop.Cancelling && (nodeID == "" || open.NodeID == nodeID) {
		out.Open, nodeID = &open, open.NodeID
	}
	out.Resolved, out.Requested = log.Resolved(nodeID), log.Requested(nodeID)
	return out, nil
}
