package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// KeyState is the closed set of what a keyring can be.
type KeyState string

// The states of a keyring.
const (
	KeysReady    KeyState = "ready"
	KeysMissing  KeyState = "missing"  // it is not there: the next answer makes one
	KeysUnusable KeyState = "unusable" // damaged, or open to others
)

// KeyList is the document "keys". Keys are called by their fingerprints; nothing ever
// shows one.
type KeyList struct {
	State    KeyState `json:"state"`
	Current  string   `json:"current,omitzero"`
	Previous string   `json:"previous,omitzero"`
	Problem  string   `json:"problem,omitzero"` // why it is unusable
	// Rotated says that this call replaced the keys; Worthless names the key whose
	// tokens verify no more, "" where there was none or nobody can say; Quarantine is
	// where a keyring lies that could not be used.
	Rotated    bool   `json:"rotated"`
	Worthless  string `json:"worthless,omitzero"`
	Quarantine string `json:"quarantine,omitzero"`

	from *token.Key
}

// ListKeys tells which keys tokens are signed with. It makes none.
func (g *Engine) ListKeys(ctx context.Context) (KeyList, error) {
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return KeyList{}, err
	}
	if store.IsZero() {
		return KeyList{State: KeysMissing}, nil
	}
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
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

func keyList(keys token.Keys) KeyList {
	out := KeyList{State: KeysReady, Current: keys.Current.Fingerprint(), from: &keys.Current}
	if keys.Previous != nil {
		out.Previous = keys.Previous.Fingerprint()
	}
	return out
}

// RotateKeys replaces the keys that have was asked about: the current one becomes the
// previous one, and one that cannot be used is set aside. Somebody who did so meanwhile
// is STORE_CONFLICT: what the caller agreed to was another loss. Where no store is, it is
// TARGET_NOT_FOUND, and STORE_FOREIGN in one of another program: nothing is made there.
func (g *Engine) RotateKeys(ctx context.Context, by Caller, have KeyList) (KeyList, error) {
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return have, err
	}
	if store.IsZero() {
		// There is none, or it is another program's: the store says which. It is asked to
		// replace a key that nobody has, so that one which somebody makes meanwhile stays.
		_, err := g.Keyring.Rotate(ctx, ports.Rotation{By: by.Actor, AtMs: by.AtMs, From: &token.Key{}})
		return have, err
	}
	out := have
	what := audit.Act{Action: audit.Rotate, Target: audit.Target{Kind: audit.OfKeyring},
		Details: map[string]string{"state": string(have.State)}}
	if have.Current != "" {
		what.Details["from"] = have.Current
	}
	err = g.act(ctx, by, what, func() (map[string]string, error) {
		done, err := g.Keyring.Rotate(ctx, ports.Rotation{By: by.Actor, AtMs: by.AtMs, From: have.from})
		if err != nil {
			return nil, err
		}
		out = keyList(done.Keys)
		out.Rotated, out.Worthless, out.Quarantine = true, have.Previous, done.Folder
		details := map[string]string{"to": out.Current}
		if done.Folder != "" {
			details["quarantine"] = done.Folder
		}
		return details, nil
	})
	return out, err
}
