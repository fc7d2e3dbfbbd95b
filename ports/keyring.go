package ports

import (
	"context"

	"github.com/waybill/waybill/durable/token"
)

// Keyring holds the store's token keys.
type Keyring interface {
	// Keys returns the active set; with MayCreate a missing keyring is made,
	// durably, before its first key is used. A missing one under ReadOnly, or a
	// damaged one, is KEYRING_INVALID.
	Keys(ctx context.Context, create Create) (token.Keys, error)
}
