package settings

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/notify"
	"github.com/waybill/waybill/ports"
)

// NotifyFile is the control file of the machine with the commands of notifications that a person
// confirmed on it.
var NotifyFile = ports.ControlFile{Name: "notify.json", Kind: notify.Kind}

// OnMachine is the settings of a store on a machine, which remembers the commands of notifications that a
// person confirmed on it. Machine is nil where the directory of the configuration is not known.
type OnMachine struct {
	Settings
	Machine ports.Controls
}

// NotifyCommand returns the argv of the command of notifications, empty for none
// (docs/design.md#notifications). POLICY_UNCONFIRMED: the store has a command that may not run, because the
// settings are not the ones that a person confirmed, or no person confirmed the command on this machine.
func (s OnMachine) NotifyCommand(ctx context.Context) ([]string, error) {
	c, err := s.Config(ctx)
	if err != nil || len(c.Notify()) == 0 {
		return nil, err
	}
	// The audit log itself is read, and not a cache that each program of the account can write: a
	// program is started.
	last, err := s.ledger.FollowConfirmed(ctx)
	if err == nil {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err == nil && c.PolicyDigest() != PolicyOf(last) {
		err = unconfirmed(ConfigFile, "the settings that decide who may do what")
	}
	if err != nil {
		return nil, err
	}
	known, err := s.knowsNotify(ctx, c)
	if err == nil && !known {
		err = fault.New(fault.PolicyUnconfirmed, "no person confirmed the command of notifications (%s) on this machine",
			config.Notify).
			Suggest("A person reads and confirms it with %s at a terminal.", fault.Command{"config", "confirm"})
	}
	if err != nil {
		return nil, err
	}
	return c.Notify(), nil
}

// UnconfirmedNotify returns the argv of the command of notifications that no person confirmed on this
// machine, empty if there is none. The settings are those of the store, confirmed or not.
func (s OnMachine) UnconfirmedNotify(ctx context.Context) ([]string, error) {
	c, err := s.Config(ctx)
	if err != nil || len(c.Notify()) == 0 {
		return nil, err
	}
	known, err := s.knowsNotify(ctx, c)
	if known {
		return nil, err
	}
	return c.Notify(), err
}

// knowsNotify reports that a person confirmed the command of the settings on this machine.
func (s OnMachine) knowsNotify(ctx context.Context, c config.Config) (bool, error) {
	if s.Machine == nil {
		return false, nil
	}
	file, err := s.Machine.Control(ctx, NotifyFile)
	if err != nil {
		return false, err
	}
	list, err := notifyOf(file)
	if err != nil {
		return false, err
	}
	store, err := s.ledger.StoreID(ctx)
	return list.Has(store, config.NotifyDigest(c.Notify())), err
}

// notifyOf decodes the list of commands from its control file.
func notifyOf(c ports.Control) (notify.List, error) {
	if c.V > notify.Version {
		return notify.List{}, ledger.NewerControl(NotifyFile, c.V)
	}
	return notify.Read(c.Data)
}

// ChangeConfig is Settings.ChangeConfig, and remembers on the machine the command of notifications that the
// change confirms. If only that fails the error is POLICY_UNCONFIRMED.
func (s OnMachine) ChangeConfig(ctx context.Context, by ledger.Caller, c Change) (config.Setting, error) {
	setting, err := s.Settings.ChangeConfig(ctx, by, c)
	if err == nil && !c.Unchanged && shows(c.Differences) {
		err = s.rememberShown(ctx, by)
	}
	return setting, err
}

// Confirm is Settings.Confirm, as ChangeConfig.
func (s OnMachine) Confirm(ctx context.Context, by ledger.Caller, c Confirmation) error {
	err := s.Settings.Confirm(ctx, by, c)
	if err == nil && shows(c.Differences) {
		err = s.rememberShown(ctx, by)
	}
	return err
}

// shows reports that the command of notifications is among what a person was shown.
func shows(all []Difference) bool {
	return slices.ContainsFunc(all, func(d Difference) bool { return d.Key == config.Notify })
}

// ConfirmNotify records that a person was shown and confirmed the command of notifications on this
// machine, as an act in the audit log of the store. Errors are those of Confirm.
func (s OnMachine) ConfirmNotify(ctx context.Context, by ledger.Caller, argv []string) error {
	words := make([]canon.Value, len(argv))
	for i, w := range argv {
		words[i] = canon.OfString(w)
	}
	shown := valuesOf([]Difference{{Key: config.Notify, New: canon.OfList(words...)}})
	what := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{"key": string(config.Notify), "change": "confirm",
			"command": config.NotifyDigest(argv).String()}}
	return s.act(ctx, by, fixed(what, shown), func(ledger.Caller) (map[string]string, error) {
		c, err := s.Config(ctx)
		if err == nil && !slices.Equal(c.Notify(), argv) {
			err = changedMeanwhile()
		}
		if err != nil {
			return nil, err
		}
		return nil, s.remember(ctx, by, argv)
	})
}

// rememberShown is remember for the command of the settings, after they were confirmed.
func (s OnMachine) rememberShown(ctx context.Context, by ledger.Caller) error {
	c, err := s.Confirmed(ctx)
	if err == nil {
		err = s.remember(ctx, by, c.Notify())
	}
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.PolicyUnconfirmed,
		"the settings are confirmed, but the command of notifications could not be recorded on this machine: %s",
		fault.Of(err).Message).
		Suggest("It runs when a person has confirmed it with %s at a terminal.", fault.Command{"config", "confirm"})
}

// remember stores on the machine that a person confirmed a command for the store; an empty one removes it.
func (s OnMachine) remember(ctx context.Context, by ledger.Caller, argv []string) error {
	if s.Machine == nil {
		return fault.New(fault.UsageError, "the directory of the configuration is not known").
			Suggest("Set HOME or XDG_CONFIG_HOME.")
	}
	store, err := s.ledger.StoreID(ctx)
	if err != nil {
		return err
	}
	return s.Machine.UpdateControl(ctx, NotifyFile, func(old ports.Control) (ports.Control, error) {
		list, err := notifyOf(old)
		if err != nil {
			return old, err
		}
		if list = list.Without(store); len(argv) > 0 {
			list = list.With(notify.Command{Actor: by.Actor, AtMs: by.AtMs, Digest: config.NotifyDigest(argv),
				StoreID: store})
		}
		data, err := list.Data()
		return ports.Control{V: notify.Version, Data: data}, err
	})
}
