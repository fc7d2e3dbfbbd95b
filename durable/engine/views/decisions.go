package views

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// DecisionRow is a person's decision about a step (docs/design.md#decisions).
type DecisionRow struct {
	StepID          string             `json:"stepId"`
	StepInstanceKey string             `json:"stepInstanceKey"`
	Decision        event.DecisionWord `json:"decision"`
	// By is the principal of the person's account, else the name that the person claimed, else "human".
	By     string `json:"by"`
	At     string `json:"at"` // RFC 3339
	AtMs   int64  `json:"atMs,omitzero"`
	Reason string `json:"reason,omitzero"` // for an approval: the comment
	// ShownDigest is the digest of what was shown; zero for approvals of versions that recorded none.
	ShownDigest canon.Digest `json:"shownDigest,omitzero"`
	SHA256      canon.Digest `json:"sha256,omitzero"` // of the artifact
	// SignedBy is the fingerprint of the key that signed it, "" for one that is not signed. The signature is one
	// over what is stored; whether the key is a signer's is not judged here.
	SignedBy string `json:"signedBy,omitzero"`
	// Imported marks one that came with a bundle: it does not count here.
	Imported bool `json:"imported,omitzero"`
	// Unreadable says why the comment cannot be shown, "" if it can.
	Unreadable string `json:"unreadable,omitzero"`
}

// decisionOf returns the decision that an artifact records; ok is false for any other artifact, and
// for an approval that has its decision beside it.
func (o *observer) decisionOf(ctx context.Context, row ArtifactRow, out submitted.Artifact) (d DecisionRow, ok bool) {
	d = DecisionRow{StepID: row.StepID, StepInstanceKey: row.StepInstanceKey, AtMs: row.AtMs, At: event.TimeText(row.AtMs),
		SHA256: row.SHA256}
	switch {
	case out.Decision == nil && out.Payload.ArtifactKind == runs.ApprovalKind:
		a := o.approvalOf(ctx, row, out)
		d.Decision, d.By, d.Reason, d.Imported, d.Unreadable = event.Approved, a.By, a.Comment, a.Imported, a.Unreadable
		return d, true
	case out.Decision == nil || out.Payload.ArtifactKind != event.DecisionKind:
		return d, false
	}
	d.Decision, d.By, d.Reason, d.ShownDigest = out.Decision.Decision, out.Decision.By, out.Decision.Reason, out.Decision.ShownDigest
	d.Imported = o.isImported(ctx, row)
	if v, err := o.content(ctx, out); err == nil {
		if g := consent.Parse(v); g.IsSigned() {
			by, err := consent.Inspect(g.Signed.JCS(), g.Signature)
			if err == nil {
				d.SignedBy = by.Fingerprint
			}
		}
	}
	return d, true
}
