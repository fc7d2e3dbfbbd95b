package session

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/projections/runs"
)

// HostResult returns the result of the host step of a node (docs/design.md#host-steps): the zero Result if it is not on record, or was erased.
func (r *Reader) HostResult(ctx context.Context, n *runs.Node) (host.Result, error) {
	for _, o := range slices.Backward(n.Outputs) {
		if o.Payload.ArtifactKind != host.Kind || !n.OfBranch(o) {
			continue
		}
		v, err := r.Artifact(ctx, o.Payload.SHA256)
		if fault.Is(err, fault.ArtifactErased) {
			return host.Result{}, nil
		}
		if err != nil {
			return host.Result{}, err
		}
		result, err := host.Decode(v)
		if err != nil {
			return host.Result{}, nil // it is none
		}
		return result, nil
	}
	return host.Result{}, nil
}
