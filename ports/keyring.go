package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/token"
)

// Keyring holds the store's token keys.
type Keyring interface {
	// Keys returns the active set; with MayCreate a missing keyring is made,
	// durably, before its first key is used. A missing one under ReadOnly, or a
	// damaged one, is KEYRING_INVALID.
	Keys(ctx context.Context, create Create) (token.Keys, error)

	// Rotate makes the current key the previous one, and a fresh one the current: tokens
	// of both verify from then on, and those of the key that was previous no more. nil
	// promises that the new set survives a power cut. Of two that rotate at once, each
	// from the key that it has seen, one is told STORE_CONFLICT: otherwise the second
	// would make every token worthless that the first was to keep.
	Rotate(ctx context.Context, r Rotation) (Rotated, error)
}

// Rotation says what a rotation starts from.
type Rotation struct {
	By   event.Actor
	AtMs int64
	// From is the current key that the caller has seen. Without it there must be none
	// that can be used: the keyring is not there, damaged, or open to others. It is set
	// aside, and a new one with one key takes its place.
	From *token.Key
}

// Rotated is what came of a rotation.
type Rotated struct {
	Keys   token.Keys
	Folder string // in the quarantine, where the keyring was set aside; else ""
}
