package audit

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
)

// Confirmed is what a person confirmed last of the settings that decide who may do what, of the
// list of trusted workflow versions, of the attached folders, and of the keys of programs
// (docs/design.md#settings). A zero digest: never.
type Confirmed struct {
	Policy canon.Digest `json:"policy,omitzero"`
	// Settings is the canonical text of the policy; "" where the log does not have it.
	Settings string       `json:"settings,omitzero"`
	Trusted  canon.Digest `json:"trusted,omitzero"`
	// Sources is the digest of the attached folders of the machine.
	Sources canon.Digest `json:"sources,omitzero"`
	// HTTPKeys is the digest of the keys of programs that call the server.
	HTTPKeys canon.Digest `json:"httpKeys,omitzero"`
	// Open are the intentions that may confirm something and have no outcome yet.
	Open []OpenAct `json:"open,omitzero"`
	// Signed are the digests of the texts that were signed to consent to an act: one counts once.
	Signed []canon.Digest `json:"signed,omitzero"`
	// Epochs are the policies since the first one with signers, in order: canonical texts of settings. Installs
	// are the recorded installations. Both say who had to consent to what is installed.
	Epochs   []string      `json:"epochs,omitzero"`
	Installs []InstallLine `json:"installs,omitzero"`
	// Unsigned is how many outcomes did not count for lack of a signature by a signer then in force.
	Unsigned int64 `json:"unsigned,omitzero"`
}

// InstallLine is the line about an installation. Epoch is how many of the epochs had begun.
type InstallLine struct {
	EventID   id.Event `json:"eventId"` // of the record in the log of proposals
	Installed string   `json:"installed"`
	Epoch     int      `json:"epoch,omitzero"`
}

// OpenAct is an intention that may confirm something.
type OpenAct struct {
	EventID id.Event `json:"eventId"`
	// Signed reports that a signer then in force signed it. Digests are what it leads to, by the name of
	// the detail of its outcome.
	Signed  bool              `json:"signed,omitzero"`
	Digests map[string]string `json:"digests,omitzero"`
}

// Signers returns the keys whose signatures the last confirmed settings require. The zero Signers:
// none is required.
func (c Confirmed) Signers() consent.Signers { return signersOf(c.Settings) }

// KnowsSigners reports that signers with a digest were in force at any time.
func (c Confirmed) KnowsSigners(digest canon.Digest) bool {
	return slices.ContainsFunc(c.Epochs, func(policy string) bool { return signersOf(policy).Digest() == digest })
}

// HadSigners reports that signers were in force at any time.
func (c Confirmed) HadSigners() bool { return len(c.Epochs) > 0 }

// InstallSettings returns the settings under which an installation had to be consented to: those in force when the log
// recorded it, without signers before the first ones. One that it has not recorded, or recorded otherwise, was made under
// those in force now.
func (c Confirmed) InstallSettings(record id.Event, installed string) config.Config {
	for _, line := range c.Installs {
		if line.EventID == record && line.Installed == installed {
			if line.Epoch == 0 {
				return config.Config{}
			}
			return settingsIn(c.Epochs[line.Epoch-1])
		}
	}
	return settingsIn(c.Settings)
}

// IsInstalledUnsigned reports that the log recorded an installation before the store had signers.
func (c Confirmed) IsInstalledUnsigned(record id.Event, installed string) bool {
	return slices.Contains(c.Installs, InstallLine{EventID: record, Installed: installed})
}

// signersOf returns the signers of a policy.
func signersOf(policy string) consent.Signers {
	if !strings.Contains(policy, string(config.Signers)) { // the usual case
		return consent.Signers{}
	}
	return settingsIn(policy).Signers()
}

// settingsIn returns the settings of a policy; the defaults where they cannot be read.
func settingsIn(policy string) config.Config {
	v, err := canon.Parse([]byte(policy))
	if err != nil {
		return config.Config{}
	}
	settings, err := config.Read(v)
	if err != nil {
		return config.Config{}
	}
	return settings
}

// IsUsed reports that a signed text counted before.
func (c Confirmed) IsUsed(text canon.Digest) bool { return slices.Contains(c.Signed, text) }

// PolicyDigest returns the digest of the policy that a person confirmed last. A log without a
// confirmation has that of the defaults.
func (c Confirmed) PolicyDigest() canon.Digest {
	if c.Policy.IsZero() {
		return config.Config{}.PolicyDigest()
	}
	return c.Policy
}

// openMax bounds Open. An intention without an outcome remains for ever; only the newest can still
// get one.
const openMax = 64

// VisitConfirmed folds a segment of the audit log.
func (c *Confirmed) VisitConfirmed(seg manifest.Segment) {
	for _, e := range seg.Events {
		c.visit(e)
	}
}

// visit folds one line of the audit log. Only the outcome of a successful action of this store
// counts, as the log has it: a line of another kind with the same details confirms nothing.
func (c *Confirmed) visit(e event.Event) {
	if e.Foreign() {
		return
	}
	switch p := e.Data.(type) {
	case audit.Intended:
		if p.Action == audit.Configure || p.Action == audit.Trust || p.Action == audit.Untrust {
			c.Open = append(c.Open[max(0, len(c.Open)+1-openMax):], c.open(e, p))
		}
	case audit.Done:
		if act, ok := c.close(p.IntendedEventID); ok && p.Outcome == audit.Succeeded {
			if !c.Signers().IsZero() && (!act.leadsTo(p.Details) || !statesPolicy(p)) {
				c.Unsigned++
				return
			}
			c.confirm(p)
		}
	case audit.Recorded:
		if installed := p.Details[audit.DetailInstalled]; installed != "" {
			c.Installs = append(c.Installs, InstallLine{p.Source.EventID, installed, len(c.Epochs)})
		}
	}
}

// open returns an intention as it is kept. A signed text counts with its intention, also if the act
// fails: it is not accepted again.
func (c *Confirmed) open(e event.Event, p audit.Intended) OpenAct {
	act := OpenAct{EventID: e.ID}
	signers := c.Signers()
	if signers.IsZero() || !p.IsSigned() || c.IsUsed(p.SignedDigest()) {
		return act
	}
	if _, err := signers.Check(p.Given, p.Subject(e.Owner, c.PolicyDigest()), e.TimestampMs); err != nil {
		return act
	}
	c.Signed = append(slices.Clone(c.Signed), p.SignedDigest())
	act.Signed, act.Digests = true, map[string]string{}
	for detail, after := range audit.AfterDetails {
		if digest := p.Details[after]; digest != "" {
			act.Digests[detail] = digest
		}
	}
	return act
}

// leadsTo reports that an outcome is what was signed.
func (a OpenAct) leadsTo(details map[string]string) bool {
	for detail := range audit.AfterDetails {
		if is := details[detail]; is != "" && is != a.Digests[detail] {
			return false
		}
	}
	return a.Signed
}

// statesPolicy reports that an outcome states the settings of the policy that it leads to, if it leads to one.
// Without them it would not be known who the signers are, and none would be required.
func statesPolicy(p audit.Done) bool {
	d, err := canon.ParseDigest(p.Details[audit.DetailPolicy])
	return err != nil || canon.Sum([]byte(settingsOf(p))) == d
}

// settingsOf returns the canonical text of the settings that an outcome states.
func settingsOf(p audit.Done) string {
	if !p.Policy.IsNull() {
		return string(p.Policy.JCS())
	}
	return p.Details[audit.DetailSettings]
}

// close removes an intention from Open and returns it, if Open contained it.
func (c *Confirmed) close(intended id.Event) (OpenAct, bool) {
	for i, open := range c.Open {
		if open.EventID == intended {
			// The list is copied: a saved ledger and its successor may share it.
			c.Open = append(append([]OpenAct(nil), c.Open[:i]...), c.Open[i+1:]...)
			return open, true
		}
	}
	return OpenAct{}, false
}

// confirm applies an outcome. A text that is not that of the digest, because it was shortened or
// redacted, is left out.
func (c *Confirmed) confirm(p audit.Done) {
	details := p.Details
	if d, err := canon.ParseDigest(details[audit.DetailPolicy]); err == nil {
		c.Policy, c.Settings = d, ""
		if statesPolicy(p) {
			c.Settings = settingsOf(p)
		}
		if n := len(c.Epochs); n > 0 && c.Epochs[n-1] != c.Settings || n == 0 && !c.Signers().IsZero() {
			c.Epochs = append(slices.Clone(c.Epochs), c.Settings)
		}
	}
	if d, err := canon.ParseDigest(details[audit.DetailTrusted]); err == nil {
		c.Trusted = d
	}
	if d, err := canon.ParseDigest(details[audit.DetailSources]); err == nil {
		c.Sources = d
	}
	if d, err := canon.ParseDigest(details[audit.DetailHTTPKeys]); err == nil {
		c.HTTPKeys = d
	}
}
