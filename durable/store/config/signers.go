package config

import (
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
)

// The values of SignersRequire (docs/design.md#signed-consent).
const (
	RequireSignature = "signature"
	RequireTouch     = "touch"
)

// Signers returns the keys that may sign consents, and what their signatures have to show.
func (c Config) Signers() consent.Signers {
	list, _ := consent.ParseSigners(c.value(Signers)) // a stored value is valid
	return consent.Signers{List: list, Touch: c.value(SignersRequire).Text() == RequireTouch}
}

// checkSigners is the check of the key "signers".
func checkSigners(v canon.Value) *mismatch {
	_, err := consent.ParseSigners(v)
	if m := (*consent.Mismatch)(nil); errors.As(err, &m) {
		return &mismatch{m.At, m.Want, m.Got}
	}
	return nil
}

// CheckSigners refuses, with CONFIG_INVALID, signers of whom none could sign as it is required: nothing
// could be approved or changed any more.
func (c Config) CheckSigners() error {
	s := c.Signers()
	if s.IsZero() || !s.Touch || slices.ContainsFunc(s.List, consent.Signer.InSecurityKey) {
		return nil
	}
	return fault.New(fault.ConfigInvalid, "%s touch requires a signer whose key is in a security key, and none is", SignersRequire).
		Suggest("Make one with ssh-keygen -t ed25519-sk, and add its public key to %s first.", Signers)
}
