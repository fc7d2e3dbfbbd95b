package session

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/projections/runs"
)

// Checks returns the results of the checks that ran in the last attempt at a node, while the step is
// pending there; nil for a node whose last attempt was accepted (docs/design.md#checks). One that was
// erased, or is none, is left out.
func (r *Reader) Checks(ctx context.Context, at *runs.Node) ([]check.Result, error) {
	if at.AtBranch() {
		return nil, nil
	}
	return r.LastChecks(ctx, at)
}

// StartedIn is the digest of the path of the repository in which a session was started, zero if none is
// recorded.
func StartedIn(f *runs.Fold) canon.Digest {
	root, _ := canon.ParseDigest(f.Observations["repo_root_hash"].Value)
	return root
}

// LastChecks is Checks, also for an attempt that was accepted.
func (r *Reader) LastChecks(ctx context.Context, at *runs.Node) (out []check.Result, err error) {
	if len(at.Attempts) == 0 {
		return nil, nil
	}
	for _, o := range at.Outputs {
		if o.Payload.ArtifactKind != check.Kind || o.Attempt != int64(len(at.Attempts)) {
			continue
		}
		v, err := r.Artifact(ctx, o.Payload.SHA256)
		if fault.Is(err, fault.ArtifactErased) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if result, err := check.Decode(v); err == nil {
			out = append(out, result)
		}
	}
	return out, nil
}
