package upkeep

import (
	"context"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// KeyState is the closed set of states of a keyring.
type KeyState string

// The states of a keyring.
const (
	KeysReady KeyState = "ready"
	// KeysMissing means no file; the next answer with a token creates one.
	KeysMissing KeyState = "missing"
	// KeysUnusable means damaged, or readable by other users.
	KeysUnusable KeyState = "unusable"
)

// KeyList is the document "keys". Keys are named by their fingerprints; no key
// is ever printed.
type KeyList struct {
	State    KeyState `json:"state"`
	Current  string   `json:"current,omitzero"`
	Previous string   `json:"previous,omitzero"`
	Problem  string   `json:"problem,omitzero"` // why it is unusable
	// Rotated reports that this call replaced the keys. Worthless is the
	// fingerprint of the key whose tokens are void since then, "" if that is
	// none or not known. Quarantine is the directory of a keyring that could
	// not be used.
	Rotated    bool   `json:"rotated"`
	Voided     string `json:"worthless,omitzero"`
	Quarantine string `json:"quarantine,omitzero"`

	from *token.Key
}

// ListKeys returns which keys tokens are signed with. It creates none: a store
// without a keyring is in state missing.
func (u *Upkeep) ListKeys(ctx context.Context) (KeyList, error) {
	store, err := u.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return KeyList{}, err
	}
	// A keyring belongs to a store; without one there can be none.
	if store.IsZero() {
		return KeyList{State: KeysMissing}, nil
	}
	keys, err := u.store.Keys(ctx, ports.ReadOnly)
	if fault.Is(err, fault.KeyringInvalid) {
		out := KeyList{State: KeysUnusable, Problem: fault.Of(err).Message}
		if fault.Of(err).Details["missing"] == true {
			out.State, out.Problem = KeysMissing, ""
		}
		return out, nil
	}
	if err != nil {
		return KeyList{}, err
	}
	return keyList(keys), nil
}

// keyList describes a usable keyring.
func keyList(keys token.Keys) KeyList {
	out := KeyList{State: KeysReady, Current: keys.Current.Fingerprint(), from: &keys.Current}
	if keys.Previous != nil {
		out.Previous = keys.Previous.Fingerprint()
	}
	return out
}

// RotateKeys replaces the keys that have describes: the current key becomes the
// previous one, and a keyring that cannot be used is moved to the quarantine.
// The caller has confirmed the loss of have.Previous, so a keyring that changed
// since is STORE_CONFLICT. Without a store it is TARGET_NOT_FOUND, in a store
// of another program STORE_FOREIGN; nothing is created there.
func (u *Upkeep) RotateKeys(ctx context.Context, by engine.Caller, have KeyList) (KeyList, error) {
	store, err := u.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return have, err
	}
	if store.IsZero() {
		// The port returns the error for a missing or foreign store. A key that
		// no keyring has is passed as the current one, so that a concurrently
		// created keyring is not replaced.
		_, err := u.store.Rotate(ctx, ports.Rotation{By: by.Actor, AtMs: by.AtMs, From: &token.Key{}})
		return have, err
	}
	out := have
	what := audit.Act{Action: audit.Rotate, Target: audit.Target{Kind: audit.OfKeyring},
		Details: map[string]string{"state": string(have.State)}}
	if have.Current != "" {
		what.Details["from"] = have.Current
	}
	err = u.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		done, err := u.store.Rotate(ctx, ports.Rotation{By: by.Actor, AtMs: by.AtMs, From: have.from})
		if err != nil {
			return nil, err
		}
		out = keyList(done.Keys)
		out.Rotated, out.Voided, out.Quarantine = true, have.Previous, done.QuarantinePlace
		details := map[string]string{"to": out.Current}
		if done.QuarantinePlace != "" {
			details["quarantine"] = done.QuarantinePlace
		}
		return details, nil
	})
	return out, err
}
