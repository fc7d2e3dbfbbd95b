package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/token"
)

// Keyring stores the keys with which the store's tokens are signed (docs/design.md#tokens).
type Keyring interface {
	// Keys returns the active keys. With MayCreate a missing keyring is created, as durable as an Append of this store, before
	// it is returned. KEYRING_INVALID: it is damaged, or missing with ReadOnly.
	Keys(ctx context.Context, create Create) (token.Keys, error)

	// Rotate makes a new key the current one and the current key the previous one. Tokens of both
	// verify from then on; tokens of the former previous key do not. nil promises that the new keys
	// are as durable as an Append. STORE_CONFLICT: the current key is not r.From, since another process
	// rotated; a second rotation would void the tokens that the first one preserved.
	Rotate(ctx context.Context, r Rotation) (RotationResult, error)
}

// Rotation describes the keyring that a rotation expects.
type Rotation struct {
	By   event.Actor
	AtMs int64
	// From is the current key as the caller read it. nil: the keyring must be unusable, that is
	// missing, damaged or accessible to other users. It is moved to the quarantine and replaced by
	// one with a single new key.
	From *token.Key
}

// RotationResult is the result of a rotation.
type RotationResult struct {
	Keys            token.Keys
	QuarantinePlace string // where in the quarantine the replaced keyring is; "" if there was none
}
