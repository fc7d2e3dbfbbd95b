package learning

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/proposals"
)

// InstalledList is the document "installed": the artifacts of applied proposals
// that are in use. If the log of proposals is not healthy, a rollback may be
// lost, so nothing is in use (docs/design.md#proposals).
type InstalledList struct {
	Installed []InstalledArtifact `json:"installed"`
	// Unsigned are artifacts that no signer then in force consented to; they are not in use
	// (docs/design.md#signed-consent).
	Unsigned []proposals.Installation `json:"unsigned,omitzero"`
	// Erased are artifacts whose bytes were erased; they are not in use
	// although no rollback is recorded.
	Erased []proposals.Installation `json:"erased,omitzero"`
	Health manifest.Health          `json:"health"`
}

// InstalledArtifact is an installed artifact with its content.
type InstalledArtifact struct {
	proposals.Installation
	// ReplacedFiles are the files that it is used instead of, each while it has its digest.
	ReplacedFiles []proposal.Replaces `json:"replacedFiles,omitzero"`
	Value         canon.Value         `json:"artifact"`
}

// Installed lists what is in use in a workspace. The log determines the
// digests; the bytes are read from installed/ or, where these are missing or
// damaged, from the proposed artifact.
func (l *Learning) Installed(ctx context.Context, workspace string) (InstalledList, error) {
	out := InstalledList{Installed: []InstalledArtifact{}, Health: manifest.Healthy}
	conf, err := l.settings.Config(ctx)
	if err != nil {
		return out, err
	}
	read, err := l.readProposalLog(ctx, conf)
	if err != nil {
		return out, err
	}
	if out.Health = read.verdict.Health; out.Health != manifest.Healthy {
		return out, nil
	}
	all := read.fold.Installed(workspace)
	policyOf, err := installPolicy(ctx, l.store, l.ledger, len(all) > 0)
	if err != nil {
		return out, err
	}
	for _, i := range all {
		if policy, known := policyOf(i); !known || !read.fold.IsPermitted(i, policy) {
			out.Unsigned = append(out.Unsigned, i)
			continue
		}
		v, err := l.parsedObject(ctx, manifest.Installed, i.Artifact.SHA256)
		if fault.Is(err, fault.StoreCorrupt) {
			v, err = l.parsedObject(ctx, manifest.Artifact, i.Artifact.SHA256)
		}
		if ctx.Err() != nil {
			return out, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
		}
		if fault.Is(err, fault.ArtifactErased) {
			out.Erased = append(out.Erased, i)
			continue
		}
		if err != nil {
			out.Health = manifest.CorruptTail // a lost artifact must not look like one never installed
			continue
		}
		out.Installed = append(out.Installed, InstalledArtifact{i, read.fold.ReplacedFiles(i.ProposalID), v})
	}
	return out, nil
}

// installPolicy returns a function for the policy under which an installation was made; none is known if the store
// had signers and the audit log does not know of them. Nothing is read if nothing is installed.
func installPolicy(ctx context.Context, controls ports.Controls, of *ledger.Ledger,
	any bool) (func(proposals.Installation) (policy proposal.Policy, known bool), error) {
	if !any {
		return nil, nil
	}
	last, err := of.ConfirmedAfresh(ctx)
	known := true
	if err == nil {
		err = settings.CheckFeature(ctx, controls, last)
	}
	if fault.Is(err, fault.PolicyUnconfirmed) {
		known, err = false, nil
	}
	return func(i proposals.Installation) (proposal.Policy, bool) {
		return proposal.PolicyOf(last.InstallSettings(i.Record(), i.Ref)), known
	}, err
}
