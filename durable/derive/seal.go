package derive

import "github.com/zeebo/blake3"

// SealBytes is the length of a seal.
const SealBytes = 32

// Seal returns a keyed digest of data. The key is derived from secret under a versioned context
// string, so that one secret serves several purposes and a seal for one purpose is not valid for
// another. A matching seal proves that the writer of data knew the secret. Seals are verified on
// the machine that made them only (docs/design.md#hashes).
func Seal(context string, secret, data []byte) (out [SealBytes]byte) {
	var key [32]byte
	blake3.DeriveKey(context, secret, key[:])
	h, err := blake3.NewKeyed(key[:])
	if err != nil {
		panic("derive: " + err.Error()) // impossible: the key has 32 bytes
	}
	_, _ = h.Write(data) // never fails
	h.Sum(out[:0])
	return out
}
