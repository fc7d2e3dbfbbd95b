package verify

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// policyFindings reports settings that decide who may do what, trusted workflows, and keys of
// programs, that are not the ones which a person confirmed last (docs/design.md#settings). They have no effect on what
// needs a confirmation. A file that cannot be read is a finding of the inspection.
//
// It is a warning where nothing shows that the content was exchanged: no confirmation was ever
// recorded, as in a store of an earlier version, or a change to this content has no outcome.
func (a *Auditor) policyFindings(ctx context.Context, acts *auditview.History) (out []manifest.Finding,
	err error) {
	last := acts.Confirmed
	if err := settings.CheckFeature(ctx, a.store, last); fault.Is(err, fault.PolicyUnconfirmed) {
		out = append(out, manifest.NewFinding(manifest.PolicyMismatch, audit.Table.Name, "%s", fault.Of(err).Message))
	}
	if c, err := settings.Read(ctx, a.store); err == nil {
		if is := c.PolicyDigest(); is != settings.PolicyOf(last) {
			unrecorded := last.Policy.IsZero() ||
				interrupted(acts, audit.DetailPolicy, audit.DetailPolicyAfter, is, audit.Configure)
			out = append(out, policyFinding(last, settings.ConfigFile, "the settings that decide who may do what", unrecorded))
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if list, err := settings.ReadTrust(ctx, a.store); err == nil {
		digest, err := list.Digest()
		if err != nil {
			return out, err
		}
		if digest != settings.TrustedOf(last) {
			unrecorded := interrupted(acts, audit.DetailTrusted, audit.DetailTrustedAfter, digest, audit.Trust,
				audit.Untrust)
			out = append(out, policyFinding(last, settings.TrustFile, "the trusted workflows", unrecorded))
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	keys, err := settings.ReadHTTPKeys(ctx, a.store)
	if err != nil {
		return out, ctx.Err()
	}
	digest, err := keys.Digest()
	if err == nil && digest != settings.ConfirmedHTTPKeys(last) {
		unrecorded := interrupted(acts, audit.DetailHTTPKeys, audit.DetailHTTPKeysAfter, digest)
		out = append(out, policyFinding(last, settings.HTTPKeysFile, "the keys of programs", unrecorded))
	}
	return out, err
}

// policyRereads bounds the readings of the audit log while settings are changed again and again.
const policyRereads = 5

// currentPolicyFindings is policyFindings for a store that may be changed meanwhile: a person may
// have changed a setting after acts were read and before its file was. What is found is looked
// for again in the audit log as it is then.
func (a *Auditor) currentPolicyFindings(ctx context.Context, acts *auditview.History, log manifest.Log) (
	out []manifest.Finding, err error) {
	for range policyRereads {
		if out, err = a.policyFindings(ctx, acts); err != nil || len(out) == 0 {
			return out, err
		}
		later, v, err := a.history(ctx, log)
		if err != nil || v.Health != manifest.Healthy || len(later.Entries) == len(acts.Entries) {
			return out, ctx.Err() // nothing was recorded meanwhile
		}
		acts = later
	}
	return out, nil
}

// policyFinding is the finding about a control file; what names its content.
func policyFinding(last auditview.Confirmed, f ports.ControlFile, what string, unrecorded bool) manifest.Finding {
	if !last.Signers().IsZero() {
		return manifest.NewFinding(manifest.PolicyMismatch, f.Name,
			"%s are not what the signed changes in the audit log state", what)
	}
	if unrecorded {
		return manifest.NewFinding(manifest.PolicyUnrecorded, f.Name, "no person has confirmed %s", what)
	}
	return manifest.NewFinding(manifest.PolicyUnconfirmed, f.Name, "%s are not the ones that a person confirmed", what)
}

// interrupted reports that an action was begun after the last confirmation that has the detail, has
// no outcome, and leads to the content with the digest `is`: its detail `after` states it. Versions
// that stated no digest made such changes by the given actions, which lead to any content.
func interrupted(acts *auditview.History, detail, after string, is canon.Digest, actions ...audit.Action) bool {
	for _, e := range slices.Backward(acts.Entries) {
		switch {
		case e.Source != nil: // a fact of another log
		case e.Outcome == audit.Succeeded && e.Details[detail] != "":
			return false
		case e.Outcome != audit.Open:
		case e.Details[audit.DetailPolicyAfter] == "" && e.Details[audit.DetailTrustedAfter] == "" &&
			e.Details[audit.DetailHTTPKeysAfter] == "":
			if slices.Contains(actions, e.Action) {
				return true
			}
		case e.Details[after] == is.String():
			return true
		}
	}
	return false
}
