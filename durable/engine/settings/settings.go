// Package settings implements the use cases that concern the configuration of a
// store, the trust in workflows with commands, and the keys of programs that call
// the server.
//
// What a setting means is decided by durable/store/config, durable/store/trust and
// durable/store/httpkeys.
// Start reading at Settings.Confirmed and Settings.ChangeConfig.
package settings

import (
	"context"
	"errors"
	"io/fs"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
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
//
//go:noinline
func (s Settings) Config(ctx context.Context) (config.Config, error) {
	return Read(ctx, s.controls)
}

// Confirmed reads the configuration for an operation that depends on the settings which decide
// who may do what. Errors: POLICY_UNCONFIRMED if these settings are not the ones that a person
// confirmed last, or cannot be read (docs/design.md#settings); SESSION_UNHEALTHY if the audit log,
// which states what was confirmed, is damaged.
func (s Settings) Confirmed(ctx context.Context) (config.Config, error) {
	return confirmedBy(ctx, s, s.ledger.Confirmed)
}

// ConfirmedAfresh is Confirmed for a consent, which may have to be signed: what was confirmed is read from
// the audit log itself, not from a cache.
func (s Settings) ConfirmedAfresh(ctx context.Context) (config.Config, error) {
	return confirmedBy(ctx, s, func(ctx context.Context) (auditview.Confirmed, error) {
		last, err := s.ledger.ConfirmedAfresh(ctx)
		if err == nil {
			err = CheckFeature(ctx, s.controls, last)
		}
		return last, err
	})
}

// confirmedBy is Confirmed with a reading of the audit log.
func confirmedBy(ctx context.Context, s Settings, read func(context.Context) (auditview.Confirmed, error)) (config.Config,
	error) {
	c, err := s.Config(ctx)
	if err != nil {
		return config.Config{}, unreadable(ConfigFile, err)
	}
	last, err := read(ctx)
	if err != nil {
		return config.Config{}, err
	}
	if c.PolicyDigest() != PolicyOf(last) {
		return config.Config{}, unconfirmed(ConfigFile, "the settings that decide who may do what")
	}
	return c, nil
}

// Mark returns the mark of a run that is started now, nil without signers. A configuration that cannot be
// read has none: nothing is decided in such a store anyway.
func (s Settings) Mark(ctx context.Context) (*event.SignersMark, error) {
	c, err := s.Config(ctx)
	if err != nil || c.Signers().IsZero() {
		return nil, ctx.Err()
	}
	store, err := s.ledger.StoreID(ctx)
	return &event.SignersMark{Digest: c.Signers().Digest(), StoreID: store}, err
}

// checkMark returns POLICY_UNCONFIRMED for a run that was started in this store under signers of whom the
// audit log does not know: the log, or the run, is not what it was.
func checkMark(ctx context.Context, s Settings, m *event.SignersMark) error {
	if m == nil {
		return nil
	}
	store, err := s.ledger.StoreID(ctx)
	if err != nil || store != m.StoreID {
		return err
	}
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err != nil || last.KnowsSigners(m.Digest) {
		return err
	}
	return fault.New(fault.PolicyUnconfirmed,
		"this run was started in a store with signers, of whom the audit log does not know: it is not the log of that time").
		Suggest("Restore the audit log from a backup, and compare with %s.", fault.Command{"verify", "--signers", "FILE"})
}

// SignersInForce returns the keys whose signatures a consent requires now, as a person confirmed them last.
func (s Settings) SignersInForce(ctx context.Context) (consent.Signers, error) {
	last, err := s.ledger.ConfirmedAfresh(ctx)
	return last.Signers(), err
}

// requiresSignatures reports that consents have to be signed, by the settings or by what a person
// confirmed last: where both differ, Confirmed is an error.
func requiresSignatures(ctx context.Context, s Settings) (bool, error) {
	last, err := s.ledger.ConfirmedAfresh(ctx)
	if err == nil {
		err = CheckFeature(ctx, s.controls, last)
	}
	if err != nil || !last.Signers().IsZero() {
		return true, err
	}
	c, err := s.Config(ctx)
	return err == nil && !c.Signers().IsZero(), nil
}

// CheckAutonomy refuses an autonomy that an agent must not set: VALIDATION_ERROR above the
// configured maximum, POLICY_UNCONFIRMED where the maximum was not confirmed by a person.
func (s Settings) CheckAutonomy(ctx context.Context, wanted event.Autonomy) error {
	c, err := s.Config(ctx)
	if raised := wanted != "" && wanted != event.Guided; raised {
		c, err = s.Confirmed(ctx)
	}
	if err != nil {
		return err
	}
	return c.CheckAgentAutonomy(wanted)
}

// Preferences returns the preferences of runs that are started without any, through MCP if byAgent.
// Where the configuration cannot be read they are the least ones. POLICY_UNCONFIRMED: an autonomy that
// only a person may set was not confirmed by one.
func (s Settings) Preferences(ctx context.Context, byAgent bool) (event.Preferences, error) {
	c, err := s.Config(ctx)
	if err != nil {
		return event.DefaultPreferences(), ctx.Err()
	}
	p := c.Preferences(byAgent)
	if p.Autonomy == event.FullAutoNeverStop {
		_, err = s.Confirmed(ctx)
	}
	return p, err
}

// PolicyOf returns the digest of the policy that a person confirmed last. A store without a
// confirmation has the digest of the defaults.
func PolicyOf(last auditview.Confirmed) canon.Digest { return last.PolicyDigest() }

// unconfirmed is POLICY_UNCONFIRMED for a control file; what names its content.
func unconfirmed(f ports.ControlFile, what string) error {
	return fault.New(fault.PolicyUnconfirmed, "%s (%s) are not the ones that a person confirmed", what, f.Name).
		Suggest("A person reads and confirms them with %s at a terminal.", fault.Command{"config", "confirm"}).
		With("file", f.Name)
}

// unreadable turns the error of a control file with content that no person confirmed into
// POLICY_UNCONFIRMED: a damaged file, a link in its place, a value that is not valid, or a file that
// must not be read. A failure that may pass and a file of a newer version remain as they are.
func unreadable(f ports.ControlFile, err error) error {
	if !fault.Is(err, fault.StoreCorrupt) && !fault.Is(err, fault.ConfigInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	unusable := fault.Wrap(err, fault.PolicyUnconfirmed, "%s cannot be used, so it is not what a person confirmed: %s",
		f.Name, fault.Of(err).Message).With("file", f.Name)
	if errors.Is(err, ports.ErrOpenToOthers) {
		unusable.Suggestion = fault.Of(err).Suggestion
		return unusable
	}
	return unusable.Suggest("Move it away with %s, set what is needed again, and confirm it with %s.",
		fault.Command{"repair", "--apply"}, fault.Command{"config", "confirm"})
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
