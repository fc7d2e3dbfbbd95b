// Package settings implements the use cases that concern the configuration of a
// store, and the trust in workflows with commands.
//
// What a setting means is decided by durable/store/config and durable/store/trust.
package settings

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Settings implements the use cases that concern the configuration of a store,
// and the trust in workflows with commands.
type Settings struct {
	controls ports.Controls
	ledger   *ledger.Ledger
}

// New returns the settings of the store of a ledger.
func New(c ports.Controls, l *ledger.Ledger) Settings { return Settings{c, l} }

// The control files of the store.
var (
	ConfigFile = ports.ControlFile{Name: "config.json", Kind: config.Kind}
	TrustFile  = ports.ControlFile{Name: "trust.json", Kind: trust.Kind}
)

// Config reads the configuration. A store without one has the defaults. Errors:
// STORE_CORRUPT, STORE_NEWER.
func (s Settings) Config(ctx context.Context) (config.Config, error) {
	return Read(ctx, s.controls)
}

// Confirmed reads the configuration for an operation that depends on the settings which decide
// who may do what. Errors: POLICY_UNCONFIRMED if these settings are not the ones that a person
// confirmed last (docs/design.md#settings), and those of Config.
func (s Settings) Confirmed(ctx context.Context) (config.Config, error) {
	return s.Config(ctx)
}

// Read reads the configuration from the control files of a store.
func Read(ctx context.Context, controls ports.Controls) (config.Config, error) {
	c, err := controls.Control(ctx, ConfigFile)
	if err != nil {
		return config.Config{}, err
	}
	return ConfigOf(c)
}

// Provided refuses with CAPABILITY_NOT_PROVIDED a family of commands that the
// configuration turns off. A configuration that cannot be read is an error as
// well. It returns the configuration.
func (s Settings) Provided(ctx context.Context, family config.Key, on func(config.Config) bool) (config.Config,
	error) {
	c, err := s.Config(ctx)
	if err != nil {
		return c, err
	}
	if !on(c) {
		err = fault.New(fault.CapabilityNotProvided, "this store does not provide %s", family).
			Suggest("%s turns it on.", fault.Command{"config", "set", string(family), "on"}).With("capability", string(family))
	}
	return c, err
}

// ConfigOf decodes the configuration from its control file.
func ConfigOf(c ports.Control) (config.Config, error) {
	if c.V > config.Version {
		return config.Config{}, ledger.NewerControl(ConfigFile, c.V)
	}
	return config.Read(c.Data)
}

// SetConfig sets a key to the text that a user typed, and returns the setting.
// A refused key or value (CONFIG_INVALID) changes nothing and creates no store.
func (s Settings) SetConfig(ctx context.Context, key, text string) (config.Setting, error) {
	return s.changeConfig(ctx, key, func(c config.Config) (config.Config, error) { return c.With(key, text) })
}

// ResetConfig sets a key back to its default.
func (s Settings) ResetConfig(ctx context.Context, key string) (config.Setting, error) {
	return s.changeConfig(ctx, key, func(c config.Config) (config.Config, error) { return c.Without(key) })
}

// changeConfig applies a change under the lock of the control file. The change
// is tried on an empty configuration first, so that an invalid one creates no
// file.
func (s Settings) changeConfig(ctx context.Context, key string,
	change func(config.Config) (config.Config, error)) (out config.Setting, err error) {
	if _, err := change(config.Config{}); err != nil {
		return out, err
	}
	err = s.controls.UpdateControl(ctx, ConfigFile, func(old ports.Control) (ports.Control, error) {
		c, err := ConfigOf(old)
		if err != nil {
			return old, err
		}
		if c, err = change(c); err != nil {
			return old, err
		}
		out, err = c.Get(key)
		return ports.Control{V: config.Version, Data: c.Data()}, err
	})
	return out, err
}

// Trusted reads the list of trusted workflow versions. Errors: STORE_CORRUPT,
// STORE_NEWER.
func (s Settings) Trusted(ctx context.Context) (trust.List, error) {
	c, err := s.controls.Control(ctx, TrustFile)
	if err != nil {
		return trust.List{}, err
	}
	return TrustOf(c)
}

// TrustOf decodes the list of trusted workflows from its control file.
func TrustOf(c ports.Control) (trust.List, error) {
	if c.V > trust.Version {
		return trust.List{}, ledger.NewerControl(TrustFile, c.V)
	}
	return trust.Read(c.Data)
}

// Trust records that a person agreed to the commands of a workflow version
// (docs/design.md#commands-and-trust). If the version is trusted already, the
// first entry is kept and returned.
func (s Settings) Trust(ctx context.Context, by ledger.Caller, w compile.Compiled) (trust.Entry, error) {
	entry := trust.Entry{Actor: by.Actor, AtMs: by.AtMs, WorkflowHash: w.Hash(), WorkflowID: w.WorkflowID}
	for _, step := range w.Steps {
		if step.Action != nil {
			entry.Commands++
		}
	}
	list, err := s.Trusted(ctx)
	if err != nil {
		return entry, err
	}
	// Trusted already: no act is recorded.
	if have, ok := list.Of(w.Hash()); ok {
		return have, nil
	}
	what := audit.Act{Action: audit.Trust, Target: audit.Target{Kind: audit.OfWorkflow, ID: w.Hash().String()},
		Details: map[string]string{"workflowId": w.WorkflowID, "commands": strconv.FormatInt(entry.Commands, 10)}}
	err = s.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		list, err = s.changeTrust(ctx, func(l trust.List) (trust.List, error) { return l.With(entry) })
		return nil, err
	})
	if err != nil {
		return entry, err
	}
	entry, _ = list.Of(w.Hash()) // the entry of a concurrent call, if that was first
	return entry, nil
}

// Revoke removes the trust in a workflow version and reports whether there was
// any. Without any, nothing is written and no audit line is made.
func (s Settings) Revoke(ctx context.Context, by ledger.Caller, hash canon.Digest) (bool, error) {
	list, err := s.Trusted(ctx)
	if err != nil {
		return false, err
	}
	entry, ok := list.Of(hash)
	if !ok {
		return false, nil
	}
	what := audit.Act{Action: audit.Untrust, Target: audit.Target{Kind: audit.OfWorkflow, ID: hash.String()},
		Details: map[string]string{"workflowId": entry.WorkflowID}}
	return true, s.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		_, err := s.changeTrust(ctx, func(l trust.List) (trust.List, error) { return l.Without(hash), nil })
		return nil, err
	})
}

// changeTrust applies a change to the list under the lock of the control file.
func (s Settings) changeTrust(ctx context.Context, change func(trust.List) (trust.List, error)) (out trust.List,
	err error) {
	err = s.controls.UpdateControl(ctx, TrustFile, func(old ports.Control) (ports.Control, error) {
		if out, err = TrustOf(old); err != nil {
			return old, err
		}
		if out, err = change(out); err != nil {
			return old, err
		}
		data, err := out.Data()
		return ports.Control{V: trust.Version, Data: data}, err
	})
	return out, err
}
