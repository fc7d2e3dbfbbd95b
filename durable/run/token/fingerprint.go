package token

import (
	"encoding/hex"

	"github.com/waybill/waybill/durable/derive"
)

// fingerprintBytes is enough to distinguish the keys of a keyring and far too little to
// reveal anything about a key.
const fingerprintBytes = 4

// Fingerprint returns a printable name of a key: 8 hex digits derived under a context of
// their own (docs/design.md#hashes). The key itself is never shown.
func (k Key) Fingerprint() string {
	sum := derive.Bytes16("waybill 2026 v1 key fingerprint", string(k[:]))
	return hex.EncodeToString(sum[:fingerprintBytes])
}
