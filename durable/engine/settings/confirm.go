package settings

import (
	"context"
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/store/trust"
)

// Confirmation is what a person is asked to confirm: the settings that decide who may do what, the
// list of trusted workflow versions, and the keys of programs, where they are not the ones that were
// confirmed last.
type Confirmation struct {
	// Differences are the settings that were changed since the last confirmation; none: they are
	// confirmed.
	Differences []Difference
	// InForce are all settings of the policy that are not the default.
	InForce []config.Setting
	// Trusted is the list, if it is not the confirmed one; nil: it is confirmed.
	Trusted *trust.List
	// HTTPKeys are the keys, if they are not the confirmed ones; nil: they are confirmed.
	HTTPKeys *httpkeys.List

	policy  config.Config
	trusted canon.Digest
	keys    canon.Digest
}

// IsEmpty reports that everything is confirmed.
func (c Confirmation) IsEmpty() bool {
	return len(c.Differences) == 0 && c.Trusted == nil && c.HTTPKeys == nil
}

// PlanConfirmation returns what is not confirmed. It writes nothing. A file that cannot be read is
// an error, since a person could not see what it contains. PRINCIPALS_UNBOUND: a quorum that no
// change may lead to.
func (s Settings) PlanConfirmation(ctx context.Context) (out Confirmation, err error) {
	last, err := s.ledger.Confirmed(ctx)
	if err == nil {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err != nil {
		return out, err
	}
	c, err := s.Config(ctx)
	if err != nil {
		return out, err
	}
	out.policy, out.Differences = c, differences(last, c, c)
	// Nothing is confirmed that a change to it would refuse.
	if len(out.Differences) > 0 {
		if err := c.CheckQuorum(); err != nil {
			return out, err
		}
	}
	for _, row := range config.Table {
		is, _ := c.Get(string(row.Key)) // the table's own keys are known
		if row.Decides(is.Value) && !is.Value.Equal(row.Default) {
			out.InForce = append(out.InForce, is)
		}
	}
	list, err := s.Trusted(ctx)
	if err != nil {
		return out, err
	}
	if out.trusted, err = list.Digest(); err == nil && out.trusted != TrustedOf(last) {
		out.Trusted = &list
	}
	if err != nil {
		return out, err
	}
	keys, err := s.ListHTTPKeys(ctx)
	if err != nil {
		return out, err
	}
	if out.keys, err = keys.Digest(); err == nil && out.keys != ConfirmedHTTPKeys(last) {
		out.HTTPKeys = &keys
	}
	return out, err
}

// Confirm records that a person confirmed what c shows. Errors: RUN_WAITING if the actor is no
// person, STORE_CONFLICT if the settings are not those of c any more, POLICY_UNCONFIRMED if the
// confirmation could not be recorded.
func (s Settings) Confirm(ctx context.Context, by ledger.Caller, c Confirmation) error {
	if err := checkRecordable(c.policy); err != nil {
		return err
	}
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore}, Details: map[string]string{}}
	if len(c.Differences) > 0 {
		what.Details[audit.DetailKeys] = keysOf(c.Differences)
		what.Details[audit.DetailPolicyAfter] = c.policy.PolicyDigest().String()
	}
	if c.Trusted != nil {
		what.Details[audit.DetailTrustedAfter] = c.trusted.String()
	}
	if c.HTTPKeys != nil {
		what.Details[audit.DetailHTTPKeysAfter] = c.keys.String()
	}
	return s.act(ctx, by, fixed(what, valuesOf(c.Differences)), func(ledger.Caller) (map[string]string, error) {
		now, err := s.PlanConfirmation(ctx)
		if err == nil && (now.policy.PolicyDigest() != c.policy.PolicyDigest() || now.trusted != c.trusted ||
			now.keys != c.keys) {
			err = changedMeanwhile()
		}
		if err != nil {
			return nil, err
		}
		details := map[string]string{}
		if len(c.Differences) > 0 {
			maps.Copy(details, policyDetails(c.policy))
		}
		if c.Trusted != nil {
			details[audit.DetailTrusted] = c.trusted.String()
		}
		if c.HTTPKeys != nil {
			details[audit.DetailHTTPKeys] = c.keys.String()
		}
		return details, nil
	})
}
