package engine

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
)

// Settings are the use cases of what people decide about a store itself: how it
// is configured, and whose commands may run.
type Settings struct {
	Controls ports.Controls
	Auditor  *Engine // of the same store, keeps the audit log; nil: nothing is audited
}

var (
	configFile = ports.ControlFile{Name: "config.json", Kind: config.Kind}
	trustFile  = ports.ControlFile{Name: "trust.json", Kind: trust.Kind}
)

// Config reads the configuration; where nothing was set, it is all defaults.
func (s Settings) Config(ctx context.Context) (config.Config, error) {
	c, err := s.Controls.Control(ctx, configFile)
	if err != nil {
		return config.Config{}, err
	}
	return configOf(c)
}

func configOf(c ports.Control) (config.Config, error) {
	if c.V > config.Version {
		return config.Config{}, newerControl(configFile, c.V)
	}
	return config.Read(c.Data)
}

func newerControl(f ports.ControlFile, v int64) error {
	return fault.New(fault.StoreNewer, "%s is of version %d, which this binary does not know", f.Name, v)
}

// SetConfig sets a key to what a person typed. What is refused changes nothing,
// and makes no store.
func (s Settings) SetConfig(ctx context.Context, key, text string) (config.Setting, error) {
	return s.changeConfig(ctx, key, func(c config.Config) (config.Config, error) { return c.With(key, text) })
}

// ResetConfig brings a key back to its default.
func (s Settings) ResetConfig(ctx context.Context, key string) (config.Setting, error) {
	return s.changeConfig(ctx, key, func(c config.Config) (config.Config, error) { return c.Without(key) })
}

func (s Settings) changeConfig(ctx context.Context, key string,
	change func(config.Config) (config.Config, error)) (out config.Setting, err error) {
	if _, err := change(config.Config{}); err != nil {
		return out, err
	}
	err = s.Controls.UpdateControl(ctx, configFile, func(old ports.Control) (ports.Control, error) {
		c, err := configOf(old)
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

// Trusted reads which workflow versions are trusted.
func (s Settings) Trusted(ctx context.Context) (trust.List, error) {
	c, err := s.Controls.Control(ctx, trustFile)
	if err != nil {
		return trust.List{}, err
	}
	return trustOf(c)
}

func trustOf(c ports.Control) (trust.List, error) {
	if c.V > trust.Version {
		return trust.List{}, newerControl(trustFile, c.V)
	}
	return trust.Read(c.Data)
}

// Trust records that a person agreed to a workflow's commands (R24). Whoever
// agreed to this version first stays on record.
func (s Settings) Trust(ctx context.Context, by Caller, w compile.Compiled) (trust.Entry, error) {
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
	if have, ok := list.Of(w.Hash()); ok {
		return have, nil
	}
	what := audit.Act{Action: audit.Trust, Target: audit.Target{Kind: audit.OfWorkflow, ID: w.Hash().String()},
		Details: map[string]string{"workflowId": w.WorkflowID, "commands": strconv.FormatInt(entry.Commands, 10)}}
	err = s.withAudit(ctx, by, what, func() error {
		list, err = s.changeTrust(ctx, func(l trust.List) (trust.List, error) { return l.With(entry) })
		return err
	})
	if err != nil {
		return entry, err
	}
	entry, _ = list.Of(w.Hash()) // somebody may have been faster
	return entry, nil
}

// Revoke takes trust back and reports whether there was any. Where there is none,
// nothing is written.
func (s Settings) Revoke(ctx context.Context, by Caller, hash canon.Digest) (bool, error) {
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
	return true, s.withAudit(ctx, by, what, func() error {
		_, err := s.changeTrust(ctx, func(l trust.List) (trust.List, error) { return l.Without(hash), nil })
		return err
	})
}

// audited puts a change on record (R10); where nobody keeps the audit log, as where the
// settings alone are read, it is only made.
func (s Settings) withAudit(ctx context.Context, by Caller, what audit.Act, change func() error) error {
	if s.Auditor == nil {
		return change()
	}
	return s.Auditor.act(ctx, by, what, func() (map[string]string, error) { return nil, change() })
}

func (s Settings) changeTrust(ctx context.Context, change func(trust.List) (trust.List, error)) (out trust.List,
	err error) {
	err = s.Controls.UpdateControl(ctx, trustFile, func(old ports.Control) (ports.Control, error) {
		if out, err = trustOf(old); err != nil {
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
