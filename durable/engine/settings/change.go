package settings

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// Change is a change of one key of the configuration that was planned and not made. If Policy is
// set, it is shown to a person first, who confirms it (docs/design.md#settings).
type Change struct {
	// Setting is the key with its value after the change.
	Setting config.Setting
	// Policy reports that the key decides who may do what.
	Policy bool
	// Differences are the settings of the policy that the change puts in force and that were not
	// confirmed before: the key itself first, then those that were changed without a confirmation.
	Differences []Difference
	// Unchanged reports that the policy has the value already, as it was confirmed: there is nothing
	// to confirm, and nothing is written.
	Unchanged bool

	apply  func(config.Config) (config.Config, error)
	before config.Config // what the plan was made from
}

// Difference is a setting of the policy whose value is not the one that a person confirmed last.
type Difference struct {
	Key config.Key
	// Old is the value that was confirmed last. Known is false where the audit log does not have it.
	Old     canon.Value
	Known   bool
	New     canon.Value
	Meaning string
}

// PlanSet plans to set a key to the text that a user typed. A refused key or value
// (CONFIG_INVALID) is an error; nothing is written.
func (s Settings) PlanSet(ctx context.Context, key, text string) (Change, error) {
	return s.plan(ctx, key, func(c config.Config) (config.Config, error) { return c.With(key, text) })
}

// PlanReset plans to set a key back to its default.
func (s Settings) PlanReset(ctx context.Context, key string) (Change, error) {
	return s.plan(ctx, key, func(c config.Config) (config.Config, error) { return c.Without(key) })
}

// plan tries a change on an empty configuration first, so that an invalid one is CONFIG_INVALID
// also where the present one cannot be read.
func (s Settings) plan(ctx context.Context, key string, apply func(config.Config) (config.Config, error)) (Change,
	error) {
	out := Change{apply: apply}
	if _, err := apply(config.Config{}); err != nil {
		return out, err
	}
	var err error
	if out.before, err = s.Config(ctx); err != nil {
		return out, err
	}
	after, err := apply(out.before)
	if err != nil {
		return out, err
	}
	if err := after.CheckChange(config.Key(key)); err != nil {
		return out, err
	}
	if out.Setting, err = after.Get(key); err != nil {
		return out, err
	}
	if out.Policy = config.IsPolicyChange(out.Setting.Key, out.before, after); !out.Policy {
		return out, nil
	}
	last, err := s.ledger.Confirmed(ctx)
	if err != nil {
		return out, err
	}
	own, _ := out.before.Get(key) // known: the change was applied
	confirmed := out.before.PolicyDigest() == PolicyOf(last)
	if confirmed && own.Value.Equal(out.Setting.Value) {
		out.Setting, out.Unchanged = own, true
		return out, nil
	}
	if !confirmed {
		// The change would confirm a quorum that was stored before it.
		if err := after.CheckQuorum(); err != nil {
			return out, err
		}
	}
	out.Differences = []Difference{{Key: own.Key, Old: own.Value, Known: true, New: out.Setting.Value,
		Meaning: own.Meaning}}
	for _, d := range differences(last, out.before, after) {
		if d.Key != own.Key {
			out.Differences = append(out.Differences, d)
		}
	}
	return out, nil
}

// differences returns the settings of the policy in `now` that a person has not confirmed, in the
// order of the table. before is what is stored. If neither the log nor before has the values that
// were confirmed, these are all settings of the policy, also those with their default: any of them
// may have been another one.
func differences(last auditview.Confirmed, before, now config.Config) (out []Difference) {
	if now.PolicyDigest() == PolicyOf(last) {
		return nil
	}
	then, known := confirmedConfig(last, before)
	for _, row := range config.Table {
		is, _ := now.Get(string(row.Key)) // the table's own keys are known
		was, _ := then.Get(string(row.Key))
		if !row.Decides(is.Value) && !row.Decides(was.Value) {
			continue
		}
		if !known || !is.Value.Equal(was.Value) {
			out = append(out, Difference{Key: row.Key, Old: was.Value, Known: known, New: is.Value,
				Meaning: row.Meaning})
		}
	}
	return out
}

// confirmedConfig returns the settings that a person confirmed last: those of before if it has their
// digest, else those that the log has. The log does not have a text that was too long or contained
// what looks like a secret; then known is false and they are the defaults.
func confirmedConfig(last auditview.Confirmed, before config.Config) (c config.Config, known bool) {
	if before.PolicyDigest() == PolicyOf(last) {
		return before, true
	}
	if last.Policy.IsZero() {
		return c, true
	}
	v, err := canon.Parse([]byte(last.Settings))
	if err == nil {
		c, err = config.Read(v)
	}
	if err != nil || c.PolicyDigest() != PolicyOf(last) {
		return config.Config{}, false
	}
	return c, true
}

// ChangeConfig makes a planned change and returns the setting. A change of the policy requires a
// person, to whom its Differences were shown, and gets a line in the audit log.
//
// Errors: RUN_WAITING if the actor is no person, STORE_CONFLICT if the configuration was changed
// since the plan, POLICY_UNCONFIRMED if the change was written and its line could not be: the
// settings count when a person has confirmed them.
func (s Settings) ChangeConfig(ctx context.Context, by ledger.Caller, c Change) (config.Setting, error) {
	if c.Unchanged {
		return c.Setting, nil
	}
	if !c.Policy {
		if err := checkDefault(by, c); err != nil {
			return c.Setting, err
		}
		return c.Setting, s.writeConfig(ctx, func(now config.Config) (config.Config, error) { return c.apply(now) })
	}
	planned, err := c.apply(c.before)
	if err == nil {
		err = checkRecordable(planned)
	}
	if err != nil {
		return c.Setting, err
	}
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{"key": string(c.Setting.Key), audit.DetailKeys: keysOf(c.Differences),
			audit.DetailPolicyAfter: planned.PolicyDigest().String()}}
	return c.Setting, s.act(ctx, by, fixed(what, valuesOf(c.Differences)), func(ledger.Caller) (map[string]string, error) {
		var after config.Config
		err := s.writeConfig(ctx, func(now config.Config) (_ config.Config, err error) {
			if !now.Data().Equal(c.before.Data()) {
				return now, changedMeanwhile()
			}
			after, err = c.apply(now)
			return after, err
		})
		return policyDetails(after), err
	})
}

// checkDefault returns RUN_WAITING if a caller that is no person sets a default autonomy above the
// one that an agent may set for a run (docs/design.md#preferences).
func checkDefault(by ledger.Caller, c Change) error {
	if c.Setting.Key != config.Autonomy || by.Actor.Kind == event.Human ||
		c.before.CheckAgentAutonomy(event.Autonomy(c.Setting.Value.Text())) == nil {
		return nil
	}
	return fault.New(fault.RunWaiting, "autonomy %s is more than %s permits without a person: %s", c.Setting.Value.Text(),
		config.AgentMaxAutonomy, c.before.AgentMaxAutonomy()).
		Suggest("Ask a person to run this at a terminal.")
}

// valuesOf returns the new values of settings, by key, for the reader of what is signed.
func valuesOf(all []Difference) canon.Value {
	members := make([]canon.Member, len(all))
	for i, d := range all {
		members[i] = canon.Member{Name: string(d.Key), Value: d.New}
	}
	return canon.OfMembers(members...)
}

// keysOf returns the detail audit.DetailKeys of what a person confirms.
func keysOf(all []Difference) string {
	var names []string
	for _, d := range all {
		names = append(names, string(d.Key))
	}
	return strings.Join(names, " ")
}

// writeConfig replaces the configuration under the lock of its file.
func (s Settings) writeConfig(ctx context.Context, change func(config.Config) (config.Config, error)) error {
	return s.controls.UpdateControl(ctx, ConfigFile, func(old ports.Control) (ports.Control, error) {
		c, err := ConfigOf(old)
		if err != nil {
			return old, err
		}
		if c, err = change(c); err != nil {
			return old, err
		}
		return ports.Control{V: config.Version, Data: c.Data()}, nil
	})
}

// checkRecordable refuses, with CONFIG_INVALID, settings with signers of which the audit log could not state all:
// what looks like a secret is redacted there, and signers that it does not state are not in force.
func checkRecordable(c config.Config) error {
	if text := string(c.Policy().JCS()); !c.Signers().IsZero() && redact.Text(text, nil) != text {
		return fault.New(fault.ConfigInvalid,
			"the settings contain what looks like a secret, and the audit log could not state who the signers are").
			Suggest("Change the name or the key that %s shows.", fault.Command{"config", "get"})
	}
	return nil
}

// policyDetails are the details of an outcome that state the policy after it.
func policyDetails(c config.Config) map[string]string {
	return map[string]string{audit.DetailPolicy: c.PolicyDigest().String(), audit.DetailSettings: string(c.Policy().JCS())}
}

// changedMeanwhile is STORE_CONFLICT for content that is not what a person was shown.
func changedMeanwhile() error {
	return fault.New(fault.StoreConflict, "the settings were changed while the question was open; nothing was changed").
		Suggest("Run the command again, and read what it shows.")
}
