package token

import (
	"encoding/hex"

	"github.com/waybill/waybill/durable/derive"
)

// fingerprintBytes tells the two keys of a keyring apart, and those of yesterday; it
// is far too little to say anything about a key.
const fingerprintBytes = 4

// Fingerprint is what a key may be called by: 8 hex digits derived from it, under a
// context of their own (R2). The key itself is shown to nobody.
func (k Key) Fingerprint() string {
	sum := derive.Bytes16("waybill 2026 v1 key fingerprint", string(k[:]))
	return hex.EncodeToString(sum[:fingerprintBytes])
}
