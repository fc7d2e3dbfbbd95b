package verify

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	auditview "github.com/waybill/waybill/projections/audit"
)

// policyFindings reports settings that decide who may do what, and trusted workflows, that are not
// the ones which a person confirmed last (docs/design.md#settings). They have no effect on what
// needs a confirmation. A file that cannot be read is a finding of the inspection.
//
// It is a warning where nothing shows that the content was exchanged: no confirmation was ever
// recorded, as in a store of an earlier version, or the newest change has no outcome.
func (a *Auditor) policyFindings(ctx context.Context, acts *auditview.History) (out []manifest.Finding, err error) {
	last := acts.Confirmed
	if c, err := settings.Read(ctx, a.store); err == nil {
		code := manifest.PolicyUnconfirmed
		if last.Policy.IsZero() || interrupted(acts, audit.DetailPolicy, audit.Configure) {
			code = manifest.PolicyUnrecorded
		}
		if c.PolicyDigest() != settings.PolicyOf(last) {
			out = append(out, manifest.NewFinding(code, settings.ConfigFile.Name,
				"the settings that decide who may do what are not the ones that a person confirmed"))
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	list, err := settings.ReadTrust(ctx, a.store)
	if err != nil {
		return out, ctx.Err()
	}
	digest, err := list.Digest()
	if err == nil && digest != settings.TrustedOf(last) {
		code := manifest.PolicyUnconfirmed
		if interrupted(acts, audit.DetailTrusted, audit.Trust, audit.Untrust) {
			code = manifest.PolicyUnrecorded
		}
		out = append(out, manifest.NewFinding(code, settings.TrustFile.Name,
			"the trusted workflows are not the ones that a person confirmed"))
	}
	return out, err
}

// interrupted reports that one of the actions was begun after the last confirmation that has the
// detail, and has no outcome.
func interrupted(acts *auditview.History, detail string, actions ...audit.Action) bool {
	for _, e := range slices.Backward(acts.Entries) {
		switch {
		case e.Source != nil: // a fact of another log
		case e.Outcome == audit.Succeeded && e.Details[detail] != "":
			return false
		case e.Outcome == audit.Open && slices.Contains(actions, e.Action):
			return true
		}
	}
	return false
}
